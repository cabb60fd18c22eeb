"""Which skills the model may open from where the conversation stands (spec 3.3)."""

from collections.abc import Iterable, Mapping

from skillweave.graph.compiled import Compiled
from skillweave.graph.declared import ANY

MOST_NAMED = 20
"""So many reachable skills a refusal names."""


def reachable_from(compiled: Compiled, current: str | None) -> tuple[str, ...]:
    """At the start, and from an unknown skill, the entries; else the direct successors, then the entries, without it.

    All leaves of a tree, wherever one stands.
    """
    if compiled.declared.tree is not None:
        return tuple(compiled.wired)
    return tuple(dict.fromkeys(one for way in _ways(compiled, current) for one in way if one != current))


def is_reachable(compiled: Compiled, current: str | None, skill_id: str) -> bool:
    """Whether `reachable_from` names the skill, without writing them all out."""
    if compiled.declared.tree is not None:
        return skill_id in compiled.wired
    return skill_id != current and any(skill_id in way for way in _ways(compiled, current))


def refusal(skill_id: str, current: str | None, reachable: Iterable[str]) -> str:
    """Why the model may not open a skill, in a sentence that names those that it may."""
    known = list(reachable)
    named = ", ".join(known[:MOST_NAMED]) + (f" and {len(known) - MOST_NAMED} more" if known[MOST_NAMED:] else "")
    here = "at the start of the skill graph" if current is None else f"from {current!r}"
    return f"{skill_id!r} cannot be reached {here}; what can be is: {named or 'nothing'}"


def _ways(compiled: Compiled, current: str | None) -> tuple[Mapping[str, None], ...]:
    if current is None or current not in compiled.wired:
        return (compiled.entries,)
    return compiled.successors.get(current, {}), compiled.successors.get(ANY, {}), compiled.entries
