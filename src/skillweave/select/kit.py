"""What a snapshot needs to be searched, compiled once per generation (spec 1.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING

from skillweave.diagnostics import Diagnostic
from skillweave.registry import Snapshot
from skillweave.select.trigger_index import TriggerIndex, compile_triggers
from skillweave.skill import Skill
from skillweave.text.automaton import MatchMode

if TYPE_CHECKING:
    from skillweave.select.lexical_index import LexicalIndex


@dataclass(frozen=True, slots=True, eq=False)
class Kit:
    """The compiled triggers of a snapshot's active skills, by position in registry order, and on demand their words.

    `diagnostics` are about triggers: `empty-keyword`, `long-keyword`, `broken-pattern`, `ascii-pattern`. Safe to share
    between threads.
    """

    snapshot: Snapshot
    active: tuple[Skill, ...]
    positions: Mapping[str, int]
    triggers: TriggerIndex
    diagnostics: tuple[Diagnostic, ...] = ()
    _lexical: "list[LexicalIndex]" = field(default_factory=list, repr=False)
    _building: Lock = field(default_factory=Lock, repr=False)

    def lexical(self) -> "LexicalIndex":
        """The index of words, built at the first call (about half a second for 1,000 skills), then kept."""
        with self._building:
            if not self._lexical:
                from skillweave.select.lexical_index import build_lexical_index

                self._lexical.append(build_lexical_index(self.active))
            return self._lexical[0]


def compile_kit(snapshot: Snapshot, *, mode: MatchMode = MatchMode.WORD) -> Kit:
    """The kit of a snapshot; only skills that may be selected are matched, the others are known by their ids."""
    active = snapshot.active()
    triggers, diagnostics = compile_triggers(active, mode)
    positions = MappingProxyType({skill.id: position for position, skill in enumerate(active)})
    return Kit(snapshot, active, positions, triggers, diagnostics)
