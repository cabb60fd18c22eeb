"""`skillweave catalog` and `show`: which skills there are, what they cost, and one of them as the model gets it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.skills import load, seen_by, working
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Page, printable

if TYPE_CHECKING:
    from skillweave.cli.output.skills import CatalogShown, Price, SkillPrice, SkillShown
    from skillweave.disclose.catalog import Catalog
    from skillweave.disclose.fit import Pricing
    from skillweave.disclose.render import Inlined
    from skillweave.disclose.sections import Section
    from skillweave.registry import Registry, Snapshot
    from skillweave.skill import Skill


EXAMPLES = {
    "catalog": """
skillweave catalog --skills examples/skills
skillweave catalog --skills examples/skills --all
skillweave catalog --skills examples/skills --budget 2000
""",
    "show": """
skillweave show multilingual-greetings --skills examples/skills
skillweave show multilingual-greetings --skills examples/skills --json
skillweave show invoice-checking --skills examples/skills --outline
skillweave show invoice-checking --skills examples/skills --section 2
""",
}


def catalog(
    *,
    loading: options.Loading,
    agent: options.ForAgent = None,
    budget: options.Tokens = 25_000,
    everything: Annotated[
        bool,
        options.option(
            options.OUTPUT,
            "--all",
            "List every skill with what it costs, also inactive ones and those that do not fit.",
        ),
    ] = False,
) -> Answer:
    """Print the catalog as the model sees it, with its cost.

    One line for each skill while they fit into a quarter of the budget (2,000 tokens at most).
    """
    from skillweave.cli.output.notes import loading_notes
    from skillweave.disclose.catalog import PricedCatalog
    from skillweave.disclose.fit import Budget, Pricing
    from skillweave.formats.host_keys import invocation_of
    from skillweave.tokens.counter import Tiktoken

    snapshot = seen_by(agent, loading.snapshot())
    most = None if agent is None else snapshot.agents[agent].most_tokens
    budget = budget if most is None else min(budget, most)
    pricing = Pricing(Tiktoken())
    closed = frozenset(skill.id for skill in snapshot.active() if not invocation_of(skill).by_model)
    offered = [skill for skill in snapshot.active() if skill.id not in closed]
    catalog = PricedCatalog(offered, pricing, limit=Budget(total=budget).catalog_limit).catalog
    shown = _CatalogShown(snapshot, pricing, catalog, closed)
    text = shown.table if everything else shown.block
    return Answer(shown.value, text, notes=loading_notes(snapshot))


@dataclass(frozen=True, slots=True)
class _CatalogShown:
    snapshot: "Snapshot"
    pricing: "Pricing"
    catalog: "Catalog"
    closed: frozenset[str]

    def value(self) -> "CatalogShown":
        from skillweave.cli.output.skills import CatalogShown, CatalogSkill

        with working("Counting the tokens of", len(self.snapshot.skills)):
            skills = tuple(
                CatalogSkill(
                    skill.id,
                    skill.name,
                    skill.description,
                    skill.status,
                    skill.id in self.closed,
                    skill.id in self.catalog.shown,
                    self._price(skill),
                )
                for skill in self.snapshot.skills.values()
            )
        return CatalogShown(self.catalog.text, self.catalog.tokens, len(self.catalog.shown), self.catalog.total, skills)

    def block(self, page: Page) -> str:
        if not self.catalog.text:
            return self._summary()
        return f"{printable(self.catalog.text)}\n\n{self._summary()}"

    def table(self, page: Page) -> str:
        width = max((len(skill.id) for skill in self.snapshot.skills.values()), default=5)
        head = f"{'skill':<{width}}  {'line':>5}  {'text':>7}  status"
        with working("Counting the tokens of", len(self.snapshot.skills)):
            rows = [self._row(skill, width, page) for skill in self.snapshot.skills.values()]
        return "\n".join([page.paint(head, Ink.STRONG), *rows, "", self._summary()])

    def _row(self, skill: "Skill", width: int, page: Page) -> str:
        price = self._price(skill)
        status = f"{skill.status.value}{', closed to the model' if skill.id in self.closed else ''}"
        row = f"{skill.id:<{width}}  {price.catalog:>5,}  {price.instructions:>7,}  {status}"
        return row if skill.status.selectable else page.paint(row, Ink.FAINT)

    def _price(self, skill: "Skill") -> "Price":
        from skillweave.cli.output.skills import Price
        from skillweave.disclose.block import Rung
        from skillweave.disclose.render import catalog_line

        line = self.pricing.count(catalog_line(skill))
        return Price(line, self.pricing.skill(skill, Rung.INSTRUCTIONS).tokens)

    def _summary(self) -> str:
        from skillweave.cli.output.page import counted, tokens_shown

        shown, total = len(self.catalog.shown), self.catalog.total
        takes = f"the catalog takes {tokens_shown(self.catalog.tokens)}."
        closed = f" {counted(len(self.closed), 'more skill')} the model never selects." if self.closed else ""
        if shown == total:
            return f"{counted(total, 'skill')}; {takes}{closed}"
        rest = "The rest does not fit into a quarter of the budget (2,000 tokens at most); list it with --all."
        return f"{shown:,} of {counted(total, 'skill')}; {takes}{closed} {rest}"


async def show(
    skill: Annotated[
        str, typer.Argument(metavar="SKILL", help="The id of a skill.", autocompletion=completion.skill_ids)
    ],
    *,
    loading: options.Loading,
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
    """Print one skill as the model gets it, with cost and rules.

    First what is known of it: tokens, who may select it, triggers, tools, relations, where it came from; then the very
    text that is injected, with its documents.
    """
    from skillweave.cli.output.notes import loading_notes
    from skillweave.cli.output.skills import SkillPrice
    from skillweave.disclose.block import Rung
    from skillweave.disclose.fit import Pricing
    from skillweave.disclose.render import Extras, catalog_line
    from skillweave.tokens.counter import Tiktoken
    from skillweave.turn.disclose import base_directory

    registry = await load(loading.sources())
    found = registry.snapshot[skill]
    pricing = Pricing(Tiktoken())
    inlined, notes = await _documents(registry, found)
    folder = base_directory(found)
    plain = pricing.skill(found, Rung.INSTRUCTIONS, Extras(base_directory=folder))
    full = pricing.skill(found, Rung.FULL, Extras(inlined=inlined, base_directory=folder))
    outlined = pricing.skill(found, Rung.OUTLINE, Extras(base_directory=folder))
    line = pricing.count(catalog_line(found))
    price = SkillPrice(catalog=line, outline=outlined.tokens, instructions=plain.tokens, full=full.tokens)
    block = full.text
    if section is not None:
        block = _section(pricing.sections(found), section, skill)
    elif outline:
        block = outlined.text
    shown = _SkillShown(found, block, price, whole=not outline and section is None)
    return Answer(shown.value, shown.text, notes=(*loading_notes(registry.snapshot), *notes))


@dataclass(frozen=True, slots=True)
class _SkillShown:
    skill: "Skill"
    block: str
    price: "SkillPrice"
    whole: bool = True

    def value(self) -> "SkillShown":
        from skillweave.cli.output.skills import Openings, Place, SkillShown
        from skillweave.formats.arguments import takes_arguments
        from skillweave.formats.host_keys import invocation_of, when_to_use_of
        from skillweave.formats.native import to_dict

        own: dict[str, Any] = dict(to_dict(self.skill))
        invocation, origin = invocation_of(self.skill), self.skill.origin
        return SkillShown(
            **own,
            origin=None if origin is None else Place(origin.source, origin.location),
            digest=self.skill.digest,
            invocation=Openings(invocation.by_model, invocation.by_user),
            when_to_use=when_to_use_of(self.skill) or None,
            takes_arguments=takes_arguments(self.skill),
            tokens=self.price,
            block=self.block,
        )

    def text(self, page: Page) -> str:
        if not self.whole:
            return printable(self.block)
        skill = self.skill
        version = f" {skill.version}" if skill.version else ""
        title = page.paint(printable(f"{skill.name}{version}"), Ink.STRONG)
        facts = (page.entry(label, text) for label, text in self._facts() if text)
        return "\n".join([title, page.wrap(skill.description), "", *facts, "", printable(self.block)])

    def _facts(self) -> Iterator[tuple[str, str]]:
        skill, price = self.skill, self.price
        figures = f"{price.catalog:,} for its catalog line, {price.instructions:,} for its instructions"
        with_documents = f", {price.full:,} with its documents" if price.full > price.instructions else ""
        yield "id", skill.id
        yield "status", "" if skill.status.value == "active" else skill.status.value
        yield "tokens", figures + with_documents
        yield from _host_key_facts(skill)
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


def _host_key_facts(skill: "Skill") -> Iterator[tuple[str, str]]:
    """Label and text for what the keys of one skill say."""
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


def _relation(skill: "Skill", place: int) -> str:
    from skillweave.relations.rules import rule_shown

    return rule_shown(skill.id, skill.relations[place]).replace("`", "")


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
        text = artifact.text
        if text is not None:
            inlined.append(Inlined(replace(ref, content_hash=artifact.ref.content_hash), text))
    return tuple(inlined), tuple(notes)
