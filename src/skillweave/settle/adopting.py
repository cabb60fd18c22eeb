"""Texts that the transcript holds although nothing was recorded (spec 5.4)."""

from collections.abc import Iterator

from skillweave.conversation import Placement
from skillweave.disclose.escape import REPLACES
from skillweave.disclose.fit import Want
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.reading import Readout
from skillweave.disclose.render import Extras
from skillweave.disclose.render_sections import render_reading
from skillweave.disclose.rung import Rung
from skillweave.disclose.skill_tools import SkillTools
from skillweave.formats.arguments import digest_in_use
from skillweave.ledger.entries import Giving, readout_records
from skillweave.ledger.state import Record, skill_key
from skillweave.plan import Plan
from skillweave.settle.reading import reading_of


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
