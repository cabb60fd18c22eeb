"""Conversations in which a model opens skills, kept in a real ledger."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.skillweave_eval.libraries import answer, skill

import skillweave
from skillweave import Message, Role, SqliteStore, Turn, Weaver
from skillweave.selection import DEFAULT
from skillweave.sources import InCode
from skillweave_eval import Answer
from skillweave_eval.learning.keeping import Keeper, read_kept
from skillweave_eval.learning.labels import Heard, heard_in

SKILLS = (
    skill("desk-booking", "Books a desk in the office for a day, near a window where one is free."),
    skill("bread-baking", "Plans when to feed a starter, shape the dough and bake bread in a day."),
    skill("tax-return", "Fills in the form of a yearly tax return and checks every number."),
)
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC).timestamp()


class Office:
    """A host with a ledger, a keeper and three skills."""

    def __init__(self, folder: Path, *, words: bool = True, tenant: str = "") -> None:
        self.kept, self.ledger = folder / "use.jsonl", folder / "state.db"
        self.store = SqliteStore(self.ledger)
        self.keeper = Keeper(
            self.kept,
            tenant=tenant,
            words="keep" if words else "never",
            user_of=lambda turn: str(turn.memory["user"]) if "user" in turn.memory else None,
        )
        self.weaver: Weaver = skillweave.open(
            InCode(*SKILLS),
            ledger=self.store,
            matchers=(*DEFAULT, self.keeper),
            observers=(self.keeper,),
            tenant=tenant,
        )

    async def say(self, text: str, conversation: str = "c1", user: str = "ann", turn: str = "t1") -> list[str]:
        """The ids of the skills that are given, then of those that are offered."""
        woven = await self.weaver.weave(Turn(turn, conversation, Message(Role.USER, text), memory={"user": user}))
        offered = [one.skill_id for one in woven.decisions if one.outcome.value == "offered"]
        return [*(block.skill_id for block in woven.blocks), *offered]

    async def open(self, skill_id: str, conversation: str = "c1") -> None:
        await self.weaver.tools.read_skill(skill_id, conversation=conversation)

    async def heard(self) -> tuple[Heard, ...]:
        lines = read_kept(self.kept, self.keeper.tenant) if self.kept.exists() else ()
        return await heard_in(self.store, self.keeper.tenant, lines)


def heard(
    words: str = "a place for friday",
    right: Sequence[str] = ("desk-booking",),
    *,
    wrong: Sequence[str] = (),
    number: int = 0,
    user: str = "ann",
    at: float = NOON,
    probability: float = 0.5,
) -> Heard:
    """A message of a conversation of its own, of which `desk-booking` was the likeliest skill."""
    found: Answer = answer(
        offered=["desk-booking", "tax-return"],
        probabilities=[probability, probability / 2],
        query=words,
        expect=right or None,
        not_=tuple(wrong),
        any_of=True,
        id=f"c{number}/t",
    )
    return Heard(f"c{number}", at + number, found, tuple(right), tuple(wrong), user=user)
