"""The port of matchers: what one is asked, and what it answers (spec 2.1)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from skillweave.conversation import Turn
from skillweave.select.candidates import Candidate, Selection
from skillweave.select.index import SkillIndex, TriggerMatch
from skillweave.text.folding import Folded


@dataclass(frozen=True, slots=True)
class Mention:
    """A skill that the user named, where in the message, and all that follows up to the next mention, stripped."""

    skill_id: str
    start: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The question, and what was found before this matcher's turn.

    `message` is what the user said, None when the turn's message is not the user's; `triggered` are all trigger hits
    and vetoes in it; `mentions` the skills named in it, where that matcher takes part, which `message` then leaves
    blank; `matchers` all that take part; `chosen` what earlier ones chose. `within` are the ids that may be chosen,
    None for all.
    """

    index: SkillIndex
    turn: Turn
    within: frozenset[str] | None
    matchers: tuple[str, ...]
    message: Folded | None
    triggered: tuple[TriggerMatch, ...] = ()
    chosen: tuple[Candidate, ...] = ()
    mentions: tuple[Mention, ...] = ()

    def reaches(self, skill_id: str) -> bool:
        """Whether the skill may be chosen."""
        return self.within is None or skill_id in self.within


Matcher: TypeAlias = Callable[[Ask], Selection]
"""A matcher: ranked candidates and rejected ones; the same question always gets the same answer."""
