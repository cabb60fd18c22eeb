import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph.cycles import Links, strong_components


@pytest.mark.parametrize(
    ("links", "found"),
    [
        ({}, []),
        ({"a": []}, ["a"]),
        ({"a": ["a"]}, ["a"]),
        ({"a": ["b"], "b": []}, ["a", "b"]),
        ({"a": ["b"], "b": ["a"]}, ["ab"]),
        ({"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}, ["a", "bc", "d"]),
        ({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": ["a"]}, ["abcd"]),
    ],
    ids=str,
)
def test_names_that_lead_to_each_other_are_one_knot(links: Links, found: list[str]) -> None:
    assert ["".join(sorted(component)) for component in strong_components(links)] == found


names = st.sampled_from("abcdef")


@given(st.dictionaries(names, st.lists(names), max_size=6))
def test_two_names_are_in_one_knot_exactly_where_each_leads_to_the_other(found: dict[str, list[str]]) -> None:
    links = {name: [other for other in others if other in found] for name, others in found.items()}
    together = {name: set(component) for component in strong_components(links) for name in component}

    def reached(start: str) -> set[str]:
        seen, waiting = {start}, [start]
        while waiting:
            waiting += (new := [other for other in links[waiting.pop()] if other not in seen])
            seen.update(new)
        return seen

    ways = {name: reached(name) for name in links}
    assert together == {
        name: {other for other in links if other in ways[name] and name in ways[other]} for name in links
    }


def test_a_cycle_longer_than_the_interpreters_stack_is_one_knot() -> None:
    count = 20_000
    links = {str(number): [str((number + 1) % count)] for number in range(count)}
    assert [len(component) for component in strong_components(links)] == [count]
