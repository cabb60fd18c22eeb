import pytest

from skillweave import Evidence, Message, Outcome, Role, Status, Turn
from skillweave.select.index import SkillIndex
from skillweave.select.selection import select
from skillweave.selection import Selection
from tests.asking import candidate, chosen, index_of, refusal, skill, turn

INDEX = index_of(
    skill("spacing-calculation"), skill("h2s_safety"), skill("old", status=Status.DISABLED), skill("a"), skill("foo")
)


def said(text: str, **given: object) -> Selection:
    return select(INDEX, turn(text, role=Role.ASSISTANT, **given))  # type: ignore[arg-type]


def test_a_marker_in_the_assistant_message_selects() -> None:
    selection = said("I'll analyse it. SKILL_SELECT:spacing-calculation")
    assert candidate(selection, "spacing-calculation").score == 1.0
    assert candidate(selection, "spacing-calculation").evidence == (
        Evidence("marker", "SKILL_SELECT:spacing-calculation", 17, 49),
    )


def test_several_markers_select_in_first_seen_order_once_each() -> None:
    selection = said("SKILL_SELECT:h2s_safety SKILL_SELECT:a, SKILL_SELECT:h2s_safety")
    assert chosen(selection) == ["h2s_safety", "a"]


@pytest.mark.parametrize("role", [Role.USER, Role.TOOL, Role.SYSTEM])
def test_a_marker_of_anybody_else_never_selects(role: Role) -> None:
    assert select(INDEX, turn("SKILL_SELECT:foo", role=role)) == Selection()


def test_the_latest_assistant_message_of_the_transcript_counts_and_no_earlier_one() -> None:
    transcript = [
        Message(Role.ASSISTANT, "SKILL_SELECT:a"),
        Message(Role.USER, "and?"),
        Message(Role.ASSISTANT, "SKILL_SELECT:foo"),
        Message(Role.TOOL, "SKILL_SELECT:h2s_safety"),
    ]
    assert chosen(select(INDEX, turn("thanks", transcript=transcript))) == ["foo"]


def test_the_message_of_the_turn_is_later_than_the_transcript() -> None:
    selection = said("nothing needed", transcript=[Message(Role.ASSISTANT, "SKILL_SELECT:a")])
    assert chosen(selection) == []


def test_a_message_without_content_has_no_markers() -> None:
    silent = Turn("t", "c", Message(Role.ASSISTANT, None), transcript=(Message(Role.ASSISTANT, None),))
    assert select(INDEX, silent) == Selection()


def test_only_the_text_parts_of_a_message_are_read() -> None:
    parts = ({"type": "image", "alt": "SKILL_SELECT:a"}, "SKILL_SELECT:foo")
    assert chosen(select(INDEX, Turn("t", "c", Message(Role.ASSISTANT, parts)))) == ["foo"]


def test_an_id_with_a_slash_right_after_it_is_a_path_that_no_skill_has() -> None:
    selection = said("SKILL_SELECT:foo/bar")
    assert chosen(selection) == []
    assert refusal(selection, "foo/bar").outcome is Outcome.UNKNOWN


def test_punctuation_after_an_id_is_not_part_of_it() -> None:
    assert chosen(said("(SKILL_SELECT:foo), then SKILL_SELECT:a.")) == ["foo", "a"]


def test_an_escaped_marker_is_no_marker() -> None:
    assert said(r"SKILL_SELECT\:foo") == Selection()


def test_ids_are_case_sensitive() -> None:
    assert refusal(said("SKILL_SELECT:Foo"), "Foo").outcome is Outcome.UNKNOWN


def test_an_unknown_id_is_rejected_with_the_nearest_names() -> None:
    rejected = refusal(said("SKILL_SELECT:spacing-calculations"), "spacing-calculations")
    assert rejected.outcome is Outcome.UNKNOWN
    assert "'spacing-calculation'" in rejected.reason


def test_an_unknown_id_is_cut_to_a_readable_length() -> None:
    assert len(said("SKILL_SELECT:" + "x" * 5000).rejected[0].candidate.skill_id) == 100


def test_of_a_flood_of_unknown_ids_fifty_are_listed_and_the_rest_counted() -> None:
    text = " ".join(f"SKILL_SELECT:no-{number}" for number in range(5_000))
    rejected = said(text).rejected
    assert len(rejected) == 50
    assert rejected[-1].reason.endswith("4950 more ids that no skill has are not listed")


def test_an_inactive_skill_is_rejected_with_its_status() -> None:
    rejected = refusal(said("SKILL_SELECT:old"), "old")
    assert (rejected.outcome, "disabled" in rejected.reason) == (Outcome.INACTIVE, True)


def test_a_skill_outside_the_limits_is_unreachable() -> None:
    selection = select(INDEX, turn("SKILL_SELECT:a SKILL_SELECT:foo", role=Role.ASSISTANT), within=frozenset({"foo"}))
    assert chosen(selection) == ["foo"]
    assert refusal(selection, "a").outcome is Outcome.UNREACHABLE


def test_what_the_host_names_comes_first_and_keeps_its_order() -> None:
    asked = turn("SKILL_SELECT:a", role=Role.ASSISTANT, named=["foo", "h2s_safety", "foo"])
    selection = select(INDEX, asked)
    assert chosen(selection) == ["foo", "h2s_safety", "a"]
    assert candidate(selection, "foo").evidence == (Evidence("host", "foo"),)


def test_a_skill_named_and_marked_has_both_as_evidence() -> None:
    selection = select(INDEX, turn("SKILL_SELECT:foo", role=Role.ASSISTANT, named=["foo"]))
    assert [piece.kind for piece in candidate(selection, "foo").evidence] == ["host", "marker"]


def test_an_unknown_name_of_the_host_is_a_decision_too() -> None:
    assert refusal(select(INDEX, turn("hi", named=["nope"])), "nope").outcome is Outcome.UNKNOWN


def test_an_explicit_choice_is_not_vetoed() -> None:
    searched: SkillIndex = index_of(skill("deploy-app", "deploy", never=["do not deploy"]))
    selection = select(searched, turn("please do not deploy", named=["deploy-app"]))
    assert chosen(selection) == ["deploy-app"]
    assert selection.rejected == ()
