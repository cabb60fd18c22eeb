"""What a turn wants: reconcile, admit, and which contents have to be fetched before anything can be shown."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from skillweave.compose.force import Enforce
from skillweave.conversation import Placement, Role, Turn
from skillweave.decisions import Decision, Outcome
from skillweave.disclose.budget import Budget
from skillweave.disclose.rung import Rung
from skillweave.ledger.engagement import (
    RECENT_MESSAGES,
    Lifecycle,
    Match,
    aged,
    by_recency,
    engage,
    engaged_before,
    lasting,
)
from skillweave.ledger.reconcile import Reconciled, Standing, reconcile
from skillweave.ledger.state import Engaged, Record, State, skill_key
from skillweave.registry import Snapshot
from skillweave.relations.admit import admit
from skillweave.relations.groups import Group
from skillweave.select.candidates import Candidate, Selection
from skillweave.skill import ArtifactRef, Skill


class CatalogMode(StrEnum):
    """When the model sees the catalog: in every call, only when nothing matches or it is asked for, or never."""

    ALWAYS = "always"
    FALLBACK = "fallback"
    NEVER = "never"


class FileAccess(StrEnum):
    """Whether the host's tools can read the folders that skills come from, so that blocks may name them."""

    LOCAL = "local"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Settings:
    """What stays the same from turn to turn.

    `lifecycle` None means `conversation` in history placement and `recent` in call placement. `catalog_first` are ids
    that the catalog shows before others when not all fit; `entity_keys` are the keys of a turn's memory that name an
    entity; `granted` are the ids that this agent may have, None for all.
    """

    budget: Budget = field(default_factory=Budget)
    max_skills: int = 3
    catalog: CatalogMode = CatalogMode.FALLBACK
    lifecycle: Lifecycle | None = None
    enforce: Enforce = Enforce.EXPLICIT
    files: FileAccess = FileAccess.LOCAL
    catalog_first: tuple[str, ...] = ()
    entity_keys: tuple[str, ...] = ("entity_id",)
    granted: frozenset[str] | None = None

    def lifecycle_in(self, placement: Placement) -> Lifecycle:
        """The lifecycle that holds for this placement."""
        if self.lifecycle is not None:
            return self.lifecycle
        return Lifecycle.CONVERSATION if placement is Placement.HISTORY else Lifecycle.RECENT


@dataclass(frozen=True, slots=True)
class Wanted:
    """A skill that should be in the context of the coming call, and how it stands there now.

    `present` is the rung that is there with the current content; `outdated` says that other text of the skill is, or
    may be, there; `held` that another turn is just giving it. `goes_with` is the skill that needs this one as its
    companion, where nothing else asks for it.
    """

    skill: Skill
    candidate: Candidate | None
    engaged_by: str
    present: Rung | None = None
    outdated: bool = False
    held: bool = False
    record: Record | None = None
    goes_with: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The turn before any content is fetched: who is wanted, group by group, best ranked first."""

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

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """All wanted skills, best ranked first."""
        return tuple(wanted for group in self.groups for wanted in group)

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
) -> Plan:
    """Decide who is wanted; pure, and the same again for a replay of the same turn.

    `loaded` is what the ledger answered, `blocks` the transcript's blocks by digest, None where the host cannot say.
    """
    state, now = loaded
    reconciled = reconcile(state, blocks, holder=turn.id, now=now)
    lifecycle = settings.lifecycle_in(turn.placement)
    earlier, aged_out = _earlier(reconciled.state, selection, turn, lifecycle)
    admission = admit(
        selection,
        snapshot,
        engaged=[entry.skill_id for entry in by_recency(earlier)],
        max_skills=settings.max_skills,
        granted=settings.granted,
    )
    groups, left = _within(admission.groups, lifecycle, settings.max_skills)
    engaged = _engaged_after(earlier, groups, selection, turn)
    return Plan(
        turn=turn,
        snapshot=snapshot,
        settings=settings,
        now=now,
        before=state,
        reconciled=reconciled,
        engaged=engaged,
        groups=_wanted_groups(groups, selection, snapshot, engaged, reconciled, turn.placement),
        decisions=(*_rejections(selection, groups), *admission.decisions, *aged_out, *left),
        matched=bool(selection.chosen),
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


def _earlier(
    state: State, selection: Selection, turn: Turn, lifecycle: Lifecycle
) -> tuple[tuple[Engaged, ...], tuple[Decision, ...]]:
    earlier = engaged_before(state, turn.id)
    if turn.message.role is Role.USER and state.last_turn != turn.id:
        earlier = aged(earlier, (candidate.skill_id for candidate in selection.chosen))
    staying = lasting(earlier, lifecycle)
    reason = f"left: no user message has matched it for more than {RECENT_MESSAGES} messages"
    gone = (entry for entry in earlier if entry not in staying)
    return staying, tuple(Decision(entry.skill_id, Outcome.OVER_LIMIT, "admit", reason) for entry in gone)


def _within(
    groups: Sequence[Group], lifecycle: Lifecycle, max_skills: int
) -> tuple[Sequence[Group], tuple[Decision, ...]]:
    if lifecycle is Lifecycle.CONVERSATION:
        return groups, ()
    reason = f"left: the {max_skills} most recently matched skills stay engaged"
    left = (member for group in groups[max_skills:] for member in group.members)
    return groups[:max_skills], tuple(Decision(member, Outcome.OVER_LIMIT, "admit", reason) for member in left)


def _engaged_after(
    earlier: Sequence[Engaged], groups: Sequence[Group], selection: Selection, turn: Turn
) -> tuple[Engaged, ...]:
    admitted = {member for group in groups for member in group.members}
    staying = [entry for entry in earlier if entry.skill_id in admitted]
    matches = [Match(c.skill_id, c.matcher) for c in selection.chosen if c.skill_id in admitted]
    return engage(staying, matches, turn.id)


def _rejections(selection: Selection, groups: Sequence[Group]) -> tuple[Decision, ...]:
    wanted = {member for group in groups for member in group.members}
    return tuple(
        Decision(
            skill_id=rejected.candidate.skill_id,
            outcome=rejected.outcome,
            stage="select",
            reason=rejected.reason,
            score=rejected.candidate.score,
            matcher=rejected.candidate.matcher,
            evidence=rejected.candidate.evidence,
        )
        for rejected in selection.rejected
        if rejected.candidate.skill_id not in wanted
    )


def _wanted_groups(
    groups: Sequence[Group],
    selection: Selection,
    snapshot: Snapshot,
    engaged: Sequence[Engaged],
    reconciled: Reconciled,
    placement: Placement,
) -> tuple[tuple[Wanted, ...], ...]:
    candidates = {candidate.skill_id: candidate for candidate in selection.chosen}
    matchers = {entry.skill_id: entry.by for entry in engaged}

    def wanted(skill_id: str, group: Group) -> Wanted:
        skill = snapshot.skills[skill_id]
        engaged_by = matchers.get(skill_id) or matchers.get(group.head, "")
        alone = skill_id == group.head or skill_id in candidates or skill_id in matchers
        plain = Wanted(skill, candidates.get(skill_id), engaged_by, goes_with=None if alone else group.head)
        return plain if placement is Placement.CALL else _placed(plain, reconciled)

    return tuple(tuple(wanted(member, group) for member in group.members) for group in groups)


def _placed(wanted: Wanted, reconciled: Reconciled) -> Wanted:
    key = skill_key(wanted.skill.id)
    superseded = any(old.record.key == key and old.by for old in reconciled.state.superseded)
    record = reconciled.state.record(key)
    standing = reconciled.standing.get(key)
    if record is None or standing is Standing.MINE:
        return replace(wanted, outdated=superseded)
    if record.digest != wanted.skill.digest:
        return replace(wanted, outdated=True)
    if standing is Standing.HELD:
        return replace(wanted, present=Rung.FULL, held=True, record=record)
    return replace(wanted, present=record.rung, outdated=superseded, record=record)
