"""`skillweave graph next`, `reachable` and `check`: what a graph says at a moment, and what is wrong with it."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.graph import GRAPH, Current, File, Opened, context_of, open_graph
from skillweave.cli.failure import MISTAKE
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Page

if TYPE_CHECKING:
    from skillweave.graph.checked import Checkup

NEXT_EXAMPLES = """
skillweave graph next support-triage --ctx '{"user": "I was charged twice"}'
skillweave graph next graph.yaml --ctx @moment.json --json
"""
REACHABLE_EXAMPLES = """
skillweave graph reachable support-triage --current refund-request
"""
CHECK_EXAMPLES = """
skillweave graph check support-triage
skillweave graph check graph.yaml --known-tools search,fetch --json
"""

_Context = Annotated[
    str | None,
    typer.Option(
        "--ctx",
        metavar="JSON",
        help="The moment, as an object with user, iteration, history, current, last_tool, tools, pick, visits, trail; "
        "@FILE reads a file, - standard input. Default: {}",
        rich_help_panel=GRAPH,
        show_default=False,
    ),
]
_KnownTools = Annotated[
    list[str] | None,
    typer.Option(
        "--known-tools",
        metavar="NAMES",
        help="Tools of the host beside those of the skills, with commas. Repeatable; without it, nothing is assumed.",
        rich_help_panel=GRAPH,
        show_default=False,
    ),
]


def next_(file: File, ctx: _Context = None, as_json: options.AsJson = False) -> Answer:
    """Say which skill comes next, and why.

    Prints where the conversation goes, what decided it, what lost, and which guards kept a route closed. Where a scorer
    chooses the entry, it is asked. Of a decision tree the leaf is printed too.
    """
    import asyncio

    return asyncio.run(_next(file, ctx))


def reachable(file: File, current: Current = None, as_json: options.AsJson = False) -> Answer:
    """List the skills that the model may open."""
    import asyncio

    from skillweave.cli.output.graph import reachable_text

    opened = asyncio.run(open_graph(file))
    found = opened.graph.reachable_skills(current)
    notes = (*opened.notes, *_unknown(opened, current))
    return Answer(lambda: {"reachable": list(found)}, partial(reachable_text, found, current), notes=notes)


def check(file: File, known_tools: _KnownTools = None, as_json: options.AsJson = False) -> Answer:
    """Find what is wrong with a graph.

    Looks at skills, routes, guards, tools and examples, and says what to do. The exit code is 1 when there is an error,
    and for a file that holds no graph. In a pack every skill of the graph must be one of the pack's.
    """
    import asyncio

    opened = asyncio.run(open_graph(file))
    named = None if known_tools is None else [name.strip() for one in known_tools for name in one.split(",")]
    report = opened.checkup(None if named is None else [name for name in named if name])
    code = 0 if report.ok else MISTAKE
    return Answer(report.to_dict, partial(_checked, report, opened), code=code, notes=opened.notes)


async def _next(file: str, ctx: str | None) -> Answer:
    from skillweave.cli.output.graph import move_text
    from skillweave.graph.graph import ScoredGraph

    context, notes = context_of(ctx, file)
    opened = await open_graph(file)
    graph = opened.graph
    scoring = await graph.score_entries(context) if isinstance(graph, ScoredGraph) else None
    move, leaf = graph.explain(context, scoring), graph.leaf(context, scoring)
    told = {} if leaf is None else {"leaf": leaf.skill}
    text = partial(move_text, move, None if leaf is None else leaf.skill)
    return Answer(lambda: {**move.to_dict(), **told}, text, notes=(*notes, *opened.notes_with_errors()))


def _checked(report: "Checkup", opened: Opened, page: Page) -> str:
    from skillweave.cli.output.graph import checkup_text

    return checkup_text(report, opened.graph.declared, page)


def _unknown(opened: Opened, current: str | None) -> tuple[str, ...]:
    from skillweave.errors import nearest_names

    wired = opened.graph.compiled.wired
    if current is None or current in wired:
        return ()
    near = nearest_names(current, wired)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return (f"{current[:100]!r} is no skill of this graph, so that its entries are listed{guess}",)
