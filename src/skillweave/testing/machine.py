"""A Hypothesis state machine that holds a ledger to every promise of spec 5.4, against a model of its own.

A host with a transcript, several turns at once, crashes, replays, edits, compaction, evictions, changed skills, time
that passes, and both placements. Inherit from ConversationMachine and give `open_store`.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from skillweave.conversation import Message, Placement, Role, Turn
from skillweave.decisions import Outcome
from skillweave.disclose.budget import Budget
from skillweave.injection import Injection
from skillweave.ledger.engagement import Lifecycle
from skillweave.ledger.port import Store
from skillweave.ledger.transitions import CLAIM_SECONDS
from skillweave.plan import CatalogMode, Settings
from skillweave.registry import Registry
from skillweave.testing.fakes import ManualClock, WordCounter
from skillweave.weaver import Weaver

SKILLS = ("alpha", "beta", "gamma", "delta")
"""`gamma` requires `delta`; the others stand alone."""
PLENTY = Budget(total=100_000, per_skill=100_000)
CONVERSATION = "c"


@dataclass(slots=True)
class _Given:
    """The model's idea of a live record: which text, by whom, confirmed or claimed until when."""

    text: str
    version: int
    turn: str
    until: float | None
    replaced: "_Given | None" = None


@dataclass(slots=True)
class _Open:
    """A two-phase turn whose host has not come back yet."""

    turn: Turn
    manager: AbstractAsyncContextManager[Injection]
    injection: Injection
    before: dict[str, _Given | None] = field(default_factory=dict)


class ConversationMachine(RuleBasedStateMachine):
    """One conversation of one host on one store; two Weavers share the store, as two replicas would."""

    def open_store(self, clock: ManualClock) -> Store:
        """A new, empty store on this clock."""
        raise NotImplementedError("a subclass gives the store")

    async def close_store(self) -> None:
        """Give back what `open_store` took."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.store = self.open_store(self.clock)
        self.versions = dict.fromkeys(SKILLS, 1)
        self.weavers = [self._weaver(), self._weaver()]
        self.history: list[Message] = []
        self.live: dict[str, _Given] = {}
        self.dead: Counter[str] = Counter()
        self.engaged: set[str] = set()
        self.turns = 0
        self.open: list[_Open] = []
        self.crashed: list[_Open] = []
        self.last: tuple[Turn, Injection] | None = None

    def _weaver(self) -> Weaver:
        registry = Registry()
        for skill_id in SKILLS:
            registry.register(self._definition(skill_id))
        settings = Settings(budget=PLENTY, max_skills=10, catalog=CatalogMode.NEVER, lifecycle=Lifecycle.CONVERSATION)
        return Weaver(registry, self.store, settings, counter=WordCounter())

    def _definition(self, skill_id: str) -> dict[str, object]:
        relations = [{"kind": "requires", "skill": "delta"}] if skill_id == "gamma" else []
        return {
            "id": skill_id,
            "name": skill_id.title(),
            "description": f"What {skill_id} is for",
            "text": {"instructions": f"How to do {skill_id}, edition {self.versions[skill_id]}."},
            "relations": relations,
        }

    # -- what the host does -------------------------------------------------------------------------------------

    @initialize()
    def greet(self) -> None:
        self.history.append(Message(Role.USER, "hello"))

    @rule(
        named=st.sets(st.sampled_from(SKILLS)),
        tells=st.booleans(),
        placement=st.sampled_from(Placement),
        replica=st.integers(0, 1),
        appends=st.booleans(),
    )
    def one_turn(
        self,
        named: set[str],
        tells: bool,
        placement: Placement,
        replica: int,
        appends: bool,
    ) -> None:
        """A whole turn; a host that tells its transcript may still fail to append what it was given."""
        turn = self._turn(named, tells, placement)
        injection = self.runner.run(self.weavers[replica].weave(turn))
        self._check(turn, injection)
        self._settle(turn, injection, None)
        if appends or not tells:
            self.history += injection.messages
        self.last = (turn, injection)

    @rule(named=st.sets(st.sampled_from(SKILLS), min_size=1), tells=st.booleans(), replica=st.integers(0, 1))
    def begin_delivery(self, named: set[str], tells: bool, replica: int) -> None:
        turn = self._turn(named, tells, Placement.HISTORY)
        manager = self.weavers[replica].delivery(turn)
        injection = self.runner.run(_enter(manager))
        self._check(turn, injection)
        self._settle(turn, injection, self.clock.now + CLAIM_SECONDS)
        self.open.append(_Open(turn, manager, injection))

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 20))
    def delivery_arrives(self, which: int) -> None:
        opened = self.open.pop(which % len(self.open))
        self.last = None
        self.history += opened.injection.messages
        self.runner.run(_leave(opened.manager, None))
        for given in self.live.values():
            if given.turn == opened.turn.id and given.until is not None:
                given.until = None

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 20))
    def delivery_fails(self, which: int) -> None:
        opened = self.open.pop(which % len(self.open))
        self.last = None
        self.runner.run(_leave(opened.manager, RuntimeError("the model did not answer")))
        self._withdraw(lambda given: given.turn == opened.turn.id and given.until is not None)

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 20), arrived=st.booleans())
    def the_host_crashes(self, which: int, arrived: bool) -> None:
        """Nobody confirms or releases; the text may have reached the history all the same."""
        opened = self.open.pop(which % len(self.open))
        self.crashed.append(opened)
        if arrived:
            self.history += opened.injection.messages

    @precondition(lambda self: self.last is not None)
    @rule(replica=st.integers(0, 1))
    def replay(self, replica: int) -> None:
        """The same request again, with the transcript of then: the reply had been lost."""
        if self.last is None:
            return
        turn, first = self.last
        state = self.runner.run(self.weavers[replica].state(CONVERSATION))
        if state.last_turn not in (turn.id, ""):
            return
        again = self.runner.run(self.weavers[replica].weave(turn))
        if self._undisturbed(turn, first):
            assert again.messages == first.messages
            assert again.instructions == first.instructions
            assert self.runner.run(self.weavers[replica].state(CONVERSATION)) == state

    @precondition(lambda self: len(self.history) > 1)
    @rule(keep=st.sets(st.integers(0, 12)))
    def compaction(self, keep: set[int]) -> None:
        self.history = [message for place, message in enumerate(self.history) if place in keep]
        self.last = None

    @precondition(lambda self: any(message.id for message in self.history))
    @rule(which=st.integers(0, 20))
    def an_edit_damages_a_block(self, which: int) -> None:
        blocks = [place for place, message in enumerate(self.history) if message.id]
        place = blocks[which % len(blocks)]
        damaged = replace(self.history[place], content=self.history[place].text[:-5])
        self.history[place] = damaged
        self.last = None

    @rule(skill_id=st.sampled_from(SKILLS), replica=st.integers(0, 1))
    def eviction(self, skill_id: str, replica: int) -> None:
        known = self.runner.run(self.weavers[replica].evict(CONVERSATION, skill_id))
        given = self.live.pop(skill_id, None)
        assert known == (given is not None)
        if given is not None:
            self.dead[given.text] += 1
        self.last = None

    @rule(skill_id=st.sampled_from(SKILLS))
    def a_skill_is_edited(self, skill_id: str) -> None:
        self.versions[skill_id] += 1
        for weaver in self.weavers:
            weaver.registry.register(self._definition(skill_id))
        self.last = None

    @rule(seconds=st.sampled_from([1.0, CLAIM_SECONDS - 2, CLAIM_SECONDS]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.last = None

    # -- what must hold -----------------------------------------------------------------------------------------

    @invariant()
    def a_key_has_one_record(self) -> None:
        state = self.runner.run(self.weavers[0].state(CONVERSATION))
        keys = [record.key for record in state.records]
        assert len(keys) == len(set(keys))

    def _check(self, turn: Turn, injection: Injection) -> None:
        self._expire()
        wanted = self._wanted(turn)
        if turn.placement is Placement.CALL:
            for skill_id in wanted:
                assert self._edition(skill_id) in injection.instructions, "everything in force is in every call"
            assert injection.messages == ()
            return
        outcomes = {decision.skill_id: decision.outcome for decision in injection.decisions}
        for skill_id in wanted:
            expected = self._expected(skill_id, turn)
            given = sum(self._edition(skill_id) in message.text for message in injection.messages)
            assert given == (expected == "given"), (skill_id, expected, outcomes[skill_id])
            if expected == "held":
                assert outcomes[skill_id] is Outcome.HELD
        assert len(injection.messages) == len(injection.skills), "no skill is given twice in one turn"

    def _expected(self, skill_id: str, turn: Turn) -> str:
        """What spec 5.4 promises for this skill: given, there, or held."""
        live = self.live.get(skill_id)
        seen = self._seen(turn)
        if live is not None and live.version == self.versions[skill_id]:
            if seen is not None and seen[live.text] > 0:
                return "there"
            if live.until is not None:
                return "held"
            if seen is None:
                return "there"
        return "given" if self._adoptable(skill_id, turn) is None else "there"

    def _adoptable(self, skill_id: str, turn: Turn) -> str | None:
        """A text in the transcript beyond those that records and superseded ones stand for."""
        seen = self._seen(turn)
        if seen is None:
            return None
        taken = Counter(given.text for given in self.live.values() if seen[given.text] > 0)
        for text, count in self.dead.items():
            taken[text] += min(count, max(0, seen[text] - taken[text]))
        found = [t for t, count in seen.items() if count > taken[t] and t.endswith(self._edition(skill_id))]
        return min(found, key=len, default=None)

    def _settle(self, turn: Turn, injection: Injection, until: float | None) -> None:
        """Follow in the model what the turn did."""
        wanted = self._wanted(turn)
        self.engaged |= set(wanted)
        adopted = {skill_id: text for skill_id in wanted if (text := self._adoptable(skill_id, turn)) is not None}
        seen = self._seen(turn)
        if seen is not None:
            self._lose(seen)
        if turn.placement is Placement.CALL:
            return
        outcomes = {decision.skill_id: decision.outcome for decision in injection.decisions}
        for skill_id, text in adopted.items():
            if outcomes[skill_id] is Outcome.ADOPTED:
                self._enter(skill_id, _Given(text, self.versions[skill_id], turn.id, None))
        for block in injection.blocks:
            self._enter(block.skill_id, _Given(block.text, self.versions[block.skill_id], turn.id, until))

    def _enter(self, skill_id: str, given: _Given) -> None:
        old = self.live.get(skill_id)
        if old is not None:
            self.dead[old.text] += 1
            given.replaced = old
        self.live[skill_id] = given

    def _lose(self, seen: Counter[str]) -> None:
        for skill_id, given in list(self.live.items()):
            if seen[given.text] > 0:
                given.until = None
            elif given.until is None:
                del self.live[skill_id]
        taken = Counter(given.text for given in self.live.values() if seen[given.text] > 0)
        for text in list(self.dead):
            self.dead[text] = min(self.dead[text], max(0, seen[text] - taken[text]))
        self.dead = +self.dead

    def _expire(self) -> None:
        self._withdraw(lambda given: given.until is not None and self.clock.now >= given.until)

    def _withdraw(self, condition: Callable[[_Given], bool]) -> None:
        for skill_id, given in list(self.live.items()):
            if not condition(given):
                continue
            del self.live[skill_id]
            old = given.replaced
            while old is not None and self.dead[old.text] > 0:
                self.dead[old.text] -= 1
                if not condition(old):
                    self.live[skill_id] = old
                    break
                old = old.replaced

    def _undisturbed(self, turn: Turn, first: Injection) -> bool:
        """Whether what the first run gave still stands as its own, so that a replay must repeat it."""
        if turn.placement is Placement.CALL:
            return True
        return all(block.skill_id in self.live and self.live[block.skill_id].turn == turn.id for block in first.blocks)

    def _turn(self, named: set[str], tells: bool, placement: Placement) -> Turn:
        self.turns += 1
        message = Message(Role.USER, f"message {self.turns}")
        self.history.append(message)
        return Turn(
            id=f"turn-{self.turns}",
            conversation=CONVERSATION,
            message=message,
            transcript=tuple(self.history) if tells else None,
            named=tuple(sorted(named)),
            placement=placement,
        )

    def _wanted(self, turn: Turn) -> list[str]:
        wanted = self.engaged | set(turn.named)
        return sorted(wanted | ({"delta"} if "gamma" in wanted else set()))

    def _edition(self, skill_id: str) -> str:
        return f"How to do {skill_id}, edition {self.versions[skill_id]}."

    def _seen(self, turn: Turn) -> Counter[str] | None:
        return None if turn.transcript is None else _block_texts(turn.transcript)

    def teardown(self) -> None:
        """End what is still open."""
        for opened in (*self.open, *self.crashed):
            self.runner.run(_leave(opened.manager, None))
        self.runner.run(self.close_store())
        self.runner.close()


def _block_texts(messages: Sequence[Message]) -> Counter[str]:
    return Counter(message.text for message in messages if message.text.startswith("==="))


async def _enter(manager: AbstractAsyncContextManager[Injection]) -> Injection:
    return await manager.__aenter__()


async def _leave(manager: AbstractAsyncContextManager[Injection], error: Exception | None) -> None:
    if error is None:
        await manager.__aexit__(None, None, None)
        return
    try:
        await manager.__aexit__(type(error), error, None)
    except RuntimeError as raised:
        if raised is not error:
            raise
