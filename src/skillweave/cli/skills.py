"""`skillweave show`: the catalog as the model sees it, or one skill as the model gets it, with the cost."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.skills import load, seen_by
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Page, counted, printable

if TYPE_CHECKING:
    from skillweave.cli.output.skills import SkillShown
    from skillweave.disclose.catalog import Catalog
    from skillweave.disclose.render import Inlined
    from skillweave.disclose.sections import Section
    from skillweave.registry import Registry, Snapshot
    from skillweave.skill import Skill


EXAMPLES = {
    "show": """
skillweave show --skills examples/skills --budget 2000
skillweave show multilingual-greetings --skills examples/skills
skillweave show invoice-checking --skills examples/skills --outline
skillweave show invoice-checking --skills examples/skills --section 2
""",
}


async def show(
    skill: Annotated[
        str | None,
        typer.Argument(
            metavar="[SKILL]",
            help="The id of a skill. Default: the catalog of all.",
            autocompletion=completion.skill_ids,
            show_default=False,
        ),
    ] = None,
    *,
    loading: options.Loading,
    agent: options.ForAgent = None,
    budget: options.Tokens = 25_000,
    outline: Annotated[
        bool,
        options.option(
            options.OUTPUT,
            "--outline",
            "Print the outline, which a model gets that reads long instructions in sections.",
        ),
    ] = False,
    section: Annotated[
        str | None,
        options.option(
            options.OUTPUT, "--section N", "Print one section of its text, by its number or title in the outline."
        ),
    ] = None,
) -> Answer:
    """Print the catalog that the model sees, or one skill, with cost.

    The catalog has one line for each skill while they fit into a quarter of the budget (2,000 tokens at most). Of a
    skill it prints the tokens, who may select it, triggers, tools, relations and where it came from; then the very text
    that is injected, with its documents.
    """
    from skillweave.cli.output.notes import loading_notes

    registry = await load(loading.sources())
    snapshot = seen_by(agent, registry.snapshot)
    if skill is not None:
        shown, notes = await _shown(registry, snapshot[skill], outline=outline, section=section)
        text = partial(_skill_text, shown, whole=not outline and section is None)
        return Answer(lambda: shown, text, notes=(*loading_notes(snapshot), *notes))
    most = None if agent is None else snapshot.agents[agent].most_tokens
    catalog, closed = _catalog(snapshot, budget if most is None else min(budget, most))
    return Answer(lambda: catalog, partial(_catalog_text, catalog, closed), notes=loading_notes(snapshot))


def _catalog(snapshot: "Snapshot", budget: int) -> "tuple[Catalog, int]":
    """The catalog, and how many active skills are not for the model to select."""
    from skillweave.disclose.catalog import PricedCatalog
    from skillweave.disclose.fit import Budget, Pricing
    from skillweave.formats.host_keys import invocation_of
    from skillweave.tokens.counter import Tiktoken

    active = snapshot.active()
    offered = [skill for skill in active if invocation_of(skill).by_model]
    priced = PricedCatalog(offered, Pricing(Tiktoken()), limit=Budget(total=budget).catalog_limit)
    return priced.catalog, len(active) - len(offered)


def _catalog_text(catalog: "Catalog", closed: int, page: Page) -> str:
    shown, total = len(catalog.shown), catalog.total
    summary = counted(total, "skill") if shown == total else f"{shown:,} of {counted(total, 'skill')}"
    summary += f"; the catalog takes {counted(catalog.tokens, 'token')}."
    if closed:
        summary += f" {counted(closed, 'more skill')} the model never selects."
    if shown < total:
        summary += " The rest does not fit into a quarter of the budget (2,000 tokens at most)."
    return f"{printable(catalog.text)}\n\n{summary}" if catalog.text else summary


async def _shown(
    registry: "Registry", skill: "Skill", *, outline: bool, section: str | None
) -> "tuple[SkillShown, tuple[str, ...]]":
    from skillweave.cli.output.skills import SkillPrice, SkillShown
    from skillweave.disclose.block import Rung
    from skillweave.disclose.fit import Pricing
    from skillweave.disclose.render import Extras, catalog_line
    from skillweave.tokens.counter import Tiktoken
    from skillweave.turn.disclose import base_directory

    pricing, folder = Pricing(Tiktoken()), base_directory(skill)
    inlined, notes = await _documents(registry, skill)
    plain = pricing.skill(skill, Rung.INSTRUCTIONS, Extras(base_directory=folder))
    full = pricing.skill(skill, Rung.FULL, Extras(inlined=inlined, base_directory=folder))
    outlined = pricing.skill(skill, Rung.OUTLINE, Extras(base_directory=folder))
    price = SkillPrice(pricing.count(catalog_line(skill)), outlined.tokens, plain.tokens, full.tokens)
    block = outlined.text if outline else full.text
    if section is not None:
        block = _section(pricing.sections(skill), section, skill.id)
    return SkillShown(skill, price, block), notes


def _skill_text(shown: "SkillShown", page: Page, *, whole: bool) -> str:
    if not whole:
        return printable(shown.block)
    skill = shown.skill
    version = f" {skill.version}" if skill.version else ""
    title = page.paint(printable(f"{skill.name}{version}"), Ink.STRONG)
    facts = (page.entry(label, text) for label, text in _facts(shown) if text)
    return "\n".join([title, page.wrap(skill.description), "", *facts, "", printable(shown.block)])


def _facts(shown: "SkillShown") -> Iterator[tuple[str, str]]:
    from skillweave.relations.rules import rule_shown

    skill, price = shown.skill, shown.tokens
    figures = f"{price.catalog:,} for its catalog line, {price.instructions:,} for its instructions"
    with_documents = f", {price.full:,} with its documents" if price.full > price.instructions else ""
    yield "id", skill.id
    yield "status", "" if skill.status.value == "active" else skill.status.value
    yield "tokens", figures + with_documents
    yield "phrases", "; ".join(skill.triggers.examples or skill.phrases)
    yield from _host_key_facts(skill)
    yield from _lists("triggers", [(getattr(skill.triggers, kind), kind) for kind in _TRIGGERS])
    yield from _tools(skill)
    for relation in skill.relations:
        yield "relation", rule_shown(skill.id, relation).replace("`", "")
    for checkpoint in skill.checkpoints:
        when = f" before {checkpoint.before}" if checkpoint.before else ""
        yield "checkpoint", f"{checkpoint.name}{when}{f': {checkpoint.asks}' if checkpoint.asks else ''}"
    for ref in skill.artifacts:
        yield "document", f"{ref.id} ({ref.size:,} bytes)"
    yield "from", skill.origin.location if skill.origin else ""
    yield "digest", f"{skill.digest[:32]}..."


def _host_key_facts(skill: "Skill") -> Iterator[tuple[str, str]]:
    from skillweave.formats.arguments import takes_arguments
    from skillweave.formats.host_keys import invocation_of, when_to_use_of

    invocation = invocation_of(skill)
    if not invocation.by_model or not invocation.by_user:
        yield "selection", invocation.openings(skill.id)
    yield "when to use", " ".join(when_to_use_of(skill).split())
    if takes_arguments(skill):
        filled = f"what a user writes after /{skill.id} takes the place of $ARGUMENTS"
        yield "arguments", filled if invocation.by_user else "$ARGUMENTS stays empty, as no mention selects the skill"


_TRIGGERS = ("keywords", "verbs", "patterns", "never")


def _lists(label: str, lists: Iterable[tuple[Sequence[str], str]]) -> Iterator[tuple[str, str]]:
    for names, kind in lists:
        if names:
            yield label, f"{kind}: {', '.join(names)}"
            label = ""


def _tools(skill: "Skill") -> Iterator[tuple[str, str]]:
    tools = skill.tools
    if tools is None:
        yield "tools", "no rules: any that the host offers"
        return
    if tools.allowed is not None:
        yield "tools", f"allowed: {', '.join(tools.allowed) or 'none at all'}"
    label = "tools" if tools.allowed is None else ""
    yield from _lists(label, ((tools.forbidden, "forbidden"), (tools.preapproved, "wants to run without asking")))


def _section(whole: "Section", wanted: str, skill_id: str) -> str:
    from skillweave.disclose.sections import entries_of, find_section

    found = find_section(whole, wanted)
    if found is None:
        known = ", ".join(f"{entry.id} {entry.title}" for entry in entries_of(whole))
        has = f"it has {known}" if known else "its text is short and has none"
        raise Mistake(f"{skill_id} has no section {wanted!r}; {has}")
    return "".join(leaf.text for leaf in found.leaves()).rstrip("\n")


async def _documents(registry: "Registry", skill: "Skill") -> tuple[tuple["Inlined", ...], tuple[str, ...]]:
    from dataclasses import replace

    from skillweave.disclose.render import Inlined
    from skillweave.errors import ArtifactNotFound
    from skillweave.turn.fetch import documents_to_show

    inlined: list[Inlined] = []
    notes: list[str] = []
    for ref in documents_to_show(skill):
        try:
            artifact = await registry.read_artifact(skill.id, ref.id)
        except ArtifactNotFound as error:
            notes.append(f"{error}; the block shows its name only")
            continue
        text = artifact.text
        if text is not None:
            inlined.append(Inlined(replace(ref, content_hash=artifact.ref.content_hash), text))
    return tuple(inlined), tuple(notes)
