"""skillweave: the right skill in an agent's context at the right moment, once, inside a token budget, explained."""

from importlib import import_module
from typing import TYPE_CHECKING

from skillweave._version import __version__

if TYPE_CHECKING:
    from skillweave.compose.policy import ToolPolicy
    from skillweave.conversation import Message, Placement, Role, ToolResult, Turn
    from skillweave.decisions import Decision, Evidence, Outcome
    from skillweave.diagnostics import Diagnostic
    from skillweave.disclose.fit import Budget
    from skillweave.errors import SkillNotFound, SkillweaveError, StoreUnavailable
    from skillweave.factory import open_weaver as open  # noqa: A004 - read as `skillweave.open`
    from skillweave.injection import Injection
    from skillweave.registry import Registry
    from skillweave.settings import CatalogMode, Settings
    from skillweave.skill import Skill, ToolRules, Triggers
    from skillweave.state.state import Lifecycle, State
    from skillweave.weaver import Weaver

_HOMES = {
    "Budget": "skillweave.disclose.fit",
    "CatalogMode": "skillweave.settings",
    "Decision": "skillweave.decisions",
    "Diagnostic": "skillweave.diagnostics",
    "Evidence": "skillweave.decisions",
    "Injection": "skillweave.injection",
    "Lifecycle": "skillweave.state.state",
    "Message": "skillweave.conversation",
    "Outcome": "skillweave.decisions",
    "Placement": "skillweave.conversation",
    "Registry": "skillweave.registry",
    "Role": "skillweave.conversation",
    "Settings": "skillweave.settings",
    "Skill": "skillweave.skill",
    "SkillNotFound": "skillweave.errors",
    "SkillweaveError": "skillweave.errors",
    "State": "skillweave.state.state",
    "StoreUnavailable": "skillweave.errors",
    "ToolPolicy": "skillweave.compose.policy",
    "ToolResult": "skillweave.conversation",
    "ToolRules": "skillweave.skill",
    "Triggers": "skillweave.skill",
    "Turn": "skillweave.conversation",
    "Weaver": "skillweave.weaver",
}

__all__ = [
    "Budget",
    "CatalogMode",
    "Decision",
    "Diagnostic",
    "Evidence",
    "Injection",
    "Lifecycle",
    "Message",
    "Outcome",
    "Placement",
    "Registry",
    "Role",
    "Settings",
    "Skill",
    "SkillNotFound",
    "SkillweaveError",
    "State",
    "StoreUnavailable",
    "ToolPolicy",
    "ToolResult",
    "ToolRules",
    "Triggers",
    "Turn",
    "Weaver",
    "__version__",
    "open",
]


def __getattr__(name: str) -> object:
    """Load an export at its first use, so that importing skillweave costs nothing."""
    if name == "open":
        value: object = import_module("skillweave.factory").open_weaver
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'skillweave' has no attribute {name!r}; it exports {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
