import pytest

import skillweave
from skillweave import Evidence, Outcome, Role, Settings, Status
from skillweave.select.selection import select
from skillweave.selection import MatchMode, Selection
from tests.asking import ask, candidate, chosen, index_of, refusal, skill, turn

ONLY = ("triggers",)
GREETING = skill(
    "hello-extended", "greet", "hello", "bonjour", "hola", "greeting", description="Multi-language greeting tool"
)


def test_the_worked_example_selects_exactly_one() -> None:
    selection = ask(index_of(GREETING, skill("other", "other")), "Say bonjour to Alice")
    assert chosen(selection) == ["hello-extended"]
    assert candidate(selection, "hello-extended").evidence == (Evidence("keyword", "bonjour", 4, 11),)


@pytest.mark.parametrize("message", ["What is 2+2?", "Calculate pi", ""])
def test_the_unrelated_examples_select_nothing(message: str) -> None:
    assert chosen(ask(index_of(GREETING), message)) == []


@pytest.mark.parametrize(
    ("asked", "score", "kind"),
    [
        (skill("x", patterns=["re+d"]), 1.0, "pattern"),
        (skill("x", "red"), 0.8, "keyword"),
        (skill("x", verbs=["red"]), 0.8, "verb"),
        (skill("red-car"), 0.6, "id"),
    ],
)
def test_the_score_follows_from_the_strongest_kind(asked: object, score: float, kind: str) -> None:
    found = ask(index_of(asked), "my Red-Car").chosen[0]  # type: ignore[arg-type]
    assert (found.score, found.matcher, found.evidence[0].kind) == (score, "triggers", kind)


def test_evidence_quotes_the_message_as_it_was_written() -> None:
    evidence = ask(index_of(skill("x", "straße")), "in der STRASSE 5").chosen[0].evidence
    assert evidence == (Evidence("keyword", "STRASSE", 7, 14),)


def test_a_lone_surrogate_in_the_message_is_quoted_as_a_replacement_character() -> None:
    evidence = ask(index_of(skill("x", patterns=["red.blue"])), "red\ud800blue").chosen[0].evidence
    assert evidence == (Evidence("pattern", "red\ufffdblue", 0, 8),)


def test_a_long_match_is_quoted_in_part_with_its_whole_span() -> None:
    evidence = ask(index_of(skill("x", patterns=["a+"])), "a" * 10_000).chosen[0].evidence[0]
    assert (evidence.text, evidence.start, evidence.end) == ("a" * 200 + "…", 0, 10_000)


def test_a_skill_shows_eight_pieces_of_evidence_at_most() -> None:
    words = [f"word{number}" for number in range(40)]
    assert len(ask(index_of(skill("x", *words)), " ".join(words)).chosen[0].evidence) == 8


def test_all_hits_count_for_the_order_though_eight_are_shown() -> None:
    words = [f"word{number:02}" for number in range(20)]
    searched = index_of(skill("x", *words[:10]), skill("y", *words))
    assert chosen(ask(searched, " ".join(words))) == ["y", "x"]


def test_a_never_phrase_vetoes() -> None:
    selection = ask(index_of(skill("deploy-app", "deploy", never=["do not deploy"])), "do not deploy this")
    assert chosen(selection) == []
    rejected = refusal(selection, "deploy-app")
    assert rejected.outcome is Outcome.VETOED
    assert [piece.kind for piece in rejected.candidate.evidence] == ["never", "keyword"]


def test_a_never_phrase_alone_is_no_evidence_for_a_skill() -> None:
    assert ask(index_of(skill("x", never=["boat"])), "a boat") == Selection()


def test_one_word_as_keyword_and_never_is_a_veto() -> None:
    assert chosen(ask(index_of(skill("x", "boat", never=["boat"])), "a boat")) == []


def test_a_skill_outside_the_limits_is_unreachable() -> None:
    selection = ask(index_of(skill("x", "boat"), skill("y", "boat")), "a boat", within=frozenset({"y"}))
    assert chosen(selection) == ["y"]
    assert refusal(selection, "x").outcome is Outcome.UNREACHABLE


def test_an_inactive_skill_is_not_matched_and_a_deprecated_one_is() -> None:
    searched = index_of(
        skill("x", "boat", status=Status.DRAFT),
        skill("y", "boat", status=Status.DISABLED),
        skill("z", "boat", status=Status.DEPRECATED),
    )
    assert ask(searched, "a boat").rejected == ()
    assert chosen(ask(searched, "a boat")) == ["z"]


def test_alone_an_id_of_one_word_selects() -> None:
    assert chosen(ask(index_of(skill("review")), "review this", matchers=ONLY)) == ["review"]


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.SYSTEM])
def test_only_the_users_words_are_matched(role: Role) -> None:
    assert select(index_of(skill("x", "boat")), turn("a boat", role=role)) == Selection()


def test_a_message_of_a_megabyte_with_a_hit_at_every_word_is_answered() -> None:
    searched = index_of(*(skill(f"s{number}", "hello", "hello hello") for number in range(50)))
    selection = ask(searched, "hello " * 170_000)
    assert len(selection.chosen) == 50
    assert len(selection.chosen[0].evidence) == 2


@pytest.mark.parametrize("message", ["\ud800" * 300_000, "\0" * 300_000, "\u0301" * 300_000, "天" * 300_000])
def test_large_strange_messages_are_answered(message: str) -> None:
    assert chosen(ask(index_of(skill("x", "boat", description="about boats")), message + " boat")) == ["x"]


@pytest.mark.parametrize(("mode", "given"), [("word", ()), ("substring", ("greet",))])
async def test_a_setting_says_whether_keywords_match_inside_words(mode: str, given: tuple[str, ...]) -> None:
    greet = {"id": "greet", "description": "Says hello.", "triggers": ["lutat"]}
    settings = Settings(trigger_mode=MatchMode(mode))
    weaver = skillweave.open(greet, settings=settings, matchers=["triggers"])
    assert (await weaver.weave("A salutation, please", conversation="c")).skills == given
