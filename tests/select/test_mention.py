"""The matcher `mention`."""

from dataclasses import replace

import pytest

from skillweave import Evidence, Message, Outcome, Role, Skill, Status, Turn
from skillweave.formats.arguments import LONGEST_ARGUMENTS
from skillweave.frozen import freeze_mapping
from skillweave.select.selection import DEFAULT, select
from skillweave.selection import Selection
from tests.asking import ask, candidate, chosen, index_of, refusal, skill, turn

ALL = ("explicit", "mention", "triggers", "lexical")
BACKGROUND = replace(skill("house-style", "style"), extra=freeze_mapping({"user-invocable": "false"}))
DEPLOY = skill("deploy", "ship", body="Deploy to $ARGUMENTS.", never=["deploy"])
INDEX = index_of(
    DEPLOY,
    skill("code-review", "review", description="Reviews code for mistakes"),
    BACKGROUND,
    skill("old", status=Status.DISABLED),
    skill("pipeline", "deploy", description="Continuous integration"),
)


def said(text: str, matchers: tuple[str, ...] = ALL, within: frozenset[str] | None = None) -> Selection:
    return ask(INDEX, text, matchers=matchers, within=within)


def test_a_mention_selects_with_the_id_and_its_place_as_evidence() -> None:
    found = candidate(said("Please /Deploy now"), "deploy")
    assert (found.score, found.matcher) == (1.0, "mention")
    assert found.evidence == (Evidence("mention", "deploy", 7, 14),)


def test_it_is_off_unless_it_is_turned_on() -> None:
    assert "mention" not in DEFAULT
    assert all(each.matcher != "mention" for each in said("/code-review", DEFAULT).chosen)


def test_several_mentions_select_in_first_seen_order_once_each() -> None:
    assert chosen(said("$code-review, /deploy and /code-review")) == ["code-review", "deploy"]


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.SYSTEM])
def test_only_a_user_mentions(role: Role) -> None:
    assert chosen(select(INDEX, turn("/deploy", role=role), matchers=ALL)) == []


def test_a_mention_in_an_earlier_message_is_not_said_now() -> None:
    asked = turn("thanks", transcript=[Message(Role.USER, "/deploy"), Message(Role.USER, "thanks")])
    assert chosen(select(INDEX, asked, matchers=ALL)) == []


def test_all_text_parts_of_the_message_are_read() -> None:
    parts = ("/deploy", {"type": "image", "alt": "/code-review"}, "staging")
    found = select(INDEX, Turn("t", "c", Message(Role.USER, parts)), matchers=ALL)
    assert [(each.skill_id, each.arguments) for each in found.chosen] == [("deploy", "staging")]


def test_an_unknown_name_is_ordinary_text() -> None:
    assert said("/unknown $nothing") == Selection()


def test_an_inactive_skill_is_rejected() -> None:
    refused = refusal(said("/old"), "old")
    assert (refused.outcome, refused.reason) == (
        Outcome.INACTIVE,
        "the skill is disabled; only active ones are given",
    )


def test_a_skill_that_users_may_not_invoke_is_rejected_and_says_who_may() -> None:
    selection = said("/house-style")
    assert chosen(selection) == []
    refused = refusal(selection, "house-style")
    assert refused.outcome is Outcome.FORBIDDEN
    assert refused.reason == "its `user-invocable` is false: the model or the host selects it, no mention"


def test_a_skill_that_users_may_not_invoke_is_still_selected_by_its_triggers() -> None:
    assert chosen(said("What style is this?")) == ["house-style"]
    assert chosen(said("Mind the house style")) == ["house-style"]


def test_a_skill_outside_the_turns_reach_is_rejected() -> None:
    selection = said("/deploy", within=frozenset({"code-review"}))
    assert refusal(selection, "deploy").outcome is Outcome.UNREACHABLE


def test_no_never_phrase_vetoes_a_mention() -> None:
    assert chosen(said("/deploy: I said deploy!"))[0] == "deploy"


def test_a_mention_is_no_word_for_other_skills() -> None:
    assert chosen(said("/deploy to staging")) == ["deploy"]
    assert "pipeline" in chosen(said("/code-review before we deploy"))


def test_after_a_mention_shared_words_select_nothing() -> None:
    assert "code-review" in chosen(said("Reviews the code for mistakes", ("mention", "lexical")))
    assert chosen(said("/deploy what reviews the code for mistakes", ("mention", "lexical"))) == ["deploy"]


def test_the_hosts_own_choice_goes_first_and_keeps_the_arguments_of_the_mention() -> None:
    selection = select(INDEX, turn("/code-review /deploy prod", named=["deploy"]), matchers=ALL)
    assert chosen(selection) == ["deploy", "code-review"]
    found = candidate(selection, "deploy")
    assert (found.matcher, found.arguments) == ("explicit", "prod")
    assert [piece.kind for piece in found.evidence] == ["host", "mention"]


def test_what_follows_the_first_mention_is_its_arguments() -> None:
    assert candidate(said("/deploy staging. Or is /deploy prod better?"), "deploy").arguments == "staging. Or is"
    assert candidate(said("/deploy"), "deploy").arguments == ""


def test_a_skill_that_takes_no_arguments_gets_none() -> None:
    assert candidate(said("/code-review of my secrets"), "code-review").arguments is None
    assert candidate(said("ship it"), "deploy").arguments is None


def test_long_arguments_are_cut_and_the_evidence_says_so() -> None:
    found = candidate(said("/deploy " + "word " * 1000), "deploy")
    assert found.arguments is not None
    assert len(found.arguments) == LONGEST_ARGUMENTS - 1  # the cut left a space at the end
    assert found.evidence[1] == Evidence("arguments", "cut to 2,000 of 4,999 characters")
    assert len(candidate(said("/deploy " + "x" * 2000), "deploy").evidence) == 1


def test_evidence_holds_nothing_that_the_user_wrote_but_the_id() -> None:
    found = candidate(said("/DEPLOY my secret " + "s" * 3000), "deploy")
    assert not any("secret" in piece.text or "DEPLOY" in piece.text for piece in found.evidence)


def test_what_no_store_could_keep_is_replaced() -> None:
    assert candidate(said("/deploy a\0b\ud800c"), "deploy").arguments == "a\ufffdb\ufffdc"


def test_many_mentions_of_one_skill_leave_a_bounded_trace() -> None:
    assert len(candidate(said("/deploy " * 1000), "deploy").evidence) == 8


def test_a_marker_in_the_arguments_selects_nothing_and_stays_in_them() -> None:
    selection = said("/deploy SKILL_SELECT:code-review")
    assert chosen(selection) == ["deploy"]
    assert candidate(selection, "deploy").arguments == "SKILL_SELECT:code-review"


def named(skill_id: str, **extra: str) -> Skill:
    keys = {key.replace("_", "-"): value for key, value in extra.items()}
    return replace(skill(skill_id), extra=freeze_mapping(dict(keys)))


def test_a_skill_that_is_closed_to_the_model_is_mentioned_like_any_other() -> None:
    closed = index_of(named("wipe-disk", disable_model_invocation="true"))
    assert chosen(ask(closed, "/wipe-disk", matchers=ALL)) == ["wipe-disk"]
