"""What a snapshot needs to be searched, compiled once per generation (spec 1.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING

from skillweave.diagnostics import Diagnostic
from skillweave.formats.host_keys import BY_ALL, Invocation, invocation_of
from skillweave.registry import Snapshot
from skillweave.select.mentions import names_of
from skillweave.select.task_rules import check_task_rules
from skillweave.select.trigger_index import TriggerIndex, compile_triggers
from skillweave.skill import Skill
from skillweave.task import TaskRule
from skillweave.text.automaton import MatchMode

if TYPE_CHECKING:
    from skillweave.select.lexical_index import LexicalIndex


MOST_NARROWED = 256
"""So many different limits of what may be chosen are remembered."""


@dataclass(frozen=True, slots=True, eq=False)
class Kit:
    """The compiled triggers of a snapshot's active skills, by position in registry order, and on demand their words.

    `active` leaves out what is closed to the model: no marker, trigger or word selects that. `closed` says who may ask
    for the active skills that not everybody may ask for. `task_rules` are the host's, then those of the snapshot.
    `diagnostics` are about triggers: `empty-keyword`, `long-keyword`, `broken-pattern`, `ascii-pattern`, and about task
    rules: `task-rule-unknown-skill`. Safe to share between threads.
    """

    snapshot: Snapshot
    active: tuple[Skill, ...]
    positions: Mapping[str, int]
    triggers: TriggerIndex
    diagnostics: tuple[Diagnostic, ...] = ()
    closed: Mapping[str, Invocation] = field(default_factory=dict)
    task_rules: tuple[TaskRule, ...] = ()
    _lexical: "list[LexicalIndex]" = field(default_factory=list, repr=False)
    _mentioned: "list[Mapping[str, str]]" = field(default_factory=list, repr=False)
    _narrowed: "dict[frozenset[str], tuple[int, ...]]" = field(default_factory=dict, repr=False)
    _building: Lock = field(default_factory=Lock, repr=False)

    def invocation(self, skill_id: str) -> Invocation:
        """Who may ask for the skill."""
        return self.closed.get(skill_id, BY_ALL)

    def positions_within(self, ids: frozenset[str]) -> tuple[int, ...]:
        """The positions of those of the ids that are active, ascending; remembered for the places of a skill graph."""
        known = self._narrowed.get(ids)
        if known is None:
            known = tuple(sorted(self.positions[each] for each in ids if each in self.positions))
            if len(self._narrowed) >= MOST_NARROWED:
                self._narrowed.clear()
            self._narrowed[ids] = known
        return known

    def mention_names(self) -> Mapping[str, str]:
        """The ids of all skills, inactive ones too, by the folded names of a mention; made at the first call."""
        with self._building:
            if not self._mentioned:
                self._mentioned.append(names_of(self.snapshot.values()))
            return self._mentioned[0]

    def lexical(self) -> "LexicalIndex":
        """The index of words, built at the first call (about half a second for 1,000 skills), then kept."""
        with self._building:
            if not self._lexical:
                from skillweave.select.lexical_index import build_lexical_index

                self._lexical.append(build_lexical_index(self.active))
            return self._lexical[0]


def compile_kit(snapshot: Snapshot, *, mode: MatchMode = MatchMode.WORD, task_rules: Sequence[TaskRule] = ()) -> Kit:
    """The kit of a snapshot; only skills that may be selected are matched, the others are known by their ids.

    `task_rules` are the host's own.
    """
    selectable = snapshot.active()
    closed = {skill.id: invocation for skill in selectable if (invocation := invocation_of(skill)) != BY_ALL}
    active = tuple(skill for skill in selectable if skill.id not in closed or closed[skill.id].by_model)
    triggers, diagnostics = compile_triggers(active, mode)
    positions = MappingProxyType({skill.id: position for position, skill in enumerate(active)})
    rules = (*task_rules, *snapshot.task_rules)
    diagnostics = (*diagnostics, *check_task_rules(rules, snapshot))
    return Kit(snapshot, active, positions, triggers, diagnostics, MappingProxyType(closed), rules)
