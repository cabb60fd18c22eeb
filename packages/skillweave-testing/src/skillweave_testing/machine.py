"""A Hypothesis state machine that holds a ledger to every promise of spec 5.4 and 5.5, against a model of its own.

A host with a transcript, several turns at once, crashes, replays, edits, compaction, evictions, changed skills, time
that passes, both placements, every lifecycle, skills that leave, and people who decide at checkpoints. Inherit from
ConversationMachine and give `open_store`.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from enum import StrEnum

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from skillweave import (
    ApprovalVerdict,
    Budget,
    CatalogMode,
    Injection,
    Message,
    Outcome,
    Placement,
    Registry,
    Role,
    Settings,
    Store,
    Turn,
    Weaver,
)
from skillweave.ledger import CLAIM_SECONDS, Delivery, Lifecycle, skill_key
from skillweave.turns import Left
from skillweave_testing.conversation_model import (
    CHECKPOINTS,
    LIFECYCLES,
    REQUIRES,
    SKILLS,
    TOOL,
    EngagementModel,
    Given,
    GivenTexts,
)
from skillweave_testing.fakes import ManualClock, WordCounter

PLENTY = Budget(total=100_000, per_skill=100_000)
CONVERSATION = "c"
SETTINGS = Settings(
    budget=PLENTY,
    max_skills=10,
    catalog=CatalogMode.NEVER,
    lifecycle=Lifecycle.CONVERSATION,
    lifecycles=LIFECYCLES,
)


class CheckedConversation(RuleBasedStateMachine):
    """The conversation and its history; two Weavers share the store, as two replicas would."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.store = self.open_store(self.clock)
        self.texts = GivenTexts()
        self.model = EngagementModel()
        self.weavers = [self._weaver(), self._weaver()]
        self.history: list[Message] = []
        self.turns = 0

    def open_store(self, clock: ManualClock) -> Store:
        """A new, empty store on this clock."""
        raise NotImplementedError("a subclass gives the store")

    async def close_store(self) -> None:
        """Give back what `open_store` took."""

    def teardown(self) -> None:
        """Close the store."""
        self.runner.run(self.close_store())
        self.runner.close()

    def _weaver(self) -> Weaver:
        registry = Registry()
        for skill_id in SKILLS:
            registry.register(self.definition(skill_id))
        return Weaver(registry, self.store, SETTINGS, counter=WordCounter())

    def definition(self, skill_id: str) -> dict[str, object]:
        """The skill as it is now."""
        name, before = CHECKPOINTS.get(skill_id, ("", None))
        return {
            "id": skill_id,
            "name": skill_id.title(),
            "description": f"What {skill_id} is for",
            "text": {"instructions": self.edition(skill_id)},
            "relations": [{"kind": "requires", "skill": REQUIRES[skill_id]}] if skill_id in REQUIRES else [],
            "checkpoints": [{"name": name, "before": before, "scope": "conversation"}] if name else [],
        }

    def follow(self, turn: Turn, injection: Injection, until: float | None) -> None:
        """Check what the turn did, then do the same in the model."""
        self.texts.expire(self.clock.now)
        self.model.begin(turn)
        wanted = self.model.wanted()
        self._check_texts(turn, injection, wanted)
        assert {one.skill_id for one in injection.checkpoints} == self.model.pending()
        assert injection.waits == any(map(self.model.waits, wanted))
        assert injection.tools.authorize(TOOL).ruling is self.model.ruling()
        self._settle(turn, injection, wanted, until)

    def _check_texts(self, turn: Turn, injection: Injection, wanted: Sequence[str]) -> None:
        assert set(injection.skills) <= set(wanted), "nothing is given that is not engaged"
        if turn.placement is Placement.CALL:
            for skill_id in wanted:
                assert self.edition(skill_id) in injection.instructions, "everything engaged is in every call"
            assert injection.messages == ()
            return
        outcomes = {decision.skill_id: decision.outcome for decision in injection.decisions}
        for skill_id in wanted:
            edition = self.edition(skill_id)
            expected = self.texts.expected(skill_id, self.model.versions[skill_id], edition, _seen(turn))
            given = sum(edition in message.text for message in injection.messages)
            assert given == (expected == "given"), (skill_id, expected, outcomes[skill_id])
            if expected == "held":
                assert outcomes[skill_id] is Outcome.HELD
        assert len(injection.messages) == len(injection.skills), "no skill is given twice in one turn"

    def _settle(self, turn: Turn, injection: Injection, wanted: Sequence[str], until: float | None) -> None:
        seen, versions = _seen(turn), self.model.versions
        adoptable = {one: self.texts.adoptable(self.edition(one), seen) for one in wanted}
        if seen is not None:
            self.texts.lose(seen)
        if turn.placement is Placement.CALL:
            return
        outcomes = {decision.skill_id: decision.outcome for decision in injection.decisions}
        for skill_id, text in adoptable.items():
            if text is not None and outcomes[skill_id] is Outcome.ADOPTED:
                self.texts.enter(Given(skill_id, text, versions[skill_id], turn.id, None))
        for block in injection.blocks:
            self.texts.enter(Given(block.skill_id, block.text, versions[block.skill_id], turn.id, until))

    def may_drop(self, left: Left, obeys: bool) -> None:
        """The host takes out what it is told it may, or does not; no text that is still wanted is among it."""
        ids = {drop.message_id for drop in left.drops}
        gone = [message.text for message in self.history if message.id in ids]
        wanted = self.model.wanted()
        assert all(given.text not in gone for given in self.texts.live.values() if given.skill_id in wanted)
        if obeys:
            self.history = [message for message in self.history if message.id not in ids]

    def undisturbed(self, turn: Turn, first: Injection) -> bool:
        """Whether what the first run gave still stands as its own, so that a replay must repeat it."""
        if turn.placement is Placement.CALL:
            return True
        live = self.texts.live
        return all(block.skill_id in live and live[block.skill_id].turn == turn.id for block in first.blocks)

    def turn(self, named: set[str], role: Role, tells: bool, placement: Placement) -> Turn:
        """The next turn, whose message joins the history; `tells` says whether the host shows its transcript."""
        self.turns += 1
        message = Message(role, f"message {self.turns}")
        self.history.append(message)
        return Turn(
            id=f"turn-{self.turns}",
            conversation=CONVERSATION,
            message=message,
            transcript=tuple(self.history) if tells else None,
            named=tuple(sorted(named)),
            placement=placement,
        )

    def edition(self, skill_id: str) -> str:
        """The words by which the skill's text of now is known."""
        return f"How to do {skill_id}, edition {self.model.versions[skill_id]}."


def _seen(turn: Turn) -> Counter[str] | None:
    if turn.transcript is None:
        return None
    return Counter(message.text for message in turn.transcript if message.text.startswith("==="))


@dataclass(slots=True)
class _Open:
    """A two-phase turn whose host has not come back yet."""

    turn: Turn
    manager: AbstractAsyncContextManager[Injection]
    injection: Injection


class _Leaving(StrEnum):
    """How a skill goes without a turn."""

    EVICTED = "evicted"
    DISENGAGED = "disengaged"
    UNLOADED = "unloaded"


class ConversationMachine(CheckedConversation):
    """One conversation of one host on one store: whatever happens, in whatever order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[_Open] = []
        self.waiting: list[_Open] = []
        self.crashed: list[_Open] = []
        self.last: tuple[Turn, Injection] | None = None

    def teardown(self) -> None:
        """End what is still open."""
        for opened in (*self.open, *self.crashed):
            self.runner.run(_leave(opened.manager, None))
        super().teardown()

    # -- what the host does -------------------------------------------------------------------------------------

    @initialize()
    def greet(self) -> None:
        self.history.append(Message(Role.USER, "hello"))

    @rule(
        named=st.sets(st.sampled_from(SKILLS)),
        role=st.sampled_from([Role.USER, Role.USER, Role.TOOL]),
        tells=st.booleans(),
        placement=st.sampled_from(Placement),
        replica=st.integers(0, 1),
        appends=st.booleans(),
    )
    def one_turn(
        self, named: set[str], role: Role, tells: bool, placement: Placement, replica: int, appends: bool
    ) -> None:
        """A whole turn; a host that tells its transcript may still fail to append what it was given."""
        turn = self.turn(named, role, tells, placement)
        injection = self.runner.run(self.weavers[replica].weave(turn))
        self.follow(turn, injection, None)
        if appends or not tells:
            self.history += injection.messages
        self.last = (turn, injection)

    @rule(named=st.sets(st.sampled_from(SKILLS), min_size=1), tells=st.booleans(), replica=st.integers(0, 1))
    def begin_delivery(self, named: set[str], tells: bool, replica: int) -> None:
        turn = self.turn(named, Role.USER, tells, Placement.HISTORY)
        manager = self.weavers[replica].delivery(turn)
        injection = self.runner.run(_enter(manager))
        self.follow(turn, injection, self.clock.now + CLAIM_SECONDS)
        self.open.append(_Open(turn, manager, injection))

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 20), arrived=st.booleans())
    def a_delivery_ends(self, which: int, arrived: bool) -> None:
        opened = self._ended(self.open, which)
        if arrived:
            self.history += opened.injection.messages
            self.runner.run(_leave(opened.manager, None))
            self.texts.confirm(opened.turn.id)
        else:
            self.runner.run(_leave(opened.manager, RuntimeError("the model did not answer")))
            self.texts.release(opened.turn.id)

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 20), arrived=st.booleans())
    def the_host_crashes(self, which: int, arrived: bool) -> None:
        """Nobody confirms or releases; the text may have reached the history all the same."""
        opened = self._ended(self.open, which)
        self.crashed.append(opened)
        if arrived:
            self.history += opened.injection.messages

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 20), replica=st.integers(0, 1), raises=st.booleans())
    def a_turn_is_put_on_hold(self, which: int, replica: int, raises: bool) -> None:
        """The host leaves the delivery, and what was claimed waits for a person."""
        opened = self._ended(self.open, which)
        keys = self.runner.run(self.weavers[replica].approvals.hold(CONVERSATION, opened.turn.id))
        assert {key.removeprefix("skill:") for key in keys} == self.texts.hold(opened.turn.id)
        self.runner.run(_leave(opened.manager, RuntimeError("waiting for a person") if raises else None))
        self.waiting.append(opened)

    @precondition(lambda self: self.waiting)
    @rule(which=st.integers(0, 20), replica=st.integers(0, 1), arrived=st.booleans())
    def a_waiting_turn_ends(self, which: int, replica: int, arrived: bool) -> None:
        """Any process may finish what another one began."""
        opened = self._ended(self.waiting, which)
        weaver = self.weavers[replica]
        if arrived:
            self.history += opened.injection.messages
            known = self.runner.run(weaver.confirm(CONVERSATION, opened.turn.id))
            assert known == self.texts.confirm(opened.turn.id)
        else:
            known = self.runner.run(weaver.release(CONVERSATION, opened.turn.id))
            assert known == self.texts.release(opened.turn.id)

    @precondition(lambda self: self.last is not None)
    @rule(replica=st.integers(0, 1))
    def replay(self, replica: int) -> None:
        """A request comes again with the transcript of then, because the reply was lost."""
        if self.last is None:
            return
        turn, first = self.last
        state = self.runner.run(self.weavers[replica].ledger.state(CONVERSATION))
        if state.last_turn not in (turn.id, ""):
            return
        again = self.runner.run(self.weavers[replica].weave(turn))
        if self.undisturbed(turn, first):
            assert again.messages == first.messages
            assert again.instructions == first.instructions
            assert again.tools == first.tools
            assert self.runner.run(self.weavers[replica].ledger.state(CONVERSATION)) == state

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

    @rule(skill_id=st.sampled_from(SKILLS))
    def a_skill_is_edited(self, skill_id: str) -> None:
        self.model.versions[skill_id] += 1
        for weaver in self.weavers:
            weaver.skills.registry.register(self.definition(skill_id))
        self.last = None

    @rule(seconds=st.sampled_from([1.0, CLAIM_SECONDS - 2, CLAIM_SECONDS]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.last = None

    @rule(
        skill_id=st.sampled_from(SKILLS),
        how=st.sampled_from(_Leaving),
        replica=st.integers(0, 1),
        obeys=st.booleans(),
    )
    def a_skill_is_to_go(self, skill_id: str, how: _Leaving, replica: int, obeys: bool) -> None:
        weaver = self.weavers[replica]
        self.last = None
        if how is _Leaving.EVICTED:
            assert self.runner.run(weaver.evict(CONVERSATION, skill_id)) == self.texts.evict(skill_id)
            return
        leave = weaver.ledger.disengage if how is _Leaving.DISENGAGED else weaver.ledger.unload
        left = self.runner.run(leave(CONVERSATION, skill_id))
        assert left.disengaged == (self.model.engaged.pop(skill_id, None) is not None)
        assert left.needed_by == self.model.needing(skill_id)
        assert bool(left.evicted) == (how is _Leaving.UNLOADED and self.texts.evict(skill_id))
        self.may_drop(left, obeys)

    @rule(skill_id=st.sampled_from(SKILLS), replica=st.integers(0, 1))
    def the_host_marks_a_skill(self, skill_id: str, replica: int) -> None:
        """It says that it has the skill: a claim is delivered then; of any other skill an eviction ends the mark."""
        weaver, other = self.weavers[replica], self.weavers[1 - replica]
        self.last = None
        before = self.runner.run(weaver.ledger.state(CONVERSATION))
        marked = self.runner.run(weaver.ledger.mark(CONVERSATION, skill_id))
        assert (marked.key, marked.state) == (skill_key(skill_id), Delivery.GIVEN)
        after = self.runner.run(other.ledger.state(CONVERSATION))
        assert self.runner.run(other.ledger.mark(CONVERSATION, skill_id)) == marked, "again changes nothing"
        assert self.runner.run(weaver.ledger.state(CONVERSATION)) == after
        if self.texts.mark(skill_id):
            return
        assert not marked.known
        assert self.runner.run(weaver.evict(CONVERSATION, skill_id))
        evicted = self.runner.run(weaver.ledger.state(CONVERSATION))
        assert replace(evicted, revision=before.revision) == before, "nothing is left of it"

    @rule(
        skill_id=st.sampled_from(sorted(CHECKPOINTS)),
        verdict=st.sampled_from([*ApprovalVerdict, None]),
        replica=st.integers(0, 1),
        obeys=st.booleans(),
    )
    def a_person_decides(self, skill_id: str, verdict: ApprovalVerdict | None, replica: int, obeys: bool) -> None:
        """A verdict, or None: the person withdraws what was said."""
        weaver, (name, _) = self.weavers[replica], CHECKPOINTS[skill_id]
        self.last = None
        if verdict is None:
            withdrawn = self.runner.run(weaver.approvals.reconsider(CONVERSATION, skill_id, name))
            assert len(withdrawn) == self.model.withdraw(skill_id)
            return
        judgement = self.runner.run(weaver.approvals.decide(CONVERSATION, skill_id, name, verdict, by="Zoë"))
        self.model.decide(skill_id, verdict)
        if verdict is ApprovalVerdict.REJECTED:
            self.texts.reject(skill_id)
        assert set(judgement.resumed) == self.texts.resume(self.model.waits, self.clock.now + CLAIM_SECONDS)
        if judgement.left is not None:
            self.may_drop(judgement.left, obeys)

    # -- what must hold -----------------------------------------------------------------------------------------

    @invariant()
    def the_state_is_what_the_model_says(self) -> None:
        state = self.runner.run(self.weavers[0].ledger.state(CONVERSATION))
        keys = [record.key for record in state.records]
        assert len(keys) == len(set(keys)), "a key has one record"
        assert {entry.skill_id: entry.idle for entry in state.engaged} == self.model.engaged

    def _ended(self, turns: list[_Open], which: int) -> _Open:
        self.last = None
        return turns.pop(which % len(turns))


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
