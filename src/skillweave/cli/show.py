"""`skillweave show`: one skill, as the model would get it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.skills import load, sources_of
from skillweave.cli.completion import offers
from skillweave.cli.failure import Mistake
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page, printable

if TYPE_CHECKING:
    from skillweave.disclose.render import Inlined
    from skillweave.disclose.sections import Section
    from skillweave.registry import Registry, Source
    from skillweave.skill import Skill

EXAMPLES = """
skillweave show multilingual-greetings --skills examples/skills
skillweave show multilingual-greetings --skills examples/skills --json
skillweave show invoice-checking --skills examples/skills --outline
skillweave show invoice-checking --skills examples/skills --section 2
"""


def show(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The id of a skill.", autocompletion=offers.skill_ids)],
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    outline: Annotated[
        bool,
        typer.Option(
            "--outline",
            help="Print the outline, which a model gets that reads long instructions in sections.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    section: Annotated[
        str | None,
        typer.Option(
            "--section",
            metavar="N",
            help="Print one section of its text, by its number or title in the outline.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Print one skill as the model gets it, with cost and rules.

    First what is known of it: tokens, who may select it, triggers, tools, relations, where it came from; then the very
    text that is injected, with its documents.
    """
    import asyncio

    return asyncio.run(_shown(skill, sources_of(skills, strict=strict, packs=pack), outline=outline, section=section))


@dataclass(frozen=True, slots=True)
class _Shown:
    skill: "Skill"
    block: str
    tokens: dict[str, int]
    whole: bool = True

    def to_dict(self) -> dict[str, object]:
        from skillweave.formats.arguments import takes_arguments
        from skillweave.formats.host_keys import invocation_of, when_to_use_of
        from skillweave.formats.native import to_dict

        invocation = invocation_of(self.skill)
        origin = self.skill.origin
        return {
            **to_dict(self.skill),
            "origin": None if origin is None else {"source": origin.source, "location": origin.location},
            "digest": self.skill.digest,
            "invocation": {"by_model": invocation.by_model, "by_user": invocation.by_user},
            "when_to_use": when_to_use_of(self.skill) or None,
            "takes_arguments": takes_arguments(self.skill),
            "tokens": self.tokens,
            "block": self.block,
        }

    def text(self, page: Page) -> str:
        if not self.whole:
            return printable(self.block)
        skill = self.skill
        version = f" {skill.version}" if skill.version else ""
        title = page.paint(printable(f"{skill.name}{version}"), Ink.STRONG)
        facts = (page.entry(label, text) for label, text in self._facts() if text)
        return "\n".join([title, page.wrap(skill.description), "", *facts, "", printable(self.block)])

    def _facts(self) -> Iterator[tuple[str, str]]:
        from skillweave.cli.output.host_keys import host_key_facts

        skill, tokens = self.skill, self.tokens
        figures = f"{tokens['catalog']:,} for its catalog line, {tokens['instructions']:,} for its instructions"
        with_documents = f", {tokens['full']:,} with its documents" if tokens["full"] > tokens["instructions"] else ""
        yield "id", skill.id
        yield "status", "" if skill.status.value == "active" else skill.status.value
        yield "tokens", figures + with_documents
        yield from host_key_facts(skill)
        yield from _lists("triggers", [(getattr(skill.triggers, kind), kind) for kind in _TRIGGERS])
        yield from _tools(skill)
        yield from (("relation", _relation(skill, place)) for place in range(len(skill.relations)))
        for checkpoint in skill.checkpoints:
            when = f" before {checkpoint.before}" if checkpoint.before else ""
            yield "checkpoint", f"{checkpoint.name}{when}{f': {checkpoint.asks}' if checkpoint.asks else ''}"
        for ref in skill.artifacts:
            yield "document", f"{ref.id} ({ref.size:,} bytes)"
        yield "from", skill.origin.location if skill.origin else ""
        yield "digest", f"{skill.digest[:32]}..."


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
    yield from _lists(label, ((tools.forbidden, "forbidden"), (tools.preapproved, "asks to run unasked")))


def _relation(skill: "Skill", place: int) -> str:
    from skillweave.relations.rules import rule_shown

    return rule_shown(skill.id, skill.relations[place]).replace("`", "")


async def _shown(skill_id: str, sources: Sequence["Source"], *, outline: bool, section: str | None) -> Answer:
    from skillweave.cli.output.tally import loading_notes
    from skillweave.disclose.block import Rung
    from skillweave.disclose.pricing import Pricing
    from skillweave.disclose.render import Extras, catalog_line
    from skillweave.tokens.counter import CountedOnce, Tiktoken
    from skillweave.turn.disclose import base_directory

    registry = await load(sources)
    skill = registry.snapshot[skill_id]
    pricing = Pricing(CountedOnce(Tiktoken()))
    inlined, notes = await _documents(registry, skill)
    folder = base_directory(skill)
    plain = pricing.skill(skill, Rung.INSTRUCTIONS, Extras(base_directory=folder))
    full = pricing.skill(skill, Rung.FULL, Extras(inlined=inlined, base_directory=folder))
    tokens = {
        "catalog": pricing.count(catalog_line(skill)),
        "outline": pricing.skill(skill, Rung.OUTLINE, Extras(base_directory=folder)).tokens,
        "instructions": plain.tokens,
        "full": full.tokens,
    }
    block = full.text
    if section is not None:
        block = _section(pricing.sections(skill), section, skill_id)
    elif outline:
        block = pricing.skill(skill, Rung.OUTLINE, Extras(base_directory=folder)).text
    shown = _Shown(skill, block, tokens, whole=not outline and section is None)
    return Answer(shown.to_dict, shown.text, notes=(*loading_notes(registry.snapshot), *notes))


def _section(whole: "Section", wanted: str, skill_id: str) -> str:
    from skillweave.disclose.sections import entries_of, find_section

    found = find_section(whole, wanted)
    if found is None:
        known = ", ".join(f"{entry.id} {entry.title}" for entry in entries_of(whole))
        has = f"it has {known}" if known else "its text is short and has none"
        raise Mistake(f"{skill_id} has no section {wanted!r}; {has}")
    return "".join(leaf.text for leaf in found.leaves()).rstrip("\n")


async def _documents(registry: "Registry", skill: "Skill") -> tuple[tuple["Inlined", ...], tuple[str, ...]]:
    """The documents that stand in the block, and why others do not."""
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
        if artifact.text is not None:
            inlined.append(Inlined(replace(ref, content_hash=artifact.ref.content_hash), artifact.text))
    return tuple(inlined), tuple(notes)
