"""Which parts of a graph exclude each other."""

from skillweave.errors import InvalidGraph
from skillweave.graph.declared import Declared, EntryPick


def require_whole(declared: Declared) -> None:
    """Raise InvalidGraph where a tree stands beside what it leaves no room for, or a default leaf without a tree."""
    if declared.tree is None:
        if declared.default is not None:
            raise InvalidGraph(f"default names {declared.default!r}, but there is no tree; remove it or add a tree")
        return
    beside = {
        "entries": bool(declared.entries),
        "routes": bool(declared.routes),
        "never_routes": bool(declared.never_routes),
        "pick": declared.pick is EntryPick.READ,
    }
    parts = [name for name, there in beside.items() if there]
    if parts:
        raise InvalidGraph(
            f"a graph is a tree or has entries and routes; this one has a tree and {', '.join(parts)}: keep one of them"
        )
