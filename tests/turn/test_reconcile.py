from collections import Counter
from dataclasses import replace

from skillweave import Message, Record, Role, State
from skillweave.disclose.block import carrier_of, text_digest
from skillweave.ledger import Delivery, Superseded
from skillweave.turn.reconcile import Presence, blocks_in, digest_of, reconcile
from skillweave.turns import Rung

TEXT = "=== Skill Activated: A ===\n## Description\nWhat it does."


def record(text: str = TEXT, turn: str = "t1", *, until: float | None = None) -> Record:
    state = Delivery.GIVEN if until is None else Delivery.CLAIMED
    return Record("skill:a", "d", Rung.FULL, carrier_of(text_digest(text), turn), 10, state, turn, 0.0, until)


def standing(state: State, seen: list[str] | None, *, holder: str = "t2") -> Presence | None:
    blocks = None if seen is None else blocks_in([Message(Role.SYSTEM, text) for text in seen])
    return reconcile(state, blocks, holder=holder, now=1.0).presence.get("skill:a")


def test_without_a_transcript_what_was_given_counts_as_present() -> None:
    assert standing(State(records=(record(),)), None) is Presence.PRESENT


def test_without_a_transcript_another_turns_claim_is_held() -> None:
    assert standing(State(records=(record(until=60),)), None) is Presence.HELD


def test_a_turns_own_record_is_its_own_again() -> None:
    assert standing(State(records=(record(),)), None, holder="t1") is Presence.MINE


def test_the_transcript_wins_over_a_given_record() -> None:
    assert standing(State(records=(record(),)), []) is None
    assert standing(State(records=(record(),)), [TEXT]) is Presence.PRESENT


def test_a_claim_that_the_transcript_shows_was_delivered() -> None:
    result = reconcile(State(records=(record(until=60),)), Counter([text_digest(TEXT)]), holder="t2", now=1.0)
    assert result.state.records == (record(),)


def test_a_claim_that_the_transcript_does_not_show_is_held() -> None:
    assert standing(State(records=(record(until=60),)), []) is Presence.HELD


def test_an_answer_is_held_for_calls_with_the_same_transcript_and_lost_for_all_others() -> None:
    state = State(records=(replace(record(), told="t-1"),))
    for told, expected in (("t-1", Presence.HELD), ("t-2", None), ("", None)):
        found = reconcile(state, Counter(), holder="t2", now=1.0, told=told)
        assert found.presence.get("skill:a") is expected
        assert bool(found.lost) is (expected is None)
    assert standing(State(records=(replace(record(), told=""),)), []) is None


def test_an_answer_that_was_seen_is_like_any_other_text() -> None:
    state = State(records=(replace(record(), told="t-1"),))
    seen = reconcile(state, Counter([text_digest(TEXT)]), holder="t2", now=1.0, told="t-1")
    assert seen.presence["skill:a"] is Presence.PRESENT
    assert seen.state.records == (record(),)


def test_two_transcripts_are_the_same_only_with_the_same_messages() -> None:
    call = Message(Role.ASSISTANT, ({"type": "tool_use", "id": "call-1"},))
    one, other = digest_of([Message(Role.USER, "hm"), call]), digest_of([Message(Role.USER, "hm"), call, call])
    assert digest_of([Message(Role.USER, "hm"), call]) == one != other
    assert digest_of([Message(Role.USER, "hm"), replace(call, content=({"type": "tool_use", "id": "call-2"},))]) != one


def test_a_superseded_text_counts_until_the_transcript_shows_it_gone() -> None:
    state = State(superseded=(Superseded(record(), ""),))
    assert sum(reconcile(state, None, holder="t2", now=1.0).tokens_by_carrier().values()) == 10
    assert sum(reconcile(state, Counter([text_digest(TEXT)]), holder="t2", now=1.0).tokens_by_carrier().values()) == 10
    assert sum(reconcile(state, Counter(), holder="t2", now=1.0).tokens_by_carrier().values()) == 0


def test_one_sighting_stands_for_one_giving_of_an_evicted_text() -> None:
    old, new = record(turn="t1"), record(turn="t2")
    state = State(records=(new,), superseded=(Superseded(old, ""),))
    assert standing(state, [TEXT], holder="t2") is Presence.MINE, "the replayed turn sees only the evicted text"
    assert standing(state, [TEXT, TEXT], holder="t2") is Presence.PRESENT
    assert standing(state, [TEXT], holder="t3") is Presence.PRESENT


def test_an_evicted_skill_counts_while_its_artifact_in_the_same_block_is_shown() -> None:
    skill, artifact = record(), replace(record(), key="artifact:a/x.md", tokens=5)
    state = State(records=(artifact,), superseded=(Superseded(skill, ""),))
    assert sum(reconcile(state, Counter([text_digest(TEXT)]), holder="t2", now=1.0).tokens_by_carrier().values()) == 15


def test_texts_that_no_record_stands_for_are_told() -> None:
    result = reconcile(State(), Counter([text_digest(TEXT)]), holder="t2", now=1.0)
    assert result.shows(carrier_of(text_digest(TEXT), "any"))
    assert not result.shows(carrier_of(text_digest("other"), "any"))


def test_a_state_that_nothing_contradicts_stays_the_same_object() -> None:
    state = State(records=(record(),))
    assert reconcile(state, Counter([text_digest(TEXT)]), holder="t2", now=1.0).state is state


def test_several_blocks_in_one_text_are_told_apart() -> None:
    other = TEXT.replace("A ===", "B ===")
    found = blocks_in([Message(Role.SYSTEM, f"Our own words.\n{TEXT}\n\n{other}\n")])
    assert found == Counter([text_digest(TEXT), text_digest(other)])


def test_blocks_are_found_in_text_parts_with_other_line_ends() -> None:
    message = Message(Role.USER, ({"type": "image"}, TEXT.replace("\n", "\r\n"), "hello"))
    assert blocks_in([message]) == Counter([text_digest(TEXT)])


def test_text_after_a_block_in_the_same_part_makes_it_another_text() -> None:
    assert text_digest(TEXT) not in blocks_in([Message(Role.USER, f"{TEXT}\nand more")])


def test_a_message_without_content_has_no_blocks() -> None:
    assert blocks_in([Message(Role.ASSISTANT, None)]) == Counter()


def test_records_that_share_a_block_stand_or_fall_together() -> None:
    artifact = replace(record(), key="artifact:a/x.md")
    result = reconcile(State(records=(record(), artifact)), Counter(), holder="t2", now=1.0)
    assert result.lost == (record(), artifact)
