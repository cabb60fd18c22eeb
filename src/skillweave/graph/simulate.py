"""Playing a script through a graph, without a model (spec 3.6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skillweave.conversation import Message, Role
from skillweave.graph.advance import advance, at
from skillweave.graph.context import MoveContext
from skillweave.graph.cursor import Cursor
from skillweave.graph.graph import SkillGraph
from skillweave.graph.move import Move
from skillweave.graph.scored import ScoredGraph
from skillweave.graph.scoring import EntryScoring
from skillweave.graph.script import Expect, Script, Step, read_script


@dataclass(frozen=True, slots=True)
class Simulated:
    """What came of a step: the move, the skill that the cursor is on after it, None while nothing is begun.

    `leaf` is where a tree leads, None for other graphs.
    """

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

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: the keys of the move, and `skill`, `expect`, `held`; of a tree also `leaf`."""
        leaf = {} if self.leaf is None else {"leaf": self.leaf}
        expect = None if self.expect is None else self.expect.to_dict()
        return {**self.move.to_dict(), **leaf, "skill": self.skill, "expect": expect, "held": self.held}


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

    def to_dict(self) -> dict[str, Any]:
        """The JSON form `{ok, moves}`."""
        return {"ok": self.ok, "moves": [step.to_dict() for step in self.steps]}


async def simulate(graph: SkillGraph, script: Script) -> Simulation:
    """Play the steps one after the other, as a conversation of its own.

    Words of the user are the model's call 1, every other step is the next call: the tool results of the step before
    it, or, where there is nothing but a pick, what the model reads between two calls. The history has a message for
    what the user says, one for each call of the model and one for each result. Entries and intents are scored where the
    graph has a scorer.

    Raises InvalidGraph for a script that cannot be read, and what the scorer raises.
    """
    played = _Conversation(graph)
    steps = [await played.play(step) for step in read_script(script)]
    return Simulation(tuple(steps), played.cursor)


class _Conversation:
    """Where a simulated conversation stands."""

    def __init__(self, graph: SkillGraph) -> None:
        self.cursor: Cursor | None = None
        self._graph = graph
        self._history: list[Message] = []
        self._user = ""
        self._iteration = 0
        self._turns = 0

    async def play(self, step: Step) -> Simulated:
        context = at(self.cursor, self._moment(step), self._graph.compiled)
        scoring = await self._scored(context)
        self._turns += 1
        move, self.cursor = advance(self._graph.compiled, self.cursor, context, f"step {self._turns}", scoring)
        leaf = self._graph.leaf(context, scoring)
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

    async def _scored(self, context: MoveContext) -> EntryScoring | None:
        return await self._graph.score_entries(context) if isinstance(self._graph, ScoredGraph) else None
