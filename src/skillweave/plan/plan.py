"""What a turn wants: reconcile, admit, and which contents have to be fetched before anything can be shown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from skillweave.conversation import Turn
from skillweave.decisions import Decision, Outcome
from skillweave.disclose.skill_tools import SkillTools
from skillweave.graph.cursor import Cursor
from skillweave.ledger.approvals import kept_out
from skillweave.ledger.engagement import (
    by_recency,
    engaged_after,
    engaged_with,
    living,
    pinned_first,
    placed,
    still_engaged,
    within_limit,
)
from skillweave.ledger.reconcile import Reconciled, reconcile
from skillweave.ledger.state import Engaged, State
from skillweave.ledger.transcript import digest_of
from skillweave.plan.position import Position
from skillweave.plan.wanted import Wanted, wanted_groups
from skillweave.registry import Snapshot
from skillweave.relations.admit import Elsewhere, admit
from skillweave.relations.groups import Group
from skillweave.relations.rules import needs_any
from skillweave.select.candidates import Selection
from skillweave.settings import Settings
from skillweave.skill import ArtifactRef, Skill

READ_SKILL = "read_skill"
"""The tool by which a model reads skills; a host that offers it can show outlines."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The turn before any content is fetched: who is wanted, group by group, best ranked first.

    `parted` are engaged skills that need one which a person rejected: they are not given, and come back when it may.
    `told` is the digest of the transcript that came with the model's calls, the empty text without one. `position` is
    the place in the skill graph, None without one.
    """

    turn: Turn
    snapshot: Snapshot
    settings: Settings
    now: float
    before: State
    reconciled: Reconciled
    engaged: tuple[Engaged, ...]
    groups: tuple[tuple[Wanted, ...], ...]
    decisions: tuple[Decision, ...]
    matched: bool
    parted: tuple[Skill, ...] = ()
    told: str = ""
    position: Position | None = None

    @property
    def cursor(self) -> Cursor | None:
        """Where the cursor is after this turn; without a graph, where it was."""
        return self.before.cursor if self.position is None else self.position.cursor

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """All wanted skills, best ranked first."""
        return tuple(wanted for group in self.groups for wanted in group)

    @property
    def skill_tools(self) -> SkillTools:
        """Whether the model has our tools in this turn: by the settings, or by what the host says that it offers."""
        offered = bool(self.turn.reads) or READ_SKILL in (self.turn.tools or ())
        return SkillTools.OFFERED if offered else self.settings.skill_tools

    @property
    def entity(self) -> str | None:
        """The entity that the turn's memory names."""
        found = (self.turn.memory.get(key) for key in self.settings.entity_keys)
        return next((value for value in found if isinstance(value, str) and value), None)


def make_plan(
    turn: Turn,
    selection: Selection,
    snapshot: Snapshot,
    settings: Settings,
    loaded: tuple[State, float],
    blocks: Counter[str] | None,
    position: Position | None = None,
) -> Plan:
    """Decide who is wanted; pure, and the same again for a replay of the same turn.

    `loaded` is what the ledger answered, `blocks` the transcript's blocks by digest, None where the host cannot say.
    """
    state, now = loaded
    told = digest_of(turn.transcript) if turn.reads and turn.transcript is not None else ""
    reconciled = reconcile(state, blocks, holder=turn.id, now=now, told=told)
    lifecycle_of = partial(settings.lifecycle_of, turn.placement)
    earlier, aged_out = still_engaged(reconciled.state, selection, turn, lifecycle_of)
    earlier, passed = _at_cursor(earlier, position)
    rejected = kept_out(state.approvals, snapshot)
    admission = admit(
        selection,
        snapshot,
        engaged=[entry.skill_id for entry in by_recency(earlier)],
        max_skills=settings.max_skills,
        granted=settings.granted,
        kept_out=rejected,
        elsewhere=_elsewhere(position),
    )
    own = (*(entry.skill_id for entry in earlier), *(candidate.skill_id for candidate in selection.chosen))
    lives = {skill_id: lifecycle_of(skill_id) for skill_id in own}
    staying, left = within_limit(admission.groups, lives, settings.max_skills)
    groups = _cursor_first(pinned_first(staying, lives), position)
    parted = _parted(earlier, rejected, snapshot)
    # What this process does not know another one may: a skill that is loaded late, or gone for a while, binds again.
    unknown = (entry.skill_id for entry in earlier if entry.skill_id not in snapshot)
    staying_engaged = engaged_with(earlier, groups, selection, turn, {*parted, *unknown})
    engaged = living(placed(staying_engaged, groups), lifecycle_of)
    return Plan(
        turn=turn,
        snapshot=snapshot,
        settings=settings,
        now=now,
        before=state,
        reconciled=reconciled,
        engaged=engaged_after(engaged, state, turn),
        groups=wanted_groups(groups, selection, snapshot, engaged, reconciled, turn),
        decisions=(*_rejections(selection, groups), *admission.decisions, *aged_out, *passed, *left),
        matched=bool(selection.chosen),
        parted=tuple(parted.values()),
        told=told,
        position=position,
    )


def artifacts_to_show(skill: Skill) -> tuple[ArtifactRef, ...]:
    """The artifacts whose text may stand in a block: documents, not scripts, assets or binary files.

    Of a folder skill only `references/` holds documents for the model; scripts are there to be run and assets to be
    copied, both are listed with their size.
    """
    return tuple(ref for ref in skill.artifacts if _is_document(ref))


_OTHER_FOLDERS = ("scripts/", "assets/")


def _is_document(ref: ArtifactRef) -> bool:
    readable = ref.media_type.startswith("text/") or ref.media_type in ("application/json", "application/yaml")
    return readable and not ref.id.startswith(_OTHER_FOLDERS)


def _at_cursor(
    earlier: Sequence[Engaged], position: Position | None
) -> tuple[tuple[Engaged, ...], tuple[Decision, ...]]:
    """The engaged skills without those that the conversation has moved away from, and a decision for each of these."""
    if position is None:
        return tuple(earlier), ()
    gone = [entry.skill_id for entry in earlier if position.has_left(entry)]
    decisions = (Decision(one, Outcome.NOT_AT_CURSOR, "move", f"left: {position.reason(one)}") for one in gone)
    return tuple(entry for entry in earlier if entry.skill_id not in gone), tuple(decisions)


def _cursor_first(groups: Sequence[Group], position: Position | None) -> Sequence[Group]:
    """The cursor's skill ranks before all others in the budget, pinned ones too (spec 5.2)."""
    skill = None if position is None else position.skill
    return groups if skill is None else sorted(groups, key=lambda group: skill not in group.members)


def _elsewhere(position: Position | None) -> Elsewhere | None:
    return None if position is None else Elsewhere(position.here.held_back, position.reason)


def _parted(earlier: Sequence[Engaged], rejected: Mapping[str, str], snapshot: Snapshot) -> Mapping[str, Skill]:
    if not rejected:
        return {}
    known = (entry.skill_id for entry in earlier if entry.skill_id in snapshot and entry.skill_id not in rejected)
    return {skill_id: snapshot[skill_id] for skill_id in known if needs_any(skill_id, rejected, snapshot)}


def _rejections(selection: Selection, groups: Sequence[Group]) -> tuple[Decision, ...]:
    wanted = {member for group in groups for member in group.members}
    return tuple(rejected.to_decision() for rejected in selection.rejected if rejected.candidate.skill_id not in wanted)
