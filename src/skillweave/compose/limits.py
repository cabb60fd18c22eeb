"""A tool policy that stays inside another one: what a spawned agent may do at most (spec 4.4)."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from skillweave.compose.entries import inside, union, without
from skillweave.compose.narrow import narrow
from skillweave.compose.policy import ToolPolicy
from skillweave.frozen import FrozenDict
from skillweave.limits import ToolLimits


def limits_of(policy: ToolPolicy) -> ToolLimits:
    """Everything that the policy bounds, as one value for agents that must not get more."""
    forbidden = policy.denied_tools
    allowed = _within_all((policy.allowed_tools, policy.grant), forbidden)
    return ToolLimits(allowed, forbidden, policy.asks, policy.argument_names)


def closed(policy: ToolPolicy, why: str) -> ToolPolicy:
    """The policy with no tool left but skillweave's own; `why` is told to whoever calls one."""
    return replace(policy, allowed_tools=(), preapproved_tools=(), consented_tools=(), closed=why)


def limited(policy: ToolPolicy, limits: ToolLimits | None) -> ToolPolicy:
    """The policy within the limits: what they deny is denied, what they ask about is asked about.

    Where the two name different arguments for one tool, the limits' name counts for the patterns of both.
    """
    if limits is None:
        return policy
    forbidden = union((policy.forbidden_tools, limits.forbidden))
    allowed = _within_all((policy.allowed_tools, limits.allowed), forbidden)
    preapproved = without(policy.preapproved_tools, forbidden)
    consented = without(policy.consented_tools, forbidden)
    return replace(
        policy,
        allowed_tools=allowed,
        forbidden_tools=forbidden,
        preapproved_tools=preapproved if allowed is None else inside(preapproved, allowed),
        consented_tools=consented if allowed is None else inside(consented, allowed),
        asks=_all_asks(policy.asks, limits.asks, limits.own_asks),
        argument_names=FrozenDict({**policy.argument_names, **limits.argument_names}),
    )


def without_asks(
    asks: Mapping[str, tuple[str, ...]], gone: Container[tuple[str, str]]
) -> Mapping[str, tuple[str, ...]]:
    """The tool entries and checkpoints that are left when those in `gone`, as entry and name, ask no more."""
    left = {tool: tuple(name for name in names if (tool, name) not in gone) for tool, names in asks.items()}
    return FrozenDict({tool: names for tool, names in left.items() if names})


def _within_all(bounds: Iterable[Sequence[str] | None], forbidden: Sequence[str]) -> tuple[str, ...] | None:
    stated = [entries for entries in bounds if entries is not None]
    return without(reduce(narrow, stated), forbidden) if stated else None


def _all_asks(*asked: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    asks: dict[str, tuple[str, ...]] = {}
    for mapping in asked:
        for tool, names in mapping.items():
            asks[tool] = union((asks.get(tool, ()), names))
    return FrozenDict(asks)
