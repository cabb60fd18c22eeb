"""Hypothesis strategies for nodes and edges of any shape, with the ids and labels that break careless drawings."""

from hypothesis import strategies as st

from skillweave.graph import ANY, Edge, EdgeKind, Node, NodeKind, Overlay
from tests.graph.strategies import ODD_IDS

NASTY = (
    *ODD_IDS,
    *("", " ", "\n", "\x00", "\x7f", "\ud800", "\udfff", "\ufffe", "\u200b", "\u2028", "\x85", "a\r\nb\tc"),
    *(
        "direction TB",
        "x direction LR y",
        "indirection BT",
        "style a fill:#f00;",
        "style x:#35;",
        "classDef a:#fff;",
        "linkStyle 0",
    ),
    *("%%{init: {'theme': 'dark'}}%%", "%% note", "---\ntitle: x\n---", "accTitle: x", "click a call b()", "a@{x: y}"),
    *("`md`", "**bold** _em_", "1. first", "- item", "# head", "> quote", "![a](b)", "[a](javascript:x)", "| a | b |"),
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;b&gt;", "&#35;", "#35;", "#quot;", "a<br/>b"),
    *("$$x^2$$", "fa:fa-car", "www.example.com", "http://example.com/?a=b&c=d", "me@example.com", "a\\nb", "ﬂ°°35¶ß"),
    *(
        "x" * 500,
        "word " * 200,
        "—" * 90,
        "👩‍👩‍👧‍👦 family",
        "שלום עולם",
        "مرحبا",
        "\u202edesrever\u202c",
        "ﷺ",
        "e\u0301" * 50,
    ),
    *("subgraph x", "end", "End", "graph TD", "flowchart", "A --> B", 'a["b"]', "a:::b", "a&b", "];", "o--o", "-.->"),
)
"""Ids and labels that mean something to Mermaid, Markdown, HTML or XML, or that they cannot hold."""

nasty = st.sampled_from(NASTY) | st.text(max_size=40) | st.text(st.characters(), max_size=20)
ids = st.sampled_from(("a", "b", "c", "d")) | nasty.filter(lambda text: text != ANY)
kinds = st.sampled_from(EdgeKind)


def _edges(ends: st.SearchStrategy[str], most: int) -> st.SearchStrategy[list[Edge]]:
    from_ = st.none() | st.just(ANY) | ends
    return st.lists(st.builds(Edge, from_, ends, kinds, st.just("") | nasty), max_size=most)


@st.composite
def drawings(
    draw: st.DrawFn, most_nodes: int = 8, most_edges: int = 14, id_strategy: st.SearchStrategy[str] = ids
) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """Nodes with ids of their own and edges among them, from the start and from any skill, loops and repeats too."""
    names = draw(st.lists(id_strategy, max_size=most_nodes, unique=True))
    kinds_of = draw(st.lists(st.sampled_from(NodeKind), min_size=len(names), max_size=len(names)))
    nodes = tuple(
        Node(name, kind, name if kind is NodeKind.SKILL else draw(nasty))
        for name, kind in zip(names, kinds_of, strict=True)
    )
    edges = draw(_edges(st.sampled_from(names), most_edges)) if names else []
    return nodes, tuple(edges)


def overlays(nodes: tuple[Node, ...]) -> st.SearchStrategy[Overlay]:
    """A run over those nodes, which may name what is not there."""
    known = st.sampled_from([*(node.id for node in nodes), "nowhere"])
    some = st.lists(known, max_size=4).map(tuple)
    return st.builds(Overlay, some, st.none() | known, some)
