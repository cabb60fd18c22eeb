from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Record, State
from skillweave.disclose.block import carrier_of, text_digest
from skillweave.ledger import Delivery, Engaged, Superseded
from skillweave.state.state import (
    CLAIM_SECONDS,
    CLOCK_SLACK_SECONDS,
    adopt,
    claim,
    clear,
    confirm,
    evict,
    expire,
    held_keys,
    hold,
    reject,
    release,
    resume,
    unload,
)
from skillweave.turns import Rung


def record(
    text: str, turn: str = "t1", *, until: float | None = None, key: str = "skill:a", digest: str = "d"
) -> Record:
    state = Delivery.GIVEN if until is None else Delivery.CLAIMED
    return Record(key, digest, Rung.FULL, carrier_of(text_digest(text), turn), 10, state, turn, 0.0, until)


def test_a_claim_enters_its_record() -> None:
    assert claim(State(), [record("x", until=60)]).records == (record("x", until=60),)


def test_the_same_giving_again_changes_nothing() -> None:
    state = claim(State(), [record("x")])
    assert claim(state, [replace(record("x"), at=99.0)]) is state


def test_what_a_claim_replaces_is_superseded_by_its_block() -> None:
    new = record("y", "t2", digest="d2")
    state = claim(State(records=(record("x"),)), [new])
    assert (state.records, state.superseded) == ((new,), (Superseded(record("x"), new.carrier),))


def test_confirming_touches_only_the_holders_claims() -> None:
    other = record("y", "t2", until=60, key="skill:b")
    state = confirm(State(records=(record("x", until=60), other)), "t1", 5.0)
    assert state.records == (replace(record("x"), at=5.0), other)


def test_confirming_nothing_changes_nothing() -> None:
    state = State(records=(record("x"),))
    assert confirm(state, "t1", 5.0) is state


def test_a_release_brings_back_what_was_superseded() -> None:
    before = State(records=(record("x"),))
    claimed = claim(before, [record("y", "t2", until=60, digest="d2")])
    assert release(claimed, "t2") == before


def test_a_release_leaves_what_was_given_alone() -> None:
    state = State(records=(record("x"),))
    assert release(state, "t1") is state


def test_a_claim_expires_when_its_time_is_over_and_not_before() -> None:
    state = State(records=(record("x", until=60.0),))
    assert expire(state, 59.9) is state
    assert expire(state, 60.0).records == ()


def test_a_claim_is_not_held_longer_because_the_clock_was_set_back() -> None:
    state = State(records=(record("x", until=10_060.0),))
    assert expire(state, 9_999.5) is state, "a clock is put right by fractions of a second all the time"
    assert expire(state, 6_400.0).records == ()


@given(made=st.floats(0, 1e9), looks=st.lists(st.floats(-1e4, 1e4), max_size=8))
def test_whatever_the_clock_does_no_claim_has_more_than_its_sixty_seconds_left(made: float, looks: list[float]) -> None:
    state = State(records=(record("x", until=made + CLAIM_SECONDS),))
    for now in (made + look for look in looks):
        state = expire(state, now)
        assert all(0 < one.until - now <= CLAIM_SECONDS + CLOCK_SLACK_SECONDS for one in state.records if one.until)


def test_of_two_claims_over_one_another_both_expire() -> None:
    state = claim(State(records=(record("x", until=60.0),)), [record("y", "t2", until=60.0, digest="d2")])
    assert expire(state, 60.0) == State()


def test_an_eviction_forgets_the_record_but_not_that_its_text_may_be_there() -> None:
    state = evict(State(records=(record("x"),)), "skill:a")
    assert (state.records, state.superseded) == ((), (Superseded(record("x"), ""),))


def test_evicting_an_unknown_key_changes_nothing() -> None:
    state = State(records=(record("x"),))
    assert evict(state, "skill:b") is state


def test_an_adopted_record_counts_as_given() -> None:
    assert adopt(State(), record("x", until=60)).records == (record("x"),)


def test_clearing_keeps_the_revision_so_that_a_lost_race_is_noticed() -> None:
    assert clear(State(revision=7, records=(record("x"),))) == State(revision=7)


def test_a_held_claim_has_no_end_and_no_other_turn_is_touched() -> None:
    other = record("y", "t2", until=60, key="skill:b")
    state = hold(State(records=(record("x", until=60), other)), "t1")
    assert state.records == (replace(record("x", until=60), until=None), other)
    assert (held_keys(state, "t1"), held_keys(state, "t2")) == (("skill:a",), ())
    assert expire(state, 1e9).records == (replace(record("x", until=60), until=None),)


def test_holding_does_not_touch_what_was_given() -> None:
    state = State(records=(record("x"),))
    assert hold(state, "t1") is state
    assert held_keys(state, "t1") == ()


def test_a_turn_that_waits_for_nobody_any_more_has_sixty_seconds() -> None:
    state = hold(State(records=(record("x", until=60), record("y", "t2", until=60, key="skill:b"))), "t1")
    state = resume(hold(state, "t2"), lambda skill_id: skill_id == "b", now=1000.0)
    assert [(one.key, one.until) for one in state.records] == [("skill:a", 1060.0), ("skill:b", None)]


def test_unloading_takes_all_texts_of_a_skill_and_what_else_stands_in_its_blocks() -> None:
    mine = (record("x"), replace(record("x"), key="context:w:header"), record("read", key="section:a/2"))
    other = record("y", key="skill:ab")
    state = unload(State(records=(*mine, other), engaged=(Engaged("a", "host", "t1"),)), "a")
    assert (state.records, state.engaged) == ((other,), ())
    assert [old.record.key for old in state.superseded] == ["skill:a", "context:w:header", "section:a/2"]


def test_a_rejection_releases_the_claims_of_its_skill_and_evicts_the_rest() -> None:
    given = record("old")
    claimed = claim(State(records=(given,)), [record("new", "t2", until=60, digest="d2")])
    state = reject(claimed, "a")
    assert (state.records, state.superseded) == ((), (Superseded(given, ""),))


def test_a_rejection_leaves_another_skills_claim_of_the_same_turn_alone() -> None:
    other = record("y", until=60, key="skill:b")
    assert reject(State(records=(record("x", until=60), other)), "a").records == (other,)
