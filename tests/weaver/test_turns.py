"""From a caller's fields to a Turn."""

import pytest

from skillweave import Message, Role
from skillweave.dialogue import turn_of
from skillweave.errors import InvalidTurn


def new_id() -> str:
    return "made"


def test_a_text_and_a_conversation_are_enough() -> None:
    turn = turn_of("Hi", {"conversation": "c"}, new_id)
    assert (turn.id, turn.conversation, turn.message) == ("made", "c", Message(Role.USER, "Hi"))


def test_a_turn_is_taken_as_it_is() -> None:
    turn = turn_of("Hi", {"conversation": "c"}, new_id)
    assert turn_of(turn, {}, new_id) is turn


def test_a_turn_and_fields_beside_it_contradict_each_other() -> None:
    turn = turn_of("Hi", {"conversation": "c"}, new_id)
    with pytest.raises(InvalidTurn, match="conversation"):
        turn_of(turn, {"conversation": "d"}, new_id)


def test_a_text_without_a_conversation_is_refused() -> None:
    with pytest.raises(InvalidTurn, match="conversation="):
        turn_of("Hi", {}, new_id)


def test_a_misspelt_field_is_an_error_and_not_ignored() -> None:
    with pytest.raises(TypeError, match=r"no field 'transcipt'; use .*transcript"):
        turn_of("Hi", {"conversation": "c", "transcipt": []}, new_id)


@pytest.mark.parametrize("fields", [{"task": {"coding": True}}, {"limits": {"allowed": []}}, {"task": "coding"}])
def test_a_task_or_limits_of_another_type_are_refused_before_anything_depends_on_them(
    fields: dict[str, object],
) -> None:
    with pytest.raises(InvalidTurn, match=r"give a Task|give a plan's limits"):
        turn_of("hi", {"conversation": "c", **fields}, lambda: "t")  # type: ignore[typeddict-item]
