"""What a user should hear before trusting where a conversation goes: the skill graph is broken, or was left out."""

from typing import TYPE_CHECKING

from skillweave.cli.output.words import counted
from skillweave.diagnostics import Severity
from skillweave.formats.codes import GRAPH

if TYPE_CHECKING:
    from skillweave.graph import SkillGraph
    from skillweave.registry import Snapshot

_SEE = "`skillweave check` with the same --skills, --pack and --graph says why"


def graph_notes(snapshot: "Snapshot", graph: "SkillGraph | None") -> tuple[str, ...]:
    """A line where a graph cannot be read, and one where the graph in use has errors; `graph` is the one of --graph."""
    from skillweave.graph.findings import graph_findings

    notes = []
    if any(found.code == GRAPH.name for found in snapshot.diagnostics):
        notes.append(f"a skill graph is left out because of errors; {_SEE}")
    errors = sum(found.severity is Severity.ERROR for found in graph_findings(snapshot, graph))
    if errors:
        notes.append(f"the skill graph has {counted(errors, 'error')}, so that it may lead astray; {_SEE}")
    return tuple(notes)
