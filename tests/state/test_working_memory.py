"""Working memory: how it is merged, and that its contract finds mistakes."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given

from skillweave.frozen import EMPTY, FrozenJson, as_json
from skillweave.state.working_memory import MOST_MEMORY_BYTES, memory_from_json, memory_to_json, merged
from skillweave_testing import ManualClock
from tests.contract_failures import contract_failures
from tests.contracts_of_ports.working_memory import WorkingMemoryContract
from tests.state.memories import MISTAKES, DictMemory
from tests.strategies import json_mappings

MEMORIES = Path(__file__).with_name("memories.py")


class TestDictMemory(WorkingMemoryContract):
    @pytest.fixture
    def memory(self, clock: ManualClock) -> DictMemory:
        return DictMemory(clock)


memories = json_mappings.filter(lambda one: not any("\ud800" <= letter <= "\udfff" for letter in str(one)))


@given(memories, memories)
def test_a_merge_sets_what_is_given_removes_none_and_leaves_the_rest(
    first: Mapping[str, FrozenJson], second: Mapping[str, FrozenJson]
) -> None:
    wanted: dict[str, object] = {}
    for values in (first, second):
        for key, value in values.items():
            if value is None:
                wanted.pop(key, None)
            else:
                wanted[key] = as_json(value)
    found = merged(merged(EMPTY, first), second)
    assert as_json(found) == wanted
    assert list(found) == sorted(wanted)


@given(memories, memories)
def test_a_merge_that_is_made_twice_is_as_one(kept: Mapping[str, FrozenJson], values: Mapping[str, FrozenJson]) -> None:
    once = merged(kept, values)
    assert merged(once, values) == once


@given(memories)
def test_what_is_written_is_read_back_equal_and_is_as_long_as_was_counted(values: Mapping[str, FrozenJson]) -> None:
    memory = merged(EMPTY, values)
    text = memory_to_json(memory)
    assert json.dumps(as_json(memory_from_json(text))) == json.dumps(as_json(memory))
    assert len(text.encode()) <= MOST_MEMORY_BYTES
    assert "\0" not in text


@pytest.fixture(scope="module")
def failures() -> str:
    """What pytest says of the contract for all memories with a mistake."""
    return contract_failures(MEMORIES)


@pytest.mark.parametrize("mistake", [mistake.__name__ for mistake in MISTAKES])
@pytest.mark.soak
def test_a_memory_with_a_mistake_fails_the_contract(failures: str, mistake: str) -> None:
    assert f"::Test{mistake}::" in failures
