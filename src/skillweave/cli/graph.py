"""`skillweave graph`: what a graph says at a moment, what is wrong with it, and the graph played, told and drawn."""

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import options
from skillweave.cli.arguments.graph import Opened, context_of, open_graph, script_steps
from skillweave.cli.failure import MISTAKE
from skillweave.cli.output.page import Answer, Ink

if TYPE_CHECKING:
    from skillweave.graph.drawn import Overlay


EXAMPLES = {
    "next": """
skillweave graph next support-triage --ctx '{"user": "I was charged twice"}'
skillweave graph next graph.yaml --ctx @moment.json --json
""",
    "reachable": """
skillweave graph reachable support-triage --current refund-request
""",
    "check": """
skillweave graph check support-triage
skillweave graph check graph.yaml --json
""",
    "simulate": """
skillweave graph simulate support-triage script.yaml
skillweave graph simulate graph.yaml script.yaml --json
""",
    "show": """
skillweave graph show support-triage
""",
    "draw": """
skillweave graph draw support-triage
skillweave graph draw graph.yaml --output graph.svg --visited triage --current refund
""",
}

_Context = Annotated[
    str | None,
    options.option(
        options.GRAPH,
        "--ctx JSON",
        "The moment, as an object with user, iteration, history, current, last_tool, tools, pick, visits, trail; "
        "@FILE reads a file. Default: {}",
    ),
]


async def next_(file: options.File, ctx: _Context = None) -> Answer:
    """Say which skill comes next, and why.

    Prints where the conversation goes, what decided it, which other ways were not taken, and which guards kept a route
    closed. Where a scorer chooses the entry, it is asked. For a decision tree the leaf is printed too.
    """
    from skillweave.cli.output.graph import move_text
    from skillweave.graph.answers import Next
    from skillweave.graph.graph import ScoredGraph

    context, notes = context_of(ctx)
    opened = await open_graph(file)
    graph = opened.graph
    scoring = await graph.score_entries(context) if isinstance(graph, ScoredGraph) else None
    move, leaf = graph.explain(context, scoring), graph.leaf(context, scoring)
    end = None if leaf is None else leaf.skill
    return Answer(
        partial(Next.of, move, leaf),
        partial(move_text, move, end),
        notes=(*notes, *opened.notes_with_errors()),
    )


async def reachable(file: options.File, current: options.Current = None) -> Answer:
    """List the skills that the model may open."""
    from skillweave.cli.output.graph import Reachable, reachable_text

    opened = await open_graph(file)
    if current is not None:
        _require_known(opened, current, "--current")
    found = opened.graph.reachable_skills(current)
    return Answer(partial(Reachable, found), partial(reachable_text, found, current), notes=opened.notes)


async def check(file: options.File) -> Answer:
    """Find what is wrong with a graph.

    Looks at skills, routes, guards, tools and examples, and says what to do. The exit code is 1 when there is an error,
    and for a file that holds no graph. In a pack every skill of the graph must be one of the pack's,
    or of another installed pack.
    """
    from skillweave.cli.output.graph import checkup_text

    opened = await open_graph(file)
    report = opened.checkup()
    text = partial(checkup_text, report, opened.graph.declared, opened.skills)
    return Answer(lambda: report, text, code=0 if report.ok else MISTAKE, notes=opened.notes)


async def simulate(
    file: options.File,
    script: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT",
            help="Steps in YAML or JSON: {user: TEXT}, {tool: NAME, result: ...}, {pick: ID}; with expect: {to, by} a "
            "step is a test.",
        ),
    ],
) -> Answer:
    """Play a script through a graph, move by move.

    The exit code is 1 when a step does not lead where the script expects.
    """
    from skillweave.cli.output.graph import played_text
    from skillweave.graph.answers import SimulationShown

    steps, notes = script_steps(script)
    opened = await open_graph(file)
    played = await opened.graph.simulate(steps)
    told = (*notes, *opened.notes_with_errors())
    return Answer(
        partial(SimulationShown.of, played), partial(played_text, played), code=0 if played.ok else MISTAKE, notes=told
    )


async def show(file: options.File) -> Answer:
    """Print a graph in words.

    Each skill with what it is about, what begins it, and where it leads.
    """
    from skillweave.cli.output.graph import shown_text
    from skillweave.graph.answers import GraphShown

    opened = await open_graph(file)
    return Answer(
        partial(GraphShown.of, opened.graph), partial(shown_text, opened.graph), notes=opened.notes_with_errors()
    )


async def draw(
    file: options.File,
    output: Annotated[
        str | None,
        options.option(
            options.OUTPUT,
            "--output FILE",
            "Write it to this file, as SVG where its name ends in .svg. Default: print it as Mermaid text.",
        ),
    ] = None,
    visited: Annotated[
        list[str] | None,
        options.option(
            options.GRAPH,
            "--visited IDS",
            "Skills that a run visited, with commas; drawn on top. Repeatable.",
        ),
    ] = None,
    current: options.Current = None,
) -> Answer:
    """Draw a graph as Mermaid text or SVG.

    A run can be drawn on top. Needs no network. With --current what can be reached from there is marked too.
    """
    from skillweave.cli.output.graph import Drawn

    opened = await open_graph(file)
    overlay, is_svg = _overlay(opened, visited or (), current), (output or "").lower().endswith(".svg")
    drawn = Drawn(opened.graph.to_svg(overlay) if is_svg else opened.graph.to_mermaid(overlay), output)
    if output is None:
        return Answer(lambda: drawn, lambda _: drawn.drawing, notes=opened.notes_with_errors())
    _write(output, drawn.drawing)
    text = f"{output} ({'svg' if is_svg else 'mermaid'})"
    return Answer(lambda: drawn, lambda page: page.entry("written", text, Ink.GOOD), notes=opened.notes_with_errors())


def _write(output: str, drawn: str) -> None:
    Path(output).write_text(f"{drawn.rstrip()}\n", encoding="utf-8")


def _overlay(opened: Opened, visited: Sequence[str], current: str | None) -> "Overlay | None":
    from skillweave.graph.drawn import Overlay

    ids = [one for given in visited for one in _ids(given, opened.graph.compiled.wired)]
    for skill_id in ids:
        _require_known(opened, skill_id, "--visited")
    if current is not None:
        _require_known(opened, current, "--current")
    if not ids and current is None:
        return None
    reached = () if current is None else opened.graph.reachable_skills(current)
    return Overlay(tuple(dict.fromkeys(ids)), current, reached)


def _require_known(opened: Opened, skill_id: str, option: str) -> None:
    """Raise BadParameter, with the nearest name, for what the option names and the graph does not have."""
    from skillweave.errors import nearest_names

    known = opened.graph.compiled.wired
    if skill_id in known:
        return
    near = nearest_names(skill_id, known)
    guess = f"did you mean {near[0]!r}?" if near else f"`skillweave graph show {opened.name}` lists them"
    raise typer.BadParameter(f"{skill_id[:100]!r} is no skill of this graph; {guess}", param_hint=f"'{option}'")


def _ids(given: str, known: Collection[str]) -> Sequence[str]:
    """The ids with commas between them, unless the whole is an id of the graph."""
    return (given,) if given in known else [part.strip() for part in given.split(",") if part.strip()]
