from typing import Any

import pytest

from skillweave.errors import InvalidGraph
from skillweave.graph import Declared, Entry, EntryPick, KeywordScorer, Limits, Route
from skillweave.graph.declared import require_tree_or_routes


@pytest.mark.parametrize(
    ("part", "beside"),
    [
        ("entries", {"entries": (Entry("a"),)}),
        ("routes", {"routes": (Route("a", "b"),)}),
        ("never_routes", {"never_routes": ("thanks",)}),
        ("pick", {"pick": EntryPick.READ}),
    ],
)
def test_a_tree_stands_alone(part: str, beside: dict[str, Any]) -> None:
    with pytest.raises(InvalidGraph, match=f"has a tree and {part}"):
        require_tree_or_routes(Declared(tree="a", **beside))


def test_everything_that_a_tree_leaves_no_room_for_is_named_at_once() -> None:
    with pytest.raises(InvalidGraph, match="entries, routes"):
        require_tree_or_routes(Declared(tree="a", entries=(Entry("a"),), routes=(Route("a", "b"),)))


@pytest.mark.parametrize(
    "beside", [{}, {"default": "b"}, {"limits": Limits(1)}, {"scales": {"a": ("b",)}}, {"pick": KeywordScorer()}]
)
def test_a_tree_may_have_a_default_leaf_scales_limits_and_a_scorer_for_its_intents(beside: dict[str, Any]) -> None:
    require_tree_or_routes(Declared(tree="a", **beside))


def test_a_default_leaf_needs_a_tree() -> None:
    with pytest.raises(InvalidGraph, match="default names 'a', but there is no tree"):
        require_tree_or_routes(Declared(default="a"))


def test_entries_and_routes_go_together_with_everything_else() -> None:
    require_tree_or_routes(
        Declared(entries=(Entry("a"),), routes=(Route("a", "b"),), pick=EntryPick.READ, never_routes=("x",))
    )
