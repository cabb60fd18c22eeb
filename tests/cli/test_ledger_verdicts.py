import getpass
from pathlib import Path
from typing import Any

import pytest

RULES = """triggers: [bill]
x-skillweave:
  tools: {preapproved: [read]}
  checkpoints:
    - {name: sign-off, before: pay, reviewer: controller, asks: Is the sum right?, scope: conversation}
    - {name: each, before: send}
    - {name: look}"""


@pytest.fixture
def skills(write: Any, tmp_path: Path) -> Path:
    write(tmp_path / "skills", "pay-bill", "Pays bills.", RULES, "Pay.")
    write(tmp_path / "skills", "tea", "Makes tea.", "triggers: [tea]", "Boil water.")
    return tmp_path / "skills"


@pytest.fixture
def ledger(cli: Any, skills: Path, tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    cli("weave", "--skills", skills, "--ledger", path, "--conversation", "c1", "The bill, and tea")
    return path


@pytest.fixture
def said(cli: Any, skills: Path, ledger: Path) -> Any:
    """Run `skillweave ledger VERB c1 ...` on these skills and this ledger."""
    return lambda verb, *words: cli("ledger", verb, "c1", *words, "--skills", skills, "--ledger", ledger)


def test_an_approval_is_kept_and_not_asked_for_again(cli: Any, said: Any, skills: Path, ledger: Path) -> None:
    answer = said("approve", "pay-bill", "sign-off", "--by", "Ann Lee", "--json").data
    assert (answer["approval"]["verdict"], answer["approval"]["by"], answer["approval"]["before"]) == (
        "approved",
        "Ann Lee",
        ["pay"],
    )
    assert (answer["replaced"], answer["left"], answer["resumed"]) == (None, None, [])
    again = cli("weave", "--skills", skills, "--ledger", ledger, "--conversation", "c1", "Go on", "--json").data
    assert [checkpoint["name"] for checkpoint in again["checkpoints"]] == ["each", "look"]
    assert again["waits"] is True


def test_a_rejection_tells_what_left_and_the_skill_stays_out(cli: Any, said: Any, skills: Path, ledger: Path) -> None:
    told = " ".join(said("reject", "pay-bill", "sign-off", "--by", "Ann Lee").out.split())
    assert "rejected sign-off of pay-bill before pay, by Ann Lee, " in told
    assert "kept out pay-bill, until it is approved or reconsidered; what it forbids stays forbidden drop" in told
    again = cli("weave", "--skills", skills, "--ledger", ledger, "--conversation", "c1", "The bill", "--json").data
    outcomes = {decision["skill_id"]: decision["outcome"] for decision in again["decisions"]}
    assert outcomes["pay-bill"] == "forbidden"
    assert again["tools"]["forbidden_tools"] == ["pay"]


SENT = '{"id": "call_1", "tool": "send", "arguments": {"to": "Brandt"}}'


def test_an_approval_of_a_call_is_about_that_call(cli: Any, said: Any, skills: Path, ledger: Path) -> None:
    approval = said("approve", "pay-bill", "each", "--by", "Ann Lee", "--call", SENT, "--json").data["approval"]
    assert len(approval["call"]) == 64
    again = cli("weave", "--skills", skills, "--ledger", ledger, "--conversation", "c1", "Go on", "--json").data
    assert "each" in [checkpoint["name"] for checkpoint in again["checkpoints"]]
    assert list(again["tools"]["cleared"].values()) == [{"send": ["each"]}]


def test_a_rejected_call_leaves_the_skill_where_it_is(said: Any) -> None:
    answer = said("reject", "pay-bill", "each", "--by", "Ann Lee", "--call", SENT, "--json").data
    assert (answer["approval"]["verdict"], answer["left"]) == ("rejected", None)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "asks about each call by itself"),
        (("--call", "{"), "--call is no JSON"),
        (("--call", "[]"), "--call has list; it is the `call` of a question"),
        (("--call", '{"id": "1"}'), "--call has id; it is the `call` of a question"),
    ],
)
def test_a_yes_that_does_not_say_to_which_call_is_a_mistake(said: Any, words: tuple[str, ...], why: str) -> None:
    done = said("approve", "pay-bill", "each", "--by", "Ann Lee", *words)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert why in done.err


def test_a_verdict_is_withdrawn(said: Any) -> None:
    said("reject", "pay-bill", "sign-off", "--by", "Ann Lee")
    (withdrawn,) = said("reconsider", "pay-bill", "sign-off", "--json").data["withdrawn"]
    assert (withdrawn["verdict"], withdrawn["by"]) == ("rejected", "Ann Lee")
    assert said("reconsider", "pay-bill", "sign-off").out == "unchanged        nobody has decided this\n"


def test_consent_is_kept_and_shown_in_words(said: Any) -> None:
    assert said("approve", "pay-bill", "preapproved-tools", "--by", "Ann Lee", "--json").data["approval"][
        "checkpoint"
    ] == ("preapproved-tools")
    assert "the tools that pay-bill preapproves may run without asking, by Ann Lee" in " ".join(
        said("show").out.split()
    )


def test_whoever_runs_the_command_decides_when_nobody_else_is_named(said: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    assert said("approve", "pay-bill", "look", "--json").data["approval"]["by"] == "ann"


def test_a_system_without_user_names_asks_for_one(said: Any, monkeypatch: Any) -> None:
    def nobody() -> str:
        raise OSError("No username set in the environment")

    monkeypatch.setattr(getpass, "getuser", nobody)
    done = said("approve", "pay-bill", "look")
    assert (done.code, done.err) == (1, "skillweave: this system has no name for you; say who decides with --by NAME\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("approve", "pay-bil", "sign-off"), "did you mean 'pay-bill'?"),
        (
            ("approve", "pay-bill", "signoff"),
            "skill 'pay-bill' has no checkpoint 'signoff'; it has 'sign-off', 'each', 'look'",
        ),
        (("reject", "tea", "x"), "skill 'tea' has no checkpoint 'x'; it has none"),
        (
            ("approve", "tea", "preapproved-tools"),
            "skill 'tea' preapproves no tools, so there is nothing to consent",
        ),
    ],
)
def test_a_verdict_on_what_is_not_there_is_a_mistake(said: Any, words: tuple[str, ...], why: str) -> None:
    done = said(*words, "--by", "Ann")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert why in done.err


@pytest.mark.parametrize("words", [("approve", "pay-bill", "look"), ("disengage", "tea"), ("unload", "tea")])
def test_an_unknown_conversation_is_a_mistake(cli: Any, skills: Path, ledger: Path, words: tuple[str, ...]) -> None:
    verb, *rest = words
    done = cli("ledger", verb, "c2", *rest, "--skills", skills, "--ledger", ledger)
    assert done.code == 1
    assert done.err.startswith("skillweave: nothing is kept about conversation 'c2' in ")


def test_a_disengaged_skill_is_named_with_what_can_be_dropped(said: Any) -> None:
    answer = said("disengage", "tea", "--json").data
    assert (answer["key"], answer["disengaged"], answer["evicted"], answer["needed_by"]) == ("skill:tea", True, [], [])
    assert [drop["skill_id"] for drop in answer["drops"]] == ["tea"]


def test_a_companion_that_is_still_needed_says_by_whom(cli: Any, write: Any, tmp_path: Path) -> None:
    needs = "triggers: [cake]\nx-skillweave: {relations: [{kind: requires, skill: tea}]}"
    write(tmp_path / "skills", "cake", "Bakes cake.", needs, "Bake.")
    write(tmp_path / "skills", "tea", "Makes tea.", "triggers: [tea]", "Boil water.")
    at = ("--skills", tmp_path / "skills", "--ledger", tmp_path / "state.db")
    cli("weave", *at, "--conversation", "c1", "Cake and tea")
    told = cli("ledger", "disengage", "c1", "tea", *at).out
    assert "needed by        cake: it is required there, and stays or comes back\n" in told


def test_an_unloaded_text_is_given_anew(cli: Any, said: Any, skills: Path, ledger: Path) -> None:
    assert said("unload", "tea", "--json").data["evicted"] == ["skill:tea"]
    again = cli("weave", "--skills", skills, "--ledger", ledger, "--conversation", "c1", "Tea", "--json").data
    outcomes = {decision["skill_id"]: decision["outcome"] for decision in again["decisions"]}
    assert outcomes["tea"] == "injected"


def test_what_is_not_there_to_go_is_said(said: Any) -> None:
    assert (
        said("unload", "context:w1:header").out == "unchanged        context:w1:header: there was nothing to take out\n"
    )


def test_a_skill_leaves_without_its_files_at_hand(cli: Any, ledger: Path, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert cli("ledger", "disengage", "c1", "tea", "--ledger", ledger, "--json").data["disengaged"] is True
    assert cli("ledger", "show", "c1", "--ledger", ledger, "--json").data["checkpoints"] is None


def test_show_has_lifecycles_verdicts_and_what_waits(said: Any) -> None:
    said("approve", "pay-bill", "sign-off", "--by", "Ann Lee")
    told = " ".join(said("show").out.split())
    assert "engaged tea, by triggers, lifecycle conversation; matched by the latest message" in told
    assert "approved sign-off of pay-bill before pay, by Ann Lee, " in told
    assert "UTC approval each of pay-bill before send approval look of pay-bill revision 2" in told
    data = said("show", "--json").data
    assert [checkpoint["name"] for checkpoint in data["checkpoints"]] == ["each", "look"]
    assert {entry["skill"]: entry["lifecycle"] for entry in data["state"]["engaged"]} == {
        "pay-bill": "conversation",
        "tea": "conversation",
    }


def test_show_has_the_skills_that_found_no_place_and_what_they_ask(
    cli: Any, said: Any, write: Any, skills: Path, ledger: Path
) -> None:
    rules = "triggers: [crowd]\nx-skillweave: {checkpoints: [{name: guard, before: run}, {name: read}]}"
    for number in range(4):
        write(skills, f"crowd-{number}", "Crowds.", rules, "Push.")
    cli("weave", "--skills", skills, "--ledger", ledger, "--conversation", "c1", "A crowd")
    told = " ".join(said("show").out.split())
    assert "restrains crowd-3, by triggers: no place for it, what it forbids holds" in told
    asking = [(one["skill_id"], one["name"]) for one in said("show", "--json").data["checkpoints"]]
    assert ("crowd-3", "guard") in asking
    assert ("crowd-3", "read") not in asking
