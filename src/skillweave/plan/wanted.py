"""Who is wanted in the coming call, and how each stands in the context now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillweave.conversation import Placement, Read, Turn
from skillweave.disclose.rung import Rung
from skillweave.formats.arguments import digest_in_use, takes_arguments
from skillweave.ledger.engagement import engagers
from skillweave.ledger.reconcile import Reconciled, Standing
from skillweave.ledger.state import SECTION, Engaged, Record, is_read_apart, skill_key, skill_of
from skillweave.registry import Snapshot
from skillweave.relations.groups import Group
from skillweave.select.candidates import Candidate, Selection
from skillweave.skill import Skill


@dataclass(frozen=True, slots=True)
class Wanted:
    """A skill that should be in the context of the coming call, and how it stands there now.

    `present` is the rung that is there with the current content; `outdated` says that other text of the skill is, or
    may be, there; `held` that another turn is just giving it. `goes_with` is the skill that needs this one as its
    companion, where nothing else asks for it. `reads` are its sections and artifacts that the model asked for;
    `in_sections` says that it is being read that way, so that its text as a whole is not wanted, `read_apart` that
    sections or documents of it are in the context already.
    `arguments` are the words of the latest mention, where its text takes any.
    """

    skill: Skill
    candidate: Candidate | None
    engaged_by: str
    present: Rung | None = None
    outdated: bool = False
    held: bool = False
    record: Record | None = None
    goes_with: str | None = None
    reads: tuple[Read, ...] = ()
    in_sections: bool = False
    read_apart: bool = False
    arguments: str = ""

    @property
    def digest(self) -> str:
        """The digest of the skill's text as it is shown now, with which records of it are compared."""
        return digest_in_use(self.skill, self.arguments)


def wanted_groups(
    groups: Sequence[Group],
    selection: Selection,
    snapshot: Snapshot,
    engaged: Sequence[Engaged],
    reconciled: Reconciled,
    turn: Turn,
) -> tuple[tuple[Wanted, ...], ...]:
    """The members of the admitted groups, each with how it stands in the context by the reconciled State."""
    candidates = {candidate.skill_id: candidate for candidate in selection.chosen}
    own = {entry.skill_id for entry in engaged}
    engaged_by = engagers(engaged, snapshot)
    arguments = {entry.skill_id: entry.arguments for entry in engaged if entry.arguments}
    there = _There.of(reconciled)

    def wanted(skill_id: str, group: Group) -> Wanted:
        skill = snapshot.skills[skill_id]
        alone = skill_id == group.head or skill_id in candidates or skill_id in own
        reads = tuple(_as_listed(read, skill) for read in turn.reads if read.skill_id == skill_id)
        plain = Wanted(
            skill,
            candidates.get(skill_id),
            engaged_by.get(skill_id, ""),
            goes_with=None if alone else group.head,
            reads=reads,
            in_sections=skill_id in there.in_sections or any(read.artifact is None and read.section for read in reads),
            read_apart=skill_id in there.read_apart,
            arguments=arguments[skill_id] if skill_id in arguments and takes_arguments(skill) else "",
        )
        return plain if turn.placement is Placement.CALL else _placed(plain, there)

    return tuple(tuple(wanted(member, group) for member in group.members) for group in groups)


def _as_listed(read: Read, skill: Skill) -> Read:
    """The read with the id that the artifact has: a block lists it as one line."""
    ids = [ref.id for ref in skill.artifacts]
    if read.artifact is None or read.artifact in ids:
        return read
    words = read.artifact.split()
    return replace(read, artifact=next((one for one in ids if one.split() == words), read.artifact))


@dataclass(frozen=True, slots=True)
class _There:
    """What the State says, looked up by key once for all skills: a long conversation has hundreds of records.

    `replaced` are the keys of texts that another block took the place of, `in_sections` the skills read in sections,
    `read_apart` those and the skills of which documents were read.
    """

    records: Mapping[str, Record]
    standing: Mapping[str, Standing]
    replaced: frozenset[str]
    in_sections: frozenset[str]
    read_apart: frozenset[str]

    @classmethod
    def of(cls, reconciled: Reconciled) -> "_There":
        standing = reconciled.standing
        records = {record.key: record for record in reconciled.state.records}
        apart = [key for key in records if is_read_apart(key) and standing[key] is not Standing.MINE]
        read = {(skill_of(key), key.startswith(SECTION)) for key in apart}
        return cls(
            records,
            standing,
            replaced=frozenset(old.record.key for old in reconciled.state.superseded if old.by),
            in_sections=frozenset(skill for skill, of_text in read if skill is not None and of_text),
            read_apart=frozenset(skill for skill, _ in read if skill is not None),
        )


def _placed(wanted: Wanted, there: _There) -> Wanted:
    key = skill_key(wanted.skill.id)
    superseded = key in there.replaced
    record = there.records.get(key)
    standing = there.standing.get(key)
    if record is None or standing is Standing.MINE:
        return replace(wanted, outdated=superseded)
    if record.digest != wanted.digest:
        return replace(wanted, outdated=True)
    held = standing is Standing.HELD
    return replace(wanted, present=record.rung, outdated=superseded, held=held, record=record)
