"""What the model asked to read, found in the skill's text and held against what is in the context already."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from skillweave.conversation import Placement, Read
from skillweave.decisions import Decision, Outcome
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.reading import READ, Leaf, Reading, Readout
from skillweave.disclose.render import Inlined
from skillweave.disclose.render_sections import render_reading
from skillweave.disclose.sections import Section, entries_of, find_section
from skillweave.ledger.entries import Giving, readout_records
from skillweave.ledger.state import Record, document_key, section_key
from skillweave.plan import Plan, Wanted
from skillweave.settle.documents import in_block, recorded
from skillweave.skill import Skill

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
            records = _adoptable(reading, wanted.skill, plan, pricing, giving)
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


def _adoptable(reading: Reading, skill: Skill, plan: Plan, pricing: Pricing, giving: Giving) -> tuple[Record, ...]:
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
