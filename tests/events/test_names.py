import pytest

from skillweave.events.event import RESERVED, name_problem


@pytest.mark.parametrize("name", ["DATA_TABLE_UPDATE", "checklist_item_update", "a", "Map.layer-1", "x" * 100, "turns"])
def test_names_of_one_line_are_fine(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize(
    "name", ["", "1st", "two words", "line\nbreak", "line\r", "x" * 101, "naïve", "٣", "-a", "a:b", "a\x00", "A\n"]
)
def test_a_name_that_does_not_fit_into_a_stream_is_refused(name: str) -> None:
    problem = name_problem(name)
    assert problem is not None
    assert "1 to 100 ASCII letters" in problem


@pytest.mark.parametrize("name", ["turn.decided", "skill.injected", "TOOL.blocked", "cursor.moved", "spawn.anything"])
def test_a_skill_cannot_forge_one_of_our_own_events(name: str) -> None:
    problem = name_problem(name)
    assert problem is not None
    assert RESERVED[0] in problem
