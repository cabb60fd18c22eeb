"""What a host lets be kept beside the ledger, so that skillweave can learn: users' words, and what was taken back."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Literal

from skillweave import Role, Turn
from skillweave.errors import InvalidData, SkillweaveError
from skillweave.events import Event
from skillweave.selection import MatchContext, Selection, SkillIndex
from skillweave.values import Portable

LONGEST = 2_000
"""Characters of a message that are kept."""
TAKEN_BACK = frozenset({"evicted", "unloaded", "rejected"})
"""Causes of `skill.evicted` by which somebody says that a skill was not wanted."""


class Kind(StrEnum):
    """What a line tells: what a user said, or that a skill was used or taken back."""

    SAID = "said"
    USED = "used"
    TAKEN_BACK = "taken-back"


@dataclass(frozen=True, slots=True)
class Line(Portable):
    """One thing that happened in a conversation, `at` seconds since 1970; `text` are the words, or the skill's id.

    `user` tells users apart and says of none who it is.
    """

    kind: Kind
    tenant: str
    conversation: str
    at: float
    text: str
    turn_id: str = ""
    user: str = ""


class Keeper:
    """Keeps for one tenant what learning needs; `words="never"` leaves out what users say.

    It goes among the matchers, which see the message and where it chooses nothing, and among the observers of
    `skillweave.open`. `user_of` says who speaks in a turn; where nobody says it, no phrases are learned. A failure to
    write costs a diagnostic, and no turn.
    """

    name, strength, deliberate, preparation_optional = "keeper", 1, False, True

    def __init__(
        self,
        path: str | Path,
        *,
        tenant: str = "",
        words: Literal["keep", "never"] = "never",
        user_of: Callable[[Turn], str | None] = lambda _: None,
    ) -> None:
        if words not in ("keep", "never"):
            raise InvalidData(f"words={words!r} is neither 'keep' nor 'never'; say which, as they are users' words")
        self.path, self.tenant = Path(path), tenant
        self._words, self._user_of = words == "keep", user_of

    async def prepare(self, index: SkillIndex, turn: Turn, seconds: float) -> None:
        """Keep what the user said, where that is turned on."""
        text = (turn.message.text or "").strip()
        if not self._words or turn.message.role is not Role.USER or not text:
            return
        user = self._user_of(turn) or ""
        known = sha256(f"{self.tenant}\0{user}".encode("utf-8", "replace")).hexdigest()[:16] if user else ""
        await self._add(Line(Kind.SAID, self.tenant, turn.conversation, time.time(), text[:LONGEST], turn.id, known))

    def match(self, context: MatchContext) -> Selection:
        """Nothing: it only listens."""
        return Selection()

    async def observe(self, events: Sequence[Event]) -> None:
        """Keep which skills were taken back."""
        for event in events:
            told = event.payload.to_dict() if event.event_type == "skill.evicted" else {}
            if told.get("cause") in TAKEN_BACK:
                line = Line(Kind.TAKEN_BACK, self.tenant, event.conversation, time.time(), str(told["skill_id"]))
                await self._add(line)

    async def used(self, conversation: str, skill_id: str) -> None:
        """Keep that the agent used one of the skill's tools, which only the host sees."""
        await self._add(Line(Kind.USED, self.tenant, conversation, time.time(), skill_id))

    async def _add(self, line: Line) -> None:
        text = json.dumps(line.to_dict(), ensure_ascii=True)
        await asyncio.to_thread(_append, self.path, f"{text}\n")


def _append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def read_kept(path: Path, tenant: str, since: float = 0.0) -> tuple[Line, ...]:
    """The tenant's lines from that time on, in their order.

    Raises:
        InvalidData: a line is something else; a last one that was cut off is left out.
    """
    return tuple(one for one in _lines(path) if one.tenant == tenant and one.at >= since)


def _lines(path: Path) -> Iterator[Line]:
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            yield Line.from_dict(json.loads(line))
        except (ValueError, SkillweaveError) as error:
            if number == len(lines):
                return
            raise InvalidData(f"{path}:{number}: nothing that a Keeper wrote: {error}; take the line out") from None
