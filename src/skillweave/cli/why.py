"""`skillweave why`: the kept decisions of a conversation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.ledger import existing, opened, unknown_conversation
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Page

if TYPE_CHECKING:
    from skillweave.cli.output.turn import Explained
    from skillweave.state.port import Logged

EXAMPLES = {
    "why": """
skillweave why c1
skillweave why c1 multilingual-greetings
skillweave why c1 --ledger team.db --json
"""
}


async def why(
    conversation: options.KnownConversation,
    skill: Annotated[
        str | None,
        typer.Argument(metavar="SKILL", help="Only what was decided about it.", autocompletion=completion.considered),
    ] = None,
    ledger: options.KeptLedger = None,
) -> Answer:
    """Say turn by turn what was decided about which skill, and why.

    Decisions are kept for 30 days, without any text of the messages.
    """
    kept = existing(ledger, conversation)
    async with opened(kept) as store:
        logged = await store.read(kept.conversation)
        known = bool(logged) or (await store.load(kept.conversation))[0].revision > 0
    if not known:
        raise unknown_conversation(kept)
    shown = _Shown(kept.conversation, _of(logged, skill, kept.conversation))
    return Answer(shown.value, shown.text)


def _of(logged: Sequence["Logged"], skill: str | None, conversation: str) -> tuple["Logged", ...]:
    if skill is None:
        return tuple(logged)
    chosen = tuple(entry for entry in logged if entry.decision.skill_id == skill)
    if not chosen:
        considered = sorted({entry.decision.skill_id for entry in logged})
        names = f"those considered are {', '.join(considered[:10])}" if considered else "no skill was"
        raise Mistake(f"skill {skill[:100]!r} was never considered in conversation {conversation!r}; {names}")
    return chosen


@dataclass(frozen=True, slots=True)
class _Shown:
    conversation: str
    logged: Sequence["Logged"]

    def value(self) -> "Explained":
        from skillweave.cli.output.turn import Explained, TurnExplained

        turns = [(turn[0], tuple(one.decision for one in turn)) for turn in self._turns()]
        return Explained(
            self.conversation, tuple(TurnExplained(one.turn_id, one.at, decisions) for one, decisions in turns)
        )

    def text(self, page: Page) -> str:
        from skillweave.cli.output.turn import decisions_text

        parts = [
            "\n".join([_heading(turn[0], page), *decisions_text([entry.decision for entry in turn], page)])
            for turn in self._turns()
        ]
        return "\n\n".join(parts) or page.wrap("No skill was considered in any turn of this conversation.")

    def _turns(self) -> Iterator[list["Logged"]]:
        turns: dict[str, list[Logged]] = {}
        for entry in self.logged:
            turns.setdefault(entry.turn_id, []).append(entry)
        return iter(turns.values())


def _heading(entry: "Logged", page: Page) -> str:
    from datetime import UTC, datetime

    when = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return page.paint(f"turn {entry.turn_id}, {when}", Ink.STRONG)
