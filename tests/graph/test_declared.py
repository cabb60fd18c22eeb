from skillweave.graph import Declared, Entry, EntryPick, Limits, Route


def test_the_values_have_the_defaults_of_the_contract() -> None:
    assert Entry("a") == Entry("a", condition=None, examples=(), label=None, base=False)
    assert Route("a", "b") == Route(
        "a", "b", condition=None, on_tool=None, on_status=(), guard=None, label=None, priority=0
    )
    assert Declared().pick is EntryPick.DECLARATION
    assert Limits() == Limits(visits=None, visits_of={}, all_visits=None, iterations=None)
