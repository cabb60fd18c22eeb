"""What there is to draw, with both ends of every arrow, and the marks of a run."""

import pytest
from hypothesis import given

from skillweave.graph import ANY, Edge, EdgeKind, Node, NodeKind, Overlay
from skillweave.graph.drawing.picture import EndKind, Mark, picture_of
from tests.graph.drawing.shapes import drawings


def skills(*names: str) -> tuple[Node, ...]:
    return tuple(Node(name, NodeKind.SKILL, name) for name in names)


def test_the_start_is_always_there_and_any_skill_where_an_edge_names_it() -> None:
    assert [end.kind for end in picture_of((), (), None).ends] == [EndKind.START]
    ends = picture_of(skills("a"), [Edge(ANY, "a", EdgeKind.MODEL)], None).ends
    assert [end.kind for end in ends] == [EndKind.START, EndKind.ANY, EndKind.SKILL]


def test_an_id_that_only_an_edge_names_is_an_end_of_its_own() -> None:
    edges = [Edge("a", "gone", EdgeKind.MODEL), Edge("gone", "a", EdgeKind.MODEL)]
    picture = picture_of(skills("a"), edges, None)
    assert [(end.kind.value, end.id) for end in picture.ends] == [("start", ""), ("skill", "a"), ("unknown", "gone")]
    assert [(arrow.source, arrow.target) for arrow in picture.arrows] == [(1, 2), (2, 1)]


def test_a_skill_may_be_visited_and_current_and_reachable_at_once() -> None:
    overlay = Overlay(visited=["a", "b"], current="b", reachable=["a"])
    marks = [end.marks for end in picture_of(skills("a", "b", "c"), (), overlay).ends]
    assert marks == [
        frozenset(),
        {Mark.VISITED, Mark.REACHABLE},
        {Mark.VISITED, Mark.CURRENT},
        {Mark.APART},
    ]


@pytest.mark.parametrize("name", ["visited", "reachable"])
def test_one_id_where_a_run_has_a_list_of_them_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=rf"`{name}` is a list of skill ids, got 'triage'; write \['triage'\]"):
        Overlay(**{name: "triage"})


def test_decisions_and_the_start_have_no_marks() -> None:
    nodes = (Node("d0", NodeKind.PREDICATE, "?"), *skills("a"))
    assert [end.marks for end in picture_of(nodes, (), Overlay()).ends] == [frozenset(), frozenset(), {Mark.APART}]


@given(drawings())
def test_every_edge_keeps_its_ends_and_its_kind(drawing: tuple[tuple[Node, ...], tuple[Edge, ...]]) -> None:
    nodes, edges = drawing
    picture = picture_of(nodes, edges, None)
    assert len(picture.arrows) == len(edges)
    for edge, arrow in zip(edges, picture.arrows, strict=True):
        assert picture.ends[arrow.source].id == (edge.from_ or "") or edge.from_ == ""
        assert picture.ends[arrow.target].id == edge.to
        assert arrow.kind is edge.kind
