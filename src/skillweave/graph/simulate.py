"""A script of what happens in a conversation, and how it is played through a graph without a model (spec 3.6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from skillweave.conversation import Message, Role, ToolResult
from skillweave.graph.compiled import CompiledGraph
from skillweave.graph.conditions import EvalContext
from skillweave.graph.data.context import RESULT_KEYS, read_picks, read_result
from skillweave.graph.entry_scoring import score_entries
from skillweave.graph.move import By, Cursor, Move, MoveContext
from skillweave.graph.moving import advance, at, leaf_at
from skillweave.graph.shape import (
    hint,
    inside,
    is_null,
    require_items,
    require_known_keys,
    require_mapping,
    require_string,
    require_text,
    shown,
    wrong,
)

MOST_STEPS = 10_000
STEP_KEYS = ("user", *RESULT_KEYS, "tools", "pick", "expect")
EXPECT_KEYS = ("to", "by")

_WAYS = tuple(by.value for by in By)
_FORM = "write {user: TEXT}, {tool: NAME, result: ...}, {tools: [...]} or {pick: ID}, with `expect: ID` to test it"
_EXPECT = "write a skill's id, null for none, or {to: ID, by: route}"


@dataclass(frozen=True, slots=True)
class Expect:
    """Where a step should lead: `to` (None for nowhere) unless `any_to`, and by which cause (None for any)."""

    to: str | None = None
    by: By | None = None
    any_to: bool = False

    def holds(self, to: str | None, by: By) -> bool:
        """Whether it is as expected."""
        return (self.any_to or to == self.to) and (self.by is None or by is self.by)

    def to_dict(self) -> dict[str, str | None]:
        """The JSON form `{to, by}`, without what does not matter."""
        to = {} if self.any_to else {"to": self.to}
        return {**to, **({} if self.by is None else {"by": self.by.value})}


@dataclass(frozen=True, slots=True)
class Step:
    """What the user says, None for nothing, what tools answer, what the model picks; all may come in one step."""

    user: str | None = None
    tools: tuple[ToolResult, ...] = ()
    picks: tuple[str, ...] = ()
    expect: Expect | None = None


Script: TypeAlias = Sequence[Step | ToolResult | str | Mapping[str, object]] | Mapping[str, object]
"""Steps as values or as data: a text is what the user says; as a mapping `{steps: [...]}`."""


def read_script(script: Script) -> tuple[Step, ...]:
    """The steps of a script; raises InvalidGraph naming the place, as `steps[2].expect.by`, the rule and the fix."""
    steps: object = script
    if isinstance(script, Mapping):
        require_known_keys(script, ("steps",), "the script")
        steps = script.get("steps", ())
    items = require_items(steps, "steps", _FORM, MOST_STEPS, "split the script")
    return tuple(_step(step, inside("steps", number)) for number, step in enumerate(items))


def _step(step: object, place: str) -> Step:
    if isinstance(step, Step):
        return step
    if isinstance(step, ToolResult):
        return Step(tools=(step,))
    if isinstance(step, str) and not is_null(step):
        return Step(user=str(step))
    data = require_mapping(step, place, _FORM)
    require_known_keys(data, STEP_KEYS, place)
    said = "write what the user says"
    return Step(
        user=require_string(data["user"], inside(place, "user"), said) if "user" in data else None,
        tools=_tools(data, place),
        picks=read_picks(data["pick"], inside(place, "pick")) if "pick" in data else (),
        expect=_expect(data["expect"], inside(place, "expect")) if "expect" in data else None,
    )


def _tools(data: Mapping[str, object], place: str) -> tuple[ToolResult, ...]:
    single = {key: data[key] for key in RESULT_KEYS if key in data}
    if "tools" not in data:
        return (read_result(single, place),) if single else ()
    if single:
        fix = "put every result into `tools`"
        raise wrong(place, f"`tools` and `{next(iter(single))}` stand beside each other", fix)
    results = data["tools"]
    if not isinstance(results, list | tuple):
        raise wrong(inside(place, "tools"), f"it is {shown(results)}, and a list is expected", _FORM)
    return tuple(read_result(one, inside(inside(place, "tools"), number)) for number, one in enumerate(results))


def _expect(value: object, place: str) -> Expect:
    if is_null(value) or isinstance(value, str):
        return Expect(_id(value, place))
    data = require_mapping(value, place, _EXPECT)
    require_known_keys(data, EXPECT_KEYS, place)
    if not data:
        raise wrong(place, "nothing is expected", _EXPECT)
    return Expect(
        to=_id(data["to"], inside(place, "to")) if "to" in data else None,
        by=_by(data["by"], inside(place, "by")) if "by" in data else None,
        any_to="to" not in data,
    )


def _id(value: object, place: str) -> str | None:
    return None if is_null(value) else require_text(value, place, _EXPECT)


def _by(value: object, place: str) -> By:
    name = require_text(value, place, f"write one of {', '.join(_WAYS)}")
    if name not in _WAYS:
        fix = f"{hint(name, _WAYS)}write one of {', '.join(_WAYS)}"
        raise wrong(place, f"nothing moves by {shown(name)}", fix)
    return By(name)


@dataclass(frozen=True, slots=True)
class Simulated:
    """Result of one step: the move, the skill after it (None before the first entry), and the `leaf` of a tree."""

    step: Step
    move: Move
    skill: str | None
    leaf: str | None = None

    @property
    def landed(self) -> str | None:
        """Where the step led: in a tree the leaf, else the skill that the conversation is in."""
        return self.move.to if self.leaf is None else self.leaf

    @property
    def expect(self) -> Expect | None:
        """What the script expects of the step, None where it expects nothing."""
        return self.step.expect

    @property
    def held(self) -> bool | None:
        """Whether that came true; None where nothing is expected."""
        return None if self.expect is None else self.expect.holds(self.landed, self.move.by)


@dataclass(frozen=True, slots=True)
class Simulation:
    """What came of a script, step by step, and the cursor at its end."""

    steps: tuple[Simulated, ...] = ()
    cursor: Cursor | None = None

    @property
    def ok(self) -> bool:
        """Whether every expectation came true."""
        return all(step.held is not False for step in self.steps)

    @property
    def moves(self) -> tuple[Move, ...]:
        """The move of each step."""
        return tuple(step.move for step in self.steps)

    def __iter__(self) -> Iterator[Simulated]:
        return iter(self.steps)


async def play(compiled: CompiledGraph, script: Script) -> Simulation:
    """Plays the steps as a conversation of its own, scored where the graph has a scorer.

    Words of the user are the model's call 1, each other step the next call; a pick alone comes between two calls.
    Raises InvalidGraph for a bad script, and what the scorer raises.
    """
    played = _Conversation(compiled)
    steps = [await played.play(step) for step in read_script(script)]
    return Simulation(tuple(steps), played.cursor)


class _Conversation:
    """Where a simulated conversation stands."""

    def __init__(self, compiled: CompiledGraph) -> None:
        self.cursor: Cursor | None = None
        self._compiled = compiled
        self._history: list[Message] = []
        self._user = ""
        self._iteration = 0
        self._turns = 0

    async def play(self, step: Step) -> Simulated:
        context = at(self.cursor, self._moment(step), self._compiled)
        scoring = await score_entries(self._compiled, context) if self._compiled.has_scorer else None
        self._turns += 1
        ctx = EvalContext(self._compiled.lexicon, self._compiled.declared.scales, context, scoring)
        move, self.cursor = advance(self._compiled, self.cursor, ctx, f"step {self._turns}")
        leaf = leaf_at(self._compiled, context, scoring)
        skill = None if self.cursor is None else self.cursor.skill
        return Simulated(step, move, skill, None if leaf is None else leaf.skill)

    def _moment(self, step: Step) -> MoveContext:
        if step.user is None:
            self._iteration += 1
            if self._history:
                self._history.append(Message(Role.ASSISTANT, None))
        else:
            self._iteration = 1
            self._user = step.user
        self._history += (Message(Role.TOOL, result.content) for result in step.tools)
        if step.user is not None:
            self._history.append(Message(Role.USER, step.user))
        return MoveContext(
            user=self._user,
            iteration=self._iteration,
            history=tuple(self._history),
            tools=step.tools,
            picks=step.picks,
            between=bool(step.picks) and step.user is None and not step.tools,
        )
