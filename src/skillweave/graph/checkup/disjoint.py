"""Proofs that two wholes of terms never hold at once; what is not proved may still be so."""

from skillweave.graph.checkup.terms import Terms


def disjoint(one: Terms, other: Terms) -> bool:
    """Whether both surely never hold for the same tool result at the same moment: by tools, statuses, values, intents.

    Words, expressions and code prove nothing: a message may have all of them.
    """
    for place, values in one.values.items():
        others = other.values.get(place)
        if others is not None and not values.overlaps(others):
            return True
    return _other_tools(one, other) or _other_tools(other, one)


def _other_tools(one: Terms, other: Terms) -> bool:
    tools, in_tool = one.tools, other.in_tool
    if tools is None or not in_tool:
        return False
    return not any(all(need.finds(tool) for need in in_tool) for tool in tools)
