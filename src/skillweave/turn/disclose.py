"""Disclose: how much of each wanted skill is shown, inside one budget (spec 5.1, 5.2)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skillweave.conversation import Placement, Read
from skillweave.decisions import Decision, Outcome
from skillweave.disclose.block import REPLACES, Rung, SkillTools
from skillweave.disclose.catalog import Catalog
from skillweave.disclose.fit import Passage, Shown, Want, fit
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.render import Extras, Inlined, render_reading
from skillweave.disclose.sections import READ, Leaf, Reading, Readout, Section, entries_of, find_section
from skillweave.formats.arguments import digest_in_use
from skillweave.knowledge.context import EntityContext
from skillweave.settings import FileAccess
from skillweave.skill import Skill
from skillweave.state.state import DOCUMENT, Record, artifact_key, context_key, document_key, section_key, skill_key
from skillweave.turn.admit import Plan, Wanted
from skillweave.turn.fetch import Fetched
from skillweave.turn.reconcile import Standing
from skillweave.turn.records import Giving, inlined_digest, readout_records


def to_inline(wanted: Wanted, plan: Plan, documents: Sequence[Inlined]) -> tuple[Inlined, ...]:
    """The documents that belong into the skill's block, without those that are read by themselves.

    None when the block that is there holds all of them already: giving it again would add nothing.
    """
    skill = wanted.skill
    asked = {document_key(skill.id, read.artifact or "", "") for read in wanted.reads}
    apart = asked | _read_apart(plan) if documents else asked
    left = tuple(document for document in documents if document_key(skill.id, document.ref.id, "") not in apart)
    if wanted.present is not None and len(in_block(skill, left, plan)) == len(left):
        return ()
    return left


def in_block(skill: Skill, documents: Sequence[Inlined], plan: Plan) -> set[str]:
    """The keys of those documents that stand in the skill's own block, as they are now."""
    if plan.turn.placement is Placement.CALL:
        return set()
    return recorded({artifact_key(skill.id, one.ref.id): inlined_digest(one) for one in documents}, plan)


def recorded(digests: Mapping[str, str], plan: Plan) -> set[str]:
    """Of texts by key, those that are in the context with this digest, or that another turn is giving."""
    if not digests:
        return set()
    standing = plan.reconciled.standing
    there = (record for record in plan.reconciled.state.records if standing[record.key] is not Standing.MINE)
    return {record.key for record in there if digests.get(record.key) == record.digest}


def _read_apart(plan: Plan) -> set[str]:
    """The keys of the documents of which a part at least was read by itself."""
    standing = plan.reconciled.standing
    read = (key for key in standing if key.startswith(DOCUMENT) and standing[key] is not Standing.MINE)
    return {f"{key.rpartition('#')[0]}#" for key in read}


_LISTED = 12
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Found:
    """What of the model's reads can be shown, records of texts that the transcript holds, and what cannot be found."""

    readings: tuple[Reading, ...] = ()
    adopted: tuple[Record, ...] = ()
    decisions: tuple[Decision, ...] = ()


def readings_of(
    wanted: Wanted,
    plan: Plan,
    documents: Mapping[tuple[str, str], Inlined],
    pricing: Pricing,
    giving: Giving,
    adopted_already: Collection[str] = (),
) -> Found:
    """The readings of one skill in the order asked, each once; `documents` are artifacts by skill and id.

    `adopted_already` are the keys of sections that were found in the transcript.
    """
    readings: list[Reading] = []
    adopted: list[Record] = []
    decisions: list[Decision] = []
    for read in dict.fromkeys(wanted.reads):
        if read.artifact is None and not read.section:
            continue  # the skill as a whole is what the ladder is about
        whole = _whole(wanted, read, documents, pricing)
        section = None if whole is None else find_section(whole, read.section or "")
        if whole is None:
            decisions += _unlisted(wanted.skill, read)
        elif section is None:
            decisions.append(_unknown(read, whole, filled=bool(wanted.arguments) and read.artifact is None))
        else:
            reading = reading_of(wanted.skill, section, read.artifact).beside(adopted_already)
            reading = _standing(reading, wanted.skill, documents, plan)
            records = _adoptable_leaves(reading, wanted.skill, plan, pricing, giving)
            adopted += records
            readings.append(reading.beside([record.key for record in records]))
    return Found(tuple(readings), tuple(adopted), tuple(decisions))


def _whole(
    wanted: Wanted, read: Read, documents: Mapping[tuple[str, str], Inlined], pricing: Pricing
) -> Section | None:
    skill = wanted.skill
    if read.artifact is None:
        return pricing.sections(skill, wanted.arguments)
    document = documents.get((skill.id, read.artifact))
    return None if document is None else pricing.document(skill, document)


def reading_of(skill: Skill, section: Section, artifact: str | None = None) -> Reading:
    """A section with the keys of its records, of the skill's text or of one of its documents."""

    def leaf(part: Section) -> Leaf:
        if artifact is None:
            return Leaf(section_key(skill.id, part.id), part)
        return Leaf(document_key(skill.id, artifact, part.id), part)

    return Reading(section, tuple(map(leaf, section.leaves())), leaf(section), artifact)


def _standing(reading: Reading, skill: Skill, documents: Mapping[tuple[str, str], Inlined], plan: Plan) -> Reading:
    """The reading beside what is in the context: what was read before, or the skill's block with the document."""
    if plan.turn.placement is Placement.CALL:
        return reading
    if reading.artifact is not None and in_block(skill, [documents[skill.id, reading.artifact]], plan):
        return reading.beside([leaf.key for leaf in reading.leaves])
    parts = (*reading.leaves, reading.contents)
    return reading.beside(recorded({part.key: part.section.digest for part in parts}, plan))


def _adoptable_leaves(
    reading: Reading, skill: Skill, plan: Plan, pricing: Pricing, giving: Giving
) -> tuple[Record, ...]:
    """The records of a text that the transcript holds although nothing recorded it."""
    if not plan.reconciled.unrecorded or not reading.missing:
        return ()
    block = pricing.priced(render_reading(skill, reading, reading.missing))
    if not plan.reconciled.shows(block.carrier(giving.turn_id)):
        return ()
    return readout_records(Readout(reading, block, reading.missing), giving)


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


def found_in_transcript(want: Want, plan: Plan, pricing: Pricing, giving: Giving) -> Record | None:
    """The record of a skill's text that stands in the transcript, the fullest one; None when there is none."""
    in_call = plan.turn.placement is Placement.CALL
    if in_call or not plan.reconciled.unrecorded or want.present is not None:
        return None
    for rung in _adoptable(want, plan, pricing):
        for replaces in ("", REPLACES):
            inlined = want.artifacts if rung is Rung.FULL else ()
            extras = Extras(inlined, (), want.base_directory, replaces, want.arguments)
            extras = Extras(base_directory=want.base_directory) if rung is Rung.CATALOG else extras
            block = pricing.skill(want.skill, rung, extras)
            carrier = block.carrier(giving.turn_id)
            if plan.reconciled.shows(carrier):
                key = skill_key(want.skill.id)
                return giving.record(key, digest_in_use(want.skill, want.arguments), rung, carrier, block.tokens)
    return None


def sections_in_transcript(want: Want, plan: Plan, pricing: Pricing, giving: Giving) -> tuple[Record, ...]:
    """The records of a skill's sections that stand in the transcript, as they do in a fork of a conversation."""
    unrecorded = plan.reconciled.unrecorded
    extras = Extras(base_directory=want.base_directory, arguments=want.arguments)
    if plan.turn.placement is Placement.CALL or not unrecorded or not pricing.outlined(want.skill, extras):
        return ()
    sections = pricing.shown_sections(want.skill, want.arguments)
    found: dict[str, Record] = {}
    for section in (sections[digest] for digest, times in unrecorded.items() if times and digest in sections):
        reading = reading_of(want.skill, section)
        block = pricing.priced(render_reading(want.skill, reading, reading.leaves))
        rows = readout_records(Readout(reading, block, reading.leaves), giving)
        found.update((row.key, row) for row in rows if plan.reconciled.state.record(row.key) is None)
    return tuple(found.values())


def _adoptable(want: Want, plan: Plan, pricing: Pricing) -> Iterator[Rung]:
    yield from (Rung.FULL, Rung.INSTRUCTIONS)
    if plan.skill_tools is SkillTools.OFFERED and pricing.outlined(
        want.skill, Extras(base_directory=want.base_directory, arguments=want.arguments)
    ):
        yield Rung.OUTLINE
    yield Rung.CATALOG


@dataclass(frozen=True, slots=True)
class ShownSkill:
    """A wanted skill with what is shown of it."""

    wanted: Wanted
    shown: Shown
    adopted: tuple[Record, ...]
    unknown: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """A wanted skill as it is to be shown beside what the transcript holds without a record, and what of it is not."""

    want: Want
    adopted: tuple[Record, ...]
    unknown: tuple[Decision, ...]


def show(
    plan: Plan, fetched: Fetched, pricing: Pricing, catalog: Catalog, giving: Giving, left: int
) -> tuple[ShownSkill, ...]:
    """Fill the budget group by group, best ranked first; `left` are the tokens that there are for it."""
    placed: set[str] = set()
    groups = [
        [_found(_want(wanted, plan, fetched, placed), wanted, plan, fetched, pricing, giving) for wanted in group]
        for group in plan.groups
    ]
    found = [one for group in groups for one in group]
    shown = fit(
        [[one.want for one in group] for group in groups],
        left=left - sum(record.tokens for one in found for record in one.adopted),
        per_skill=min(plan.settings.budget.per_skill, plan.settings.budget.usable - catalog.tokens),
        pricing=pricing,
        catalog_shows=catalog.shown,
        tools=plan.skill_tools,
    )
    together = zip(plan.wanted, shown, found, strict=True)
    return tuple(ShownSkill(wanted, piece, one.adopted, one.unknown) for wanted, piece, one in together)


def _found(want: Want, wanted: Wanted, plan: Plan, fetched: Fetched, pricing: Pricing, giving: Giving) -> _Found:
    record = found_in_transcript(want, plan, pricing, giving)
    if record is not None:
        want = replace(want, present=record.rung)
    sections = sections_in_transcript(want, plan, pricing, giving)
    if sections:
        want = replace(want, highest=min(want.highest, Rung.OUTLINE))
    read = readings_of(wanted, plan, fetched.documents, pricing, giving, [one.key for one in sections])
    adopted = (*([] if record is None else [record]), *sections, *read.adopted)
    return _Found(replace(want, readings=read.readings), adopted, read.decisions)


def _want(wanted: Wanted, plan: Plan, fetched: Fetched, placed: set[str]) -> Want:
    skill = wanted.skill
    held = wanted.held
    return Want(
        skill=skill,
        present=wanted.present,
        replaces=wanted.outdated or wanted.present is not None,
        artifacts=() if held else to_inline(wanted, plan, fetched.artifacts.get(skill.id, ())),
        passages=() if held else tuple(_passages(plan, fetched.contexts.get(skill.id), placed)),
        base_directory=base_directory(skill) if plan.settings.files is FileAccess.LOCAL else None,
        arguments=wanted.arguments,
        highest=_highest(wanted),
    )


def _highest(wanted: Wanted) -> Rung:
    if wanted.held:
        return wanted.present or Rung.FULL
    if wanted.in_sections:
        return Rung.OUTLINE
    if all(read.artifact is None for read in wanted.reads):
        return Rung.FULL
    # The document that is asked for goes first: of the skill itself is enough there, or is given without documents.
    return Rung.INSTRUCTIONS if wanted.present is None else max(wanted.present, Rung.OUTLINE)


def _passages(plan: Plan, context: EntityContext | None, placed: set[str]) -> list[Passage]:
    if context is None:
        return []
    passages = []
    for section in context.sections:
        key = context_key(context.entity, section.name)
        record = plan.reconciled.state.record(key) if plan.turn.placement is Placement.HISTORY else None
        there = record is not None and plan.reconciled.standing[key] is not Standing.MINE
        if key not in placed and not (there and record is not None and record.digest == section.digest):
            placed.add(key)
            passages.append(Passage(key, context.entity, section.text, section.digest))
    return passages


def base_directory(skill: Skill) -> str | None:
    """The folder that a block names for a skill's files; None for a skill without files, or not from a folder."""
    folder, separator, name = skill.origin.location.rpartition("/") if skill.origin else ("", "", "")
    return folder if separator and skill.artifacts and name.lower() == "skill.md" else None
