"""One conversation of one host, each turn of which is checked against the models of what should happen."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from hypothesis.stateful import RuleBasedStateMachine

from skillweave.conversation import Message, Placement, Role, Turn
from skillweave.decisions import Outcome
from skillweave.disclose.fit import Budget
from skillweave.injection import Injection
from skillweave.registry import Registry
from skillweave.settings import CatalogMode, Settings
from skillweave.state.port import Store
from skillweave.state.state import Lifecycle
from skillweave.testing.fakes import ManualClock, WordCounter
from skillweave.testing.given_texts import Given, GivenTexts
from skillweave.testing.in_force import CHECKPOINTS, LIFECYCLES, REQUIRES, SKILLS, TOOL, InForceModel
from skillweave.weaver import Weaver
from skillweave.weaver.verdicts import Left

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
        self.model = InForceModel()
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
            "checkpoints": [{"name": name, "before": before}] if name else [],
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
        assert set(injection.skills) <= set(wanted), "nothing is given that is not in force"
        if turn.placement is Placement.CALL:
            for skill_id in wanted:
                assert self.edition(skill_id) in injection.instructions, "everything in force is in every call"
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
