"""The port of matchers: what one is asked, what it declares, and what it may prepare before a turn (spec 2.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from skillweave.diagnostics import Diagnostic, Severity
from skillweave.dialogue import Turn
from skillweave.select.candidates import Candidate, Selection
from skillweave.select.index import SkillIndex, TriggerMatch
from skillweave.select.own_fit import OwnFit
from skillweave.text.search import Folded

if TYPE_CHECKING:
    import asyncio

UNKNOWN_STRENGTH = 0
"""Of a matcher that a stored State names and that is not here: every other one is stronger."""


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Mention:
    """A skill that the user named, where in the message, and all that follows up to the next mention, stripped."""

    skill_id: str
    start: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which probability on skills are given and offered, None for what was fitted; at most so many are offered.

    `fitted` is what a host fitted to its own queries; `ranked` is how many of the best are told, chosen or not.
    """

    give_at: float | None = None
    offer_at: float | None = None
    offer_most: int = 12
    fitted: OwnFit | None = None
    ranked: int = 14


FITTED = Thresholds()


class MatchContext(NamedTuple):
    """What a matcher is asked: a turn, the skills to choose from, and what was found before.

    `message` is what the user said, None when the turn's message is not the user's; `triggered` are all trigger hits
    and vetoes in it; `mentions` the skills named in it, where that matcher takes part, which `message` then leaves
    blank. `matchers` are the names of all that take part; `chosen` is what stronger ones chose; `within` are the ids
    that may be chosen, None for all. `prepared` is what this matcher's own `prepare` gave, None without one.
    `thresholds` are the settings' own.
    """

    # A tuple: one is made for each matcher of each turn, at a third of the cost of a frozen dataclass.

    skills: SkillIndex
    turn: Turn
    within: frozenset[str] | None
    matchers: tuple[str, ...]
    message: Folded | None
    triggered: tuple[TriggerMatch, ...] = ()
    chosen: tuple[Candidate, ...] = ()
    mentions: tuple[Mention, ...] = ()
    prepared: Any = None
    thresholds: Thresholds = FITTED


class Matcher(Protocol):
    """Proposes the skills that a turn calls for; `skillweave_testing.matchers` has the contract as tests.

    One that needs something that takes time, such as a vector of the message, has `prepare` too: see
    `PreparingMatcher`.
    """

    @property
    def name(self) -> str:
        """The name in settings, decisions and stored States; it never changes."""
        ...

    @property
    def strength(self) -> int:
        """Above 0. The stronger of two matchers is asked first, and counts as the one that engaged a skill of both.

        The others have: `lexical` 10, `triggers` 20, a skill graph 30, `task` 40, `mention` 50, the host 60,
        `explicit` 70.
        """
        ...

    @property
    def deliberate(self) -> bool:
        """Whether what it picks is somebody's decision, so that the skill's `allowed` tools restrict the agent.

        Only then may it pick a skill that is closed to the model, or one that a `never` phrase vetoes.
        """
        ...

    def match(self, context: MatchContext) -> Selection:
        """Return the skills that it proposes, best first, and those that it left out with the reason.

        Pure and quick: it waits for nothing, and the same context always gets the same answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Hindered:
    """What a matcher prepared that can do only a part of its work in this turn, and why; `match` finds the value."""

    value: Any
    diagnostic: Diagnostic


class PreparingMatcher(Matcher, Protocol):
    """A matcher that prepares something before each turn; where that failed, `match` is not called.

    One with the attribute `preparation_optional` set to True is called all the same, with `prepared` None.
    """

    async def prepare(self, index: SkillIndex, turn: Turn, seconds: float) -> Any:  # noqa: ANN401 - its own business
        """What `match` will find as `context.prepared`; cancelled when it takes longer than so many seconds.

        A matcher that can go on without it returns Hindered, so that the turn tells what was missing.
        """
        ...


@dataclass(frozen=True, slots=True)
class Matchers:
    """The matchers that take part, strongest first; `find_matchers` makes it from names.

    `unprepared` are the names of those in `preparing` that are asked although their preparing failed. `strength` and
    `deliberate` answer for every name that a stored State may hold, also where that matcher does not take part now.
    """

    asked: tuple[Matcher, ...]
    names: tuple[str, ...]
    preparing: tuple[PreparingMatcher, ...]
    strengths: Mapping[str, int] = field(repr=False, hash=False)
    decisions: frozenset[str] = field(repr=False)
    unprepared: frozenset[str] = frozenset()

    def strength(self, name: str) -> int:
        """Return the strength of the matcher of that name, 0 for an unknown one; `host` and `graph` are names too."""
        return self.strengths.get(name, UNKNOWN_STRENGTH)

    def deliberate(self, name: str) -> bool:
        """Return whether what that matcher picked was somebody's decision; False for an unknown one."""
        return name in self.decisions


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the matchers prepared for one turn, by name; a diagnostic for each that could not."""

    values: Mapping[str, Any] = field(default_factory=_nothing, hash=False)
    diagnostics: tuple[Diagnostic, ...] = ()


NOTHING_PREPARED = Prepared()


async def prepare_matchers(matchers: Matchers, index: SkillIndex, turn: Turn, seconds: float) -> Prepared:
    """Let all matchers that need to prepare for a turn do so at once, with one deadline for all of them.

    One that fails or is late costs itself alone: it is not asked in this turn, and a diagnostic says why. Never raises,
    but for the caller's own cancellation.
    """
    if not matchers.preparing:
        return NOTHING_PREPARED
    import asyncio

    tasks = {one.name: asyncio.ensure_future(_prepare(one, index, turn, seconds)) for one in matchers.preparing}
    try:
        await asyncio.wait(tasks.values(), timeout=seconds)
    finally:
        for task in tasks.values():
            task.cancel()
    values: dict[str, Any] = {}
    failures: list[Diagnostic] = []
    for matcher in matchers.preparing:
        reason = _failure(tasks[matcher.name], seconds)
        if reason is None:
            value = tasks[matcher.name].result()
            if isinstance(value, Hindered):
                failures.append(value.diagnostic)
                value = value.value
            values[matcher.name] = value
        else:
            failures.append(_unprepared(matcher, reason))
    return Prepared(MappingProxyType(values), tuple(failures))


async def make_matchers_ready(matchers: Matchers, index: SkillIndex) -> None:
    """Let the matchers that have something to make of all skills, such as their vectors, make it now, before any turn.

    A matcher has `make_ready(index)` for it. Raises what that raises.
    """
    for one in matchers.preparing:
        make_ready = getattr(one, "make_ready", None)
        if make_ready is not None:
            await make_ready(index)


async def _prepare(matcher: PreparingMatcher, index: SkillIndex, turn: Turn, seconds: float) -> Any:  # noqa: ANN401
    # Called inside the task, so that a guest that raises before its first await fails alone, too.
    return await matcher.prepare(index, turn, seconds)


def _failure(task: "asyncio.Future[Any]", seconds: float) -> str | None:
    if not task.done():
        return f"it took longer than {seconds * 1000:.0f} ms"
    if task.cancelled():
        return "it was cancelled"
    error = task.exception()
    return None if error is None else f"{type(error).__name__}: {error}"


def _unprepared(matcher: Matcher, reason: str) -> Diagnostic:
    without = "asked without it" if is_optional(matcher) else "not asked"
    message = f"the matcher {matcher.name!r} could not prepare and was {without} in this turn: {reason}"
    fix = "check what it needs, give it more time, or leave it out of `matchers`"
    return Diagnostic("matcher-unprepared", Severity.WARNING, message, fix)


def is_optional(matcher: Matcher) -> bool:
    """Return whether a matcher that prepares something can do without it."""
    return bool(getattr(matcher, "preparation_optional", False))
