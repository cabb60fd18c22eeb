"""How much of each wanted skill is shown in this turn, beside what the transcript holds already."""

from dataclasses import dataclass, replace

from skillweave.conversation import Placement
from skillweave.decisions import Decision
from skillweave.disclose.catalog import Catalog
from skillweave.disclose.fit import Passage, Shown, Want, fit
from skillweave.disclose.pricing import Pricing
from skillweave.disclose.rung import Rung
from skillweave.knowledge.context import EntityContext
from skillweave.ledger.entries import Giving
from skillweave.ledger.reconcile import Standing
from skillweave.ledger.state import Record, context_key
from skillweave.plan import Plan, Wanted
from skillweave.settings import FileAccess
from skillweave.settle.adopting import found_in_transcript, sections_in_transcript
from skillweave.settle.documents import to_inline
from skillweave.settle.fetched import Fetched
from skillweave.settle.reading import readings_of
from skillweave.skill import Skill


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
