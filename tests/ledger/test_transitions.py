from dataclasses import replace

from skillweave.disclose.block import carrier_of
from skillweave.disclose.rung import Rung
from skillweave.ledger.state import Delivery, Record, State, Superseded
from skillweave.ledger.transitions import adopt, claim, clear, confirm, evict, expire, release


def record(
    text: str, turn: str = "t1", *, until: float | None = None, key: str = "skill:a", digest: str = "d"
) -> Record:
    state = Delivery.GIVEN if until is None else Delivery.CLAIMED
    return Record(key, digest, Rung.FULL, carrier_of(text, turn), 10, state, turn, 0.0, until)


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
