"""The `graph:` of a pack: the skill graph of its conversations, read as the data form says (spec 1.2 and 3.1)."""

from collections.abc import Mapping
from typing import cast

from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import InvalidGraph
from skillweave.formats.codes import GRAPH
from skillweave.frontmatter import Keys, resolved
from skillweave.graph.data.codec import read_graph, write_graph
from skillweave.graph.shape import line_of
from skillweave.skill import Json, freeze_mapping

KEY = "graph"

_FIX = "correct it; until then the skills load without the graph"


def read_pack_graph(
    value: object, *, path: str, lines: Mapping[Keys, int]
) -> tuple[Mapping[str, object] | None, tuple[Diagnostic, ...]]:
    """The graph in its smallest data form, None where there is none; with a mistake in it, a finding for each instead.

    A graph is left out as a whole: without one of its ways it would lead conversations astray. What of a graph of the
    right shape makes no sense, the checkup says, which knows the skills of the other sources too.
    """
    if resolved(value) in (None, "", {}):
        return None, ()
    try:
        data = write_graph(read_graph(cast("Mapping[str, object]", value), place=KEY))
    except InvalidGraph as error:
        return None, tuple(_finding(one, path, lines) for one in error.mistakes or (error,))
    return freeze_mapping(cast("dict[str, Json]", data)), ()


def _finding(error: InvalidGraph, path: str, lines: Mapping[Keys, int]) -> Diagnostic:
    message = str(error).removesuffix(f"; {error.fix}")
    return GRAPH.found(Location(path, line_of(error.place or KEY, lines)), message, error.fix or _FIX)
