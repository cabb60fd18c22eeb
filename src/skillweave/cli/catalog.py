"""`skillweave catalog`: which skills there are, and what naming them costs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.skills import load_snapshot
from skillweave.cli.arguments.working import working
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page, printable

if TYPE_CHECKING:
    from skillweave.disclose.catalog import Catalog
    from skillweave.disclose.pricing import Pricing
    from skillweave.registry import Snapshot
    from skillweave.skill import Skill

EXAMPLES = """
skillweave catalog --skills examples/skills
skillweave catalog --skills examples/skills --all
skillweave catalog --skills examples/skills --budget 2000
"""


def catalog(
    skills: options.Skills = None,
    pack: options.Packs = None,
    strict: options.Strict = False,
    budget: options.Tokens = 8000,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="List every skill with what it costs, also inactive ones and those that do not fit.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> Answer:
    """Print the catalog as the model sees it, with its cost.

    One line for each skill while they fit into a quarter of the budget (2,000 tokens at most).
    """
    from skillweave.cli.output.tally import loading_notes
    from skillweave.disclose.catalog import build_catalog
    from skillweave.disclose.fit import Budget
    from skillweave.disclose.pricing import Pricing
    from skillweave.formats.host_keys import invocation_of
    from skillweave.tokens.counter import CountedOnce, Tiktoken

    snapshot = load_snapshot(skills, strict=strict, packs=pack)
    pricing = Pricing(CountedOnce(Tiktoken()))
    closed = frozenset(skill.id for skill in snapshot.active() if not invocation_of(skill).by_model)
    offered = [skill for skill in snapshot.active() if skill.id not in closed]
    shown = _Shown(snapshot, pricing, build_catalog(offered, Budget(total=budget).catalog_limit, pricing), closed)
    text = shown.table if everything else shown.block
    return Answer(shown.to_dict, text, notes=loading_notes(snapshot))


@dataclass(frozen=True, slots=True)
class _Shown:
    snapshot: "Snapshot"
    pricing: "Pricing"
    catalog: "Catalog"
    closed: frozenset[str]

    def to_dict(self) -> dict[str, object]:
        return {
            "catalog": self.catalog.text,
            "tokens": self.catalog.tokens,
            "shown": len(self.catalog.shown),
            "total": self.catalog.total,
            "skills": self._entries(),
        }

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

    def _entries(self) -> list[dict[str, object]]:
        with working("Counting the tokens of", len(self.snapshot.skills)):
            return [
                {
                    "skill_id": skill.id,
                    "name": skill.name,
                    "description": skill.description,
                    "status": skill.status.value,
                    "closed_to_model": skill.id in self.closed,
                    "in_catalog": skill.id in self.catalog.shown,
                    "tokens": self._tokens(skill),
                }
                for skill in self.snapshot.skills.values()
            ]

    def _row(self, skill: "Skill", width: int, page: Page) -> str:
        tokens = self._tokens(skill)
        status = f"{skill.status.value}{', closed to the model' if skill.id in self.closed else ''}"
        row = f"{skill.id:<{width}}  {tokens['catalog']:>5,}  {tokens['instructions']:>7,}  {status}"
        return row if skill.status.selectable else page.paint(row, Ink.FAINT)

    def _tokens(self, skill: "Skill") -> dict[str, int]:
        from skillweave.disclose.block import Rung
        from skillweave.disclose.render import catalog_line

        return {
            "catalog": self.pricing.count(catalog_line(skill)),
            "instructions": self.pricing.skill(skill, Rung.INSTRUCTIONS).tokens,
        }

    def _summary(self) -> str:
        from skillweave.cli.output.words import counted, tokens_shown

        shown, total = len(self.catalog.shown), self.catalog.total
        takes = f"the catalog takes {tokens_shown(self.catalog.tokens)}."
        closed = f" {counted(len(self.closed), 'more skill')} the model never selects." if self.closed else ""
        if shown == total:
            return f"{counted(total, 'skill')}; {takes}{closed}"
        rest = "The rest does not fit into a quarter of the budget (2,000 tokens at most); list it with --all."
        return f"{shown:,} of {counted(total, 'skill')}; {takes}{closed} {rest}"
