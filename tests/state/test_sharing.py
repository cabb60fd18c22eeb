from hypothesis import given
from hypothesis import strategies as st

from skillweave import Record, State
from skillweave.disclose.block import carrier_of, text_digest
from skillweave.ledger import Delivery
from skillweave.state.sharing import given_keys, mark, with_edits
from skillweave.state.state import CLAIM_SECONDS, claim, confirm, evict, expire, release
from skillweave.turns import Rung

SKILLS = ("skill:a", "skill:b", "skill:c", "skill:d")
OTHERS = ("artifact:a/x.md", "section:a/1", "context:well-1:status")
NOW = 100.0


def record(key: str, *, claimed: bool = False, turn: str = "t1") -> Record:
    carrier = carrier_of(text_digest(f"{key} {turn}"), turn)
    until = NOW + CLAIM_SECONDS if claimed else None
    state = Delivery.CLAIMED if claimed else Delivery.GIVEN
    return Record(key, "d", Rung.FULL, carrier, 10, state, turn, NOW, until)


@st.composite
def states(draw: st.DrawFn) -> State:
    """States in which some skills are given, some claimed, and other texts are there too."""
    keys = draw(st.lists(st.sampled_from((*SKILLS, *OTHERS)), unique=True))
    return State(revision=3, records=tuple(record(key, claimed=draw(st.booleans())) for key in keys))


EDITS = st.tuples(st.sets(st.sampled_from(SKILLS)), st.sets(st.sampled_from(SKILLS)))


def test_claims_documents_and_entity_context_are_no_given_skills() -> None:
    state = State(records=(record("skill:a"), record("skill:b", claimed=True), *map(record, OTHERS)))
    assert given_keys(state) == {"skill:a"}


@given(states(), EDITS)
def test_what_others_see_after_an_edit_is_what_they_made_of_it(state: State, edits: tuple[set[str], set[str]]) -> None:
    entered, removed = edits[0] - edits[1], edits[1] & given_keys(state)
    assert given_keys(with_edits(state, entered, removed, NOW)) == (given_keys(state) | entered) - removed


@given(states(), EDITS)
def test_the_same_edit_again_changes_nothing(state: State, edits: tuple[set[str], set[str]]) -> None:
    once = with_edits(state, edits[0] - edits[1], edits[1], NOW)
    assert with_edits(once, edits[0] - edits[1], edits[1], NOW) == once


@given(states(), EDITS)
def test_an_edit_leaves_all_other_records_as_they_were(state: State, edits: tuple[set[str], set[str]]) -> None:
    touched = edits[0] | edits[1]
    after = with_edits(state, edits[0], edits[1], NOW)
    assert [one for one in state.records if one.key not in touched] == [
        one for one in after.records if one.key not in touched
    ]


@given(states())
def test_no_edit_is_no_change(state: State) -> None:
    assert with_edits(state, (), (), NOW) is state


def test_what_was_removed_is_evicted() -> None:
    state = State(records=(record("skill:a"),))
    assert with_edits(state, (), ["skill:a"], NOW) == evict(state, "skill:a")


def test_of_a_skill_that_another_program_gave_nobody_knows_the_text() -> None:
    (entered,) = with_edits(State(), ["skill:a"], (), NOW).records
    assert (entered.known, entered.state, entered.at, entered.until) == (False, Delivery.GIVEN, NOW, None)


def test_a_claim_that_another_program_says_was_given_neither_expires_nor_is_released() -> None:
    state = with_edits(State(records=(record("skill:a", claimed=True),)), ["skill:a"], (), NOW)
    assert expire(state, NOW + 2 * CLAIM_SECONDS) is state
    assert confirm(state, "t1", NOW) is state


def test_a_text_that_nobody_knows_leaves_nothing_behind() -> None:
    state = with_edits(State(), ["skill:a"], (), NOW)
    assert evict(state, "skill:a") == State()
    given_anew = claim(state, [record("skill:a")])
    assert (given_anew.records, given_anew.superseded) == ((record("skill:a"),), ())


def test_what_cannot_be_a_skill_is_not_entered() -> None:
    assert with_edits(State(), ["skill:", "skill:a b", "artifact:a/x", "a"], (), NOW) == State()


@given(states(), st.sampled_from(SKILLS))
def test_a_skill_that_the_host_says_it_has_counts_as_given_and_nothing_else_changes(state: State, key: str) -> None:
    after, marked = mark(state, key.removeprefix("skill:"), NOW)
    assert after.record(key) == marked
    assert given_keys(after) == given_keys(state) | {key}
    assert [one for one in after.records if one.key != key] == [one for one in state.records if one.key != key]


@given(states(), st.sampled_from(SKILLS))
def test_the_same_mark_again_changes_nothing_also_later(state: State, key: str) -> None:
    skill_id = key.removeprefix("skill:")
    once, marked = mark(state, skill_id, NOW)
    again, record_of_then = mark(once, skill_id, NOW + 5)
    assert again is once
    assert record_of_then == marked


@given(states(), st.sampled_from(SKILLS))
def test_a_mark_that_is_evicted_leaves_what_was_there_before(state: State, key: str) -> None:
    without = evict(state, key)
    marked, _ = mark(without, key.removeprefix("skill:"), NOW)
    assert evict(marked, key) == without


def test_what_a_turn_claims_of_a_marked_skill_is_delivered_and_no_release_takes_it_back() -> None:
    claimed = State(records=(record("skill:a", claimed=True),))
    after, marked = mark(claimed, "a", NOW + 1)
    assert (marked.state, marked.at, marked.until, marked.digest) == (Delivery.GIVEN, NOW + 1, None, "d")
    assert release(after, "t1") is after
