"""A whole graph, written in its data form (spec 3.1)."""

from skillweave.graph.compiled import wired_ids
from skillweave.graph.data.entries import write_entry
from skillweave.graph.data.limits import write_limits, write_scales
from skillweave.graph.data.picks import write_pick
from skillweave.graph.data.reading import read_graph
from skillweave.graph.data.routes import write_route
from skillweave.graph.data.shape import inside
from skillweave.graph.data.skills import write_skill
from skillweave.graph.data.trees import write_tree
from skillweave.graph.declared import Declared, EntryPick, GraphSkill


def write_graph(declared: Declared) -> dict[str, object]:
    """The graph as plain JSON data in its smallest form; `read_graph` gives the same graph again.

    Skills that were not listed are written only where the wiring does not tell them all, or more is known of one than
    its id; then every skill of the wiring is, and they are listed in what is read.

    Raises:
        InvalidGraph: code in it (a condition, a scorer of the host's), or a value that could not be read again; named
            with its place.
    """
    data: dict[str, object] = {}
    if not _is_told_by_wiring(declared):
        data["skills"] = _skills(declared)
    parts: dict[str, object] = {
        "entries": [write_entry(entry, inside("entries", number)) for number, entry in enumerate(declared.entries)],
        "routes": [write_route(route, inside("routes", number)) for number, route in enumerate(declared.routes)],
        "tree": None if declared.tree is None else write_tree(declared.tree, "tree"),
        "default": declared.default,
        "pick": None if declared.pick is EntryPick.DECLARATION else write_pick(declared.pick, "pick"),
        "never_routes": list(declared.never_routes),
        "scales": write_scales(declared.scales),
        "limits": write_limits(declared.limits),
        "suppress": dict(declared.suppress),
    }
    data.update((key, value) for key, value in parts.items() if value not in (None, [], {}))
    read_graph(data)
    return data


def _is_told_by_wiring(declared: Declared) -> bool:
    wired = tuple(map(GraphSkill, dict.fromkeys(wired_ids(declared))))
    return not declared.listed and declared.skills in ((), wired)


def _skills(declared: Declared) -> list[object]:
    known = {skill.id: skill for skill in declared.skills}
    if len(known) == len(declared.skills) and not declared.listed:
        for wired in wired_ids(declared):
            known.setdefault(wired, GraphSkill(wired))
        return [write_skill(skill, inside("skills", number)) for number, skill in enumerate(known.values())]
    return [write_skill(skill, inside("skills", number)) for number, skill in enumerate(declared.skills)]
