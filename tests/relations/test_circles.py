import pytest

from skillweave.relations.validate import Links, circles


@pytest.mark.parametrize(
    ("links", "found"),
    [
        ({}, ()),
        ({"a": ["b"], "b": ["a"]}, ()),
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, (("a", "b", "c"),)),
        ({"a": ["b"], "b": ["a", "c"], "c": ["b"]}, ()),
        ({"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b"]}, (("a", "b", "c"),)),
        ({"a": ["b"], "b": ["c", "a"], "c": ["a"]}, (("a", "b", "c"),)),
        ({"in": ["a"], "a": ["b"], "b": ["c"], "c": ["a", "out"], "out": []}, (("a", "b", "c"),)),
        ({"c": ["a"], "a": ["b"], "b": ["c"], "x": ["y"], "y": ["z"], "z": ["x"]}, (("c", "a", "b"), ("x", "y", "z"))),
        ({"a": ["a"]}, ()),
    ],
    ids=["nothing", "pair", "circle", "chain of pairs", "pairs in a circle", "pair inside", "tails", "two", "itself"],
)
def test_circles_of_three_or_more_are_found_and_pairs_are_not(links: Links, found: tuple[tuple[str, ...], ...]) -> None:
    assert circles(links) == found


def test_a_circle_longer_than_the_interpreters_stack_is_found() -> None:
    count = 20_000
    links = {str(number): [str((number + 1) % count)] for number in range(count)}
    assert [len(circle) for circle in circles(links)] == [count]
