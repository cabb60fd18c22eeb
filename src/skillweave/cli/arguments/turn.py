"""From options to a Turn, the settings that it runs under, and the weaver that runs it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from skillweave.conversation import Message, Placement, Role, ToolResult, Turn
from skillweave.task import RiskLevel, Task

if TYPE_CHECKING:
    from skillweave.graph import SkillGraph
    from skillweave.registry import Source
    from skillweave.settings import Settings
    from skillweave.state.port import Store
    from skillweave.weaver import Weaver


def turn_of(
    text: str | None,
    role: str,
    conversation: str,
    *,
    turn_id: str | None = None,
    transcript: tuple[Message, ...] | None = None,
    results: tuple[ToolResult, ...] = (),
    memory: Mapping[str, object] | None = None,
    tools: Sequence[str] | None = None,
    placement: str = Placement.HISTORY.value,
    task: Task | None = None,
) -> Turn:
    """The turn, None as text where nobody but tools said anything; raises InvalidTurn for an id that cannot be kept."""
    return Turn(
        id=uuid4().hex if turn_id is None else turn_id,
        conversation=conversation,
        message=Message(Role.TOOL if text is None else Role(role), text),
        transcript=transcript,
        results=results,
        memory=memory or {},
        tools=tuple(tools) if tools else None,
        placement=Placement(placement),
        task=task,
    )


def task_of(description: str | None, risk: str | None, *, coding: bool) -> Task | None:
    """The task that the options tell of; None where they tell nothing."""
    if description is None and risk is None and not coding:
        return None
    return Task(description or "", None if risk is None else RiskLevel(risk), coding)


def settings_of(*, catalog: str, max_skills: int, budget: int) -> "Settings":
    """The settings that the options name, all others at their defaults."""
    from skillweave.disclose.fit import Budget
    from skillweave.settings import CatalogMode, Settings

    return Settings(budget=Budget(total=budget), max_skills=max_skills, catalog=CatalogMode(catalog))


def matchers_of(named: Sequence[str] | None, *, mention: bool) -> tuple[str, ...] | None:
    """The matchers that run, None for the default ones; `mention` adds that one to either."""
    if not mention:
        return tuple(named) if named else None
    from skillweave.select.selection import DEFAULT

    return (*(named or DEFAULT), "mention")


def weaver_over(
    sources: Sequence["Source"],
    store: "Store",
    settings: "Settings",
    matchers: Sequence[str] | None,
    graph: "SkillGraph | None" = None,
) -> "Weaver":
    """The weaver; `matchers` None or empty means the default ones, `graph` None the one of a pack, if any has one."""
    from skillweave.factory import open_weaver

    if matchers:
        return open_weaver(*sources, ledger=store, settings=settings, graph=graph, matchers=tuple(matchers))
    return open_weaver(*sources, ledger=store, settings=settings, graph=graph)
