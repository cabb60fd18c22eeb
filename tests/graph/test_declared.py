import pytest

from skillweave.graph import Declared, Entry, EntryPick, Limits, Route


def test_the_values_have_the_defaults_of_the_contract() -> None:
    assert Entry("a") == Entry("a", condition=None, examples=(), label=None, base=False)
    assert Route("a", "b") == Route(
        "a", "b", condition=None, on_tool=None, on_status=(), guard=None, label=None, priority=0
    )
    assert Declared().pick is EntryPick.DECLARATION
    assert Limits() == Limits(visits=None, visits_of={}, all_visits=None, iterations=None)


@pytest.mark.parametrize(
    ("limits", "a", "b"),
    [(Limits(), None, None), (Limits(3), 3, 3), (Limits(3, {"a": 1}), 1, 3), (Limits(None, {"a": 1}), 1, None)],
)
def test_a_skills_own_limit_of_visits_goes_before_that_of_each(limits: Limits, a: int | None, b: int | None) -> None:
    assert (limits.visits_to("a"), limits.visits_to("b")) == (a, b)
