"""How long a skill stays engaged (spec 5.4)."""

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import TypeAlias

from skillweave.diagnostics import Diagnostic, Severity
from skillweave.errors import nearest_names

RECENT_MESSAGES = 3
"""How many user messages without a match a skill stays engaged for in the lifecycle `recent`."""


class Lifecycle(StrEnum):
    """How long a skill stays engaged once it is.

    `conversation`: to its end. `recent`: while it is among the `max_skills` most recently matched, and was matched
    by one of the latest user messages. `message`: for the user message that matched it, and every model call until the
    next one. `pinned`: to the end of the conversation whatever the limits, first in line for the budget behind the
    skill that a graph's cursor is on, and never offered for dropping. `Weaver.disengage`, `unload` and a rejection at a
    checkpoint end each of them, and a move in the skill graph that of the skill that it leaves.
    """

    CONVERSATION = "conversation"
    RECENT = "recent"
    MESSAGE = "message"
    PINNED = "pinned"

    @property
    def most_idle(self) -> int | None:
        """User messages without a match that a skill stays engaged for, None for any number."""
        if self is Lifecycle.RECENT:
            return RECENT_MESSAGES
        return 0 if self is Lifecycle.MESSAGE else None


LifecycleOf: TypeAlias = Callable[[str], Lifecycle]
"""The lifecycle of a skill, by its id."""


def check_lifecycles(lifecycles: Mapping[str, Lifecycle], known: Collection[str]) -> tuple[Diagnostic, ...]:
    """A warning for each id in `Settings.lifecycles` that no skill has; until there is one, it means nothing."""
    return tuple(
        Diagnostic(
            code="lifecycle-unknown-skill",
            severity=Severity.WARNING,
            message=f"Settings.lifecycles[{skill_id!r:.120}] is about no skill that there is",
            fix=_fix(nearest_names(skill_id, known)),
        )
        for skill_id in lifecycles
        if skill_id not in known
    )


def _fix(near: tuple[str, ...]) -> str:
    return f"did you mean {' or '.join(map(repr, near))}?" if near else "remove the entry, or add the skill's source"
