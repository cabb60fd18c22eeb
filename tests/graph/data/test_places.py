import pytest

from skillweave.frontmatter.yaml_text import Keys
from skillweave.graph.shape import inside, line_of

LINES: dict[Keys, int] = {
    ("routes",): 3,
    ("routes", 1): 5,
    ("routes", 1, "guard"): 6,
    ("scales", "a b"): 9,
}


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("routes", 3),
        ("routes[1]", 5),
        ("routes[1].guard", 6),
        (inside(inside("scales", "a b"), 0), 9),
        ("entries[0]", None),
        ("", None),
    ],
)
def test_a_place_has_the_line_of_its_key(place: str, line: int | None) -> None:
    assert line_of(place, LINES) == line


def test_a_place_without_a_line_has_that_of_the_nearest_thing_around_it() -> None:
    assert line_of("routes[1].guard.risk.gte", LINES) == 6
    assert line_of("routes[2].to", LINES) == 3
