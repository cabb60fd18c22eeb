"""Disclose: how much of each wanted skill is shown inside one budget, and the records of it (spec 5.1 to 5.4)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from skillweave.decisions import Decision, Outcome
from skillweave.dialogue import Placement, Read
from skillweave.disclose.block import REPLACES, Priced, Rung, SkillTools, carrier_of
from skillweave.disclose.catalog import NO_CATALOG, Catalog
from skillweave.disclose.fit import Passage, Pricing, Shown, Want, fit
from skillweave.disclose.render import Extras, Inlined, render_reading
from skillweave.disclose.sections import READ, Leaf, Reading, Readout, Section, entries_of, find_section
from skillweave.injection import Block, Drop
from skillweave.knowledge.context import EntityContext
from skillweave.settings import CatalogMode, FileAccess
from skillweave.skill import Skill
from skillweave.state.state import (
    DOCUMENT,
    Record,
    artifact_key,
    context_key,
    document_key,
    section_key,
    skill_key,
)
from skillweave.turn.admit import Admission, SkillInTurn
from skillweave.turn.fetch import Contents
from skillweave.turn.library import Inputs
from skillweave.turn.make_room import MOST_OUTDATED, leaving, without
from skillweave.turn.reconcile import Presence, Reconciled


def given_texts(shown: Shown, digest: str, inputs: Inputs) -> Iterator[tuple[Block, tuple[Record, ...]]]:
    """The texts that a skill adds, each with its rows, whose tokens add up to the text's.

    First the skill's own block, then what was read of it, then entity context that stands apart. `digest` is that of
    the skill's text as it is shown.
    """
    skill_id, block, rung = shown.want.skill.id, shown.block, shown.rung
    if block is not None and rung is not None:
        carrier = carrier_of(block.digest, inputs.turn.id)
        left = block.tokens
        own: list[Record] = []
        documents = ((artifact_key(skill_id, one.ref.id), inlined_digest(one), one.content) for one in shown.inlined)
        for key, its_digest, text in (*documents, *((one.key, one.digest, one.text) for one in shown.within)):
            tokens = min(left, inputs.library.catalog.pricing.count(text))
            left -= tokens
            own.append(inputs.record(key, its_digest, rung, carrier, tokens))
        whole = inputs.record(skill_key(skill_id), digest, rung, carrier, left)
        keys = (whole.key, *(passage.key for passage in shown.within))
        yield Block(carrier, skill_id, rung, keys, block.text, block.tokens), (whole, *own)
    for readout in shown.readouts:
        if readout.block is not None:
            rows = readout_records(readout, inputs)
            keys = tuple(row.key for row in rows)
            block = readout.block
            yield Block(rows[0].carrier, skill_id, rows[0].rung, keys, block.text, block.tokens), rows
    if shown.context is not None:
        yield _context_block(shown, shown.context, inputs)


def readout_records(readout: Readout, inputs: Inputs) -> tuple[Record, ...]:
    """The rows for what was read: one for each leaf in the block, or one for a table of contents."""
    if readout.block is None:
        return ()
    carrier = carrier_of(readout.block.digest, inputs.turn.id)
    left = readout.block.tokens
    if not readout.leaves:
        contents = readout.reading.contents
        return (inputs.record(contents.key, contents.section.digest, Rung.OUTLINE, carrier, left),)
    rows: list[Record] = []
    for leaf in readout.leaves[1:]:
        tokens = min(left, leaf.section.tokens)
        left -= tokens
        rows.append(inputs.record(leaf.key, leaf.section.digest, Rung.INSTRUCTIONS, carrier, tokens))
    first = readout.leaves[0]
    return (inputs.record(first.key, first.section.digest, Rung.INSTRUCTIONS, carrier, left), *rows)


def inlined_digest(inlined: Inlined) -> str:
    """The digest of an artifact's content: the reference's, else of the text itself."""
    return inlined.ref.content_hash or sha256(inlined.content.encode("utf-8", "surrogatepass")).hexdigest()


def _context_block(shown: Shown, block: Priced, inputs: Inputs) -> tuple[Block, tuple[Record, ...]]:
    carrier = carrier_of(block.digest, inputs.turn.id)
    share, rest = divmod(block.tokens, len(shown.apart))
    rows = tuple(
        inputs.record(passage.key, passage.digest, Rung.FULL, carrier, share + (rest if place == 0 else 0))
        for place, passage in enumerate(shown.apart)
    )
    keys = tuple(row.key for row in rows)
    return Block(carrier, shown.want.skill.id, Rung.FULL, keys, block.text, block.tokens), rows


SEPARATOR_TOKENS = 3
"""What joining one more block into the instructions of a call can cost at most: a blank line, and a broken merge."""
_LISTED = 12
_LONGEST = 60


def base_directory(skill: Skill) -> str | None:
    """The folder that a block names for a skill's files; None for a skill without files, or not from a folder."""
    folder, separator, name = skill.origin.location.rpartition("/") if skill.origin else ("", "", "")
    return folder if separator and skill.artifacts and name.lower() == "skill.md" else None


@dataclass(frozen=True, slots=True)
class Disclosed:
    """What the turn shows, and what it shows it beside.

    `admission` holds what is shown of each of the `skills`; those that the model has text of are `active`. `context`
    is what stands there already, `catalog` what stands in this call; `room` are the tokens that there were for skills.
    `suggested` is what the host may take out so that what was asked for fits when it is read again.
    """

    admission: Admission
    context: Reconciled
    catalog: Catalog
    room: int
    suggested: tuple[Drop, ...] = ()
    skills: tuple[SkillInTurn, ...] = ()
    active: tuple[SkillInTurn, ...] = ()


def disclose(
    inputs: Inputs, admission: Admission, context: Reconciled, contents: Contents, cursor: str | None
) -> Disclosed:
    """Fills the budget group by group, best ranked first; where that is not enough, texts leave the history.

    `cursor` is the skill that a graph's cursor is on, None without one.
    """
    turn, settings = inputs.turn, inputs.library.settings
    mode, priced = settings.catalog, inputs.library.catalog
    catalog = priced.catalog if mode is CatalogMode.ALWAYS else priced.brief if mode is CatalogMode.AUTO else NO_CATALOG
    room = settings.budget.usable - catalog.tokens
    # In call placement too: what the model read with our tools stands in the history.
    if turn.placement is Placement.CALL:
        room -= SEPARATOR_TOKENS * (len(admission.skills) + 2)
    disclosed = _filled(inputs, admission, context, contents, catalog, room)
    lacking = any(one.shown.left_out or one.shown.readouts for one in disclosed.skills)
    if not lacking and len(context.state.superseded) <= MOST_OUTDATED:
        return disclosed
    added = sum(one.shown.added + sum(record.tokens for record in one.adopted) for one in disclosed.skills)
    left = disclosed.room - added
    gone = leaving(turn, disclosed.admission, context, settings.budget.per_skill, left, cursor)
    if turn.reads:
        # What answers a model's call must not take away what another call of the same reply stands on.
        return replace(disclosed, suggested=gone.drops)
    if not gone.drops or turn.append_only:
        return disclosed
    return _filled(inputs, without(admission, gone), context.without(gone.carriers, turn.id), contents, catalog, room)


def _filled(
    inputs: Inputs, admission: Admission, context: Reconciled, contents: Contents, catalog: Catalog, room: int
) -> Disclosed:
    """The skills with what is shown of each in so many tokens, less those of what stands there already."""
    budget, pricing = inputs.library.settings.budget, inputs.library.catalog.pricing
    room -= sum(context.tokens_by_carrier().values())
    beside = _Beside(inputs, context, contents, pricing)
    placed: set[str] = set()
    look = inputs.turn.placement is Placement.HISTORY and bool(context.unrecorded)
    found: list[list[tuple[SkillInTurn, Want]]] = []
    for group in admission.groups:
        found.append([])
        for wanted in group:
            want = _want(wanted, beside, placed)
            placed.update(passage.key for passage in want.passages)
            found[-1].append(beside.found(wanted, want) if look or wanted.reads else (wanted, want))
    shown = fit(
        [[want for _, want in group] for group in found],
        left=room - sum(record.tokens for group in found for wanted, _ in group for record in wanted.adopted),
        per_skill=min(budget.per_skill, budget.usable - catalog.tokens),
        pricing=pricing,
        catalog_shows=catalog.shown,
        tools=inputs.skill_tools,
        context=budget.context,
    )
    by_skill = {one.want.skill.id: one for one in shown}
    groups = tuple(tuple(replace(one, disclosed=by_skill[one.skill.id]) for one, _ in group) for group in found)
    skills = tuple(wanted for group in groups for wanted in group)
    active = tuple(one for one in skills if one.binds_at(one.shown.rung))
    return Disclosed(replace(admission, groups=groups), context, catalog, room, skills=skills, active=active)


def _want(wanted: SkillInTurn, beside: "_Beside", placed: Collection[str]) -> Want:
    skill, contexts, files = wanted.skill, beside.contents.contexts, beside.inputs.library.settings.files
    special = wanted.held or wanted.in_sections or wanted.reads
    return Want(
        skill=skill,
        present=wanted.present,
        replaces=wanted.outdated or wanted.present is not None,
        artifacts=() if wanted.held or not skill.artifacts else beside.to_inline(wanted),
        passages=() if wanted.held or skill.id not in contexts else beside.passages(contexts[skill.id], placed),
        base_directory=base_directory(skill) if skill.artifacts and files is FileAccess.LOCAL else None,
        arguments=wanted.arguments,
        highest=_highest(wanted) if special else Rung.FULL,
    )


def _highest(wanted: SkillInTurn) -> Rung:
    if wanted.held:
        return wanted.present or Rung.FULL
    if wanted.in_sections:
        return Rung.OUTLINE
    if all(read.artifact is None for read in wanted.reads):
        return Rung.FULL
    # The document that is asked for goes first: of the skill itself is enough there, or is given without documents.
    return Rung.INSTRUCTIONS if wanted.present is None else max(wanted.present, Rung.OUTLINE)


@dataclass(frozen=True, slots=True)
class _Beside:
    """What of the skills' texts is in the context already, with a record or in the transcript without one."""

    inputs: Inputs
    context: Reconciled
    contents: Contents
    pricing: Pricing

    def found(self, wanted: SkillInTurn, want: Want) -> tuple[SkillInTurn, Want]:
        """The skill with the records of what the transcript holds of it, and what is then to be shown."""
        record = self._whole_text(wanted, want)
        if record is not None:
            want = replace(want, present=record.rung)
        sections = self._sections(want)
        if sections:
            want = replace(want, highest=min(want.highest, Rung.OUTLINE))
        readings, adopted, unknown = self._readings(wanted, [one.key for one in sections])
        texts = (*([] if record is None else [record]), *sections, *adopted)
        return replace(wanted, adopted=texts, unknown=unknown), replace(want, readings=readings)

    def to_inline(self, wanted: SkillInTurn) -> tuple[Inlined, ...]:
        """The documents that belong into the skill's block, without those that are read by themselves.

        None when the block that is there holds all of them already: giving it again would add nothing.
        """
        skill_id = wanted.skill.id
        documents = [found for (owner, _), found in self.contents.documents.items() if owner == skill_id]
        apart = {document_key(skill_id, read.artifact or "", "") for read in wanted.reads}
        if documents and self.context.records:  # those of which a part at least was read by itself
            apart |= {f"{record.key.rpartition('#')[0]}#" for record in self.context.in_context(DOCUMENT)}
        left = tuple(one for one in documents if not apart or document_key(skill_id, one.ref.id, "") not in apart)
        there = wanted.present is not None and len(self._in_block(wanted.skill, left)) == len(left)
        return () if there else left

    def passages(self, context: EntityContext, placed: Collection[str]) -> tuple[Passage, ...]:
        """The sections of an entity's context that are neither there nor `placed` in another skill's block."""
        found: dict[str, Passage] = {}
        for section in context.sections:
            key = context_key(context.entity, section.name)
            record = self.context.records.get(key) if self.inputs.turn.placement is Placement.HISTORY else None
            there = record is not None and self.context.presence[key] is not Presence.MINE
            if key not in placed and not (there and record is not None and record.digest == section.digest):
                found.setdefault(key, Passage(key, context.entity, section.text, section.digest, replaces=there))
        return tuple(found.values())

    def _in_block(self, skill: Skill, documents: Sequence[Inlined]) -> set[str]:
        """The keys of those documents that stand in the skill's own block, as they are now."""
        if self.inputs.turn.placement is Placement.CALL:
            return set()
        return self._recorded({artifact_key(skill.id, one.ref.id): inlined_digest(one) for one in documents})

    def _recorded(self, digests: Mapping[str, str]) -> set[str]:
        """Of texts by key, those that are in the context with this digest, or that another turn is giving."""
        return {record.key for record in self.context.in_context() if digests.get(record.key) == record.digest}

    def _whole_text(self, wanted: SkillInTurn, want: Want) -> Record | None:
        """The record of a skill's text that stands in the transcript, the fullest one; None when there is none."""
        in_call = self.inputs.turn.placement is Placement.CALL
        if in_call or not self.context.unrecorded or want.present is not None:
            return None
        for rung in self._rungs(want):
            for replaces in ("", REPLACES):
                inlined = want.artifacts if rung is Rung.FULL else ()
                extras = Extras(inlined, (), want.base_directory, replaces, want.arguments)
                extras = Extras(base_directory=want.base_directory) if rung is Rung.CATALOG else extras
                block = self.pricing.skill(want.skill, rung, extras)
                carrier = carrier_of(block.digest, self.inputs.turn.id)
                if self.context.shows(carrier):
                    key = skill_key(want.skill.id)
                    return self.inputs.record(key, wanted.digest, rung, carrier, block.tokens)
        return None

    def _rungs(self, want: Want) -> Iterator[Rung]:
        yield from (Rung.FULL, Rung.INSTRUCTIONS)
        extras = Extras(base_directory=want.base_directory, arguments=want.arguments)
        if self.inputs.skill_tools is SkillTools.OFFERED and self.pricing.outlined(want.skill, extras):
            yield Rung.OUTLINE
        yield Rung.CATALOG

    def _sections(self, want: Want) -> tuple[Record, ...]:
        """The records of a skill's sections that stand in the transcript, as they do in a fork of a conversation."""
        unrecorded = self.context.unrecorded
        extras = Extras(base_directory=want.base_directory, arguments=want.arguments)
        in_call = self.inputs.turn.placement is Placement.CALL
        if in_call or not unrecorded or not self.pricing.outlined(want.skill, extras):
            return ()
        sections = self.pricing.shown_sections(want.skill, want.arguments)
        found: dict[str, Record] = {}
        for section in (sections[digest] for digest, times in unrecorded.items() if times and digest in sections):
            reading = reading_of(want.skill, section)
            block = self.pricing.priced(render_reading(want.skill, reading, reading.leaves))
            rows = readout_records(Readout(reading, block, reading.leaves), self.inputs)
            found.update((row.key, row) for row in rows if row.key not in self.context.records)
        return tuple(found.values())

    def _readings(
        self, wanted: SkillInTurn, already: Collection[str]
    ) -> tuple[tuple[Reading, ...], tuple[Record, ...], tuple[Decision, ...]]:
        """What the model asked to read of one skill, in the order asked, each once, and what cannot be found.

        The records are of texts that the transcript holds; `already` are the keys of sections that were found there.
        """
        readings: list[Reading] = []
        adopted: list[Record] = []
        unknown: list[Decision] = []
        for read in dict.fromkeys(wanted.reads):
            if read.artifact is None and not read.section:
                continue  # the skill as a whole is what the ladder is about
            whole = self._tree(wanted, read)
            section = None if whole is None else find_section(whole, read.section or "")
            if whole is None:
                unknown += _unlisted(wanted.skill, read)
            elif section is None:
                unknown.append(_unknown(read, whole, filled=bool(wanted.arguments) and read.artifact is None))
            else:
                reading = self._present(reading_of(wanted.skill, section, read.artifact).beside(already), wanted.skill)
                records = self._adoptable(reading, wanted.skill)
                adopted += records
                readings.append(reading.beside([record.key for record in records]))
        return tuple(readings), tuple(adopted), tuple(unknown)

    def _tree(self, wanted: SkillInTurn, read: Read) -> Section | None:
        if read.artifact is None:
            return self.pricing.sections(wanted.skill, wanted.arguments)
        document = self.contents.documents.get((wanted.skill.id, read.artifact))
        return None if document is None else self.pricing.document(wanted.skill, document)

    def _present(self, reading: Reading, skill: Skill) -> Reading:
        """The reading beside what is in the context: what was read before, or the skill's block with the document."""
        if self.inputs.turn.placement is Placement.CALL:
            return reading
        document = None if reading.artifact is None else self.contents.documents[skill.id, reading.artifact]
        if document is not None and self._in_block(skill, [document]):
            return reading.beside([leaf.key for leaf in reading.leaves])
        parts = (*reading.leaves, reading.contents)
        return reading.beside(self._recorded({part.key: part.section.digest for part in parts}))

    def _adoptable(self, reading: Reading, skill: Skill) -> tuple[Record, ...]:
        """The records of a text that the transcript holds although nothing recorded it."""
        if not self.context.unrecorded or not reading.missing:
            return ()
        block = self.pricing.priced(render_reading(skill, reading, reading.missing))
        if not self.context.shows(carrier_of(block.digest, self.inputs.turn.id)):
            return ()
        return readout_records(Readout(reading, block, reading.missing), self.inputs)


def reading_of(skill: Skill, section: Section, artifact: str | None = None) -> Reading:
    """A section with the keys of its records, of the skill's text or of one of its documents."""

    def leaf(part: Section) -> Leaf:
        if artifact is None:
            return Leaf(section_key(skill.id, part.id), part)
        return Leaf(document_key(skill.id, artifact, part.id), part)

    return Reading(section, tuple(map(leaf, section.leaves())), leaf(section), artifact)


def _unlisted(skill: Skill, read: Read) -> tuple[Decision, ...]:
    """What a model is told about an artifact that the skill does not have; why one cannot be read is told already."""
    ids = [ref.id for ref in skill.artifacts]
    if read.artifact in ids:
        return ()
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    has = f"it has {', '.join(ids[:_LISTED])}{more}" if ids else "it has none"
    reason = f"the skill has no document {(read.artifact or '')[:_LONGEST]!r}; {has}"
    return (Decision(skill.id, Outcome.UNKNOWN, READ, reason),)


def _unknown(read: Read, whole: Section, *, filled: bool) -> Decision:
    # A title may hold a user's words, which no decision keeps.
    entries = [entry.id if filled else f"{entry.id} {entry.title}" for entry in entries_of(whole)]
    more = f" and {len(entries) - _LISTED} more" if len(entries) > _LISTED else ""
    has = f"it has {', '.join(entries[:_LISTED])}{more}" if entries else "it is short and is read without a section"
    document = f" in {read.artifact}" if read.artifact else ""
    reason = f"there is no section {(read.section or '')[:_LONGEST]!r}{document}; {has}"
    return Decision(read.skill_id, Outcome.UNKNOWN, READ, reason)
