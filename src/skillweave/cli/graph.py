"""`skillweave graph`: what a graph says at a moment, what is wrong with it, and the graph played, told and drawn."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

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
skillweave graph check graph.yaml --known-tools search,fetch --json
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
skillweave graph draw graph.yaml --format svg --output graph.svg --visited triage --current refund
""",
    "svg": """
skillweave graph svg support-triage --output graph.svg
""",
}

_Context = Annotated[
    str | None,
    options.option(
        options.GRAPH,
        "--ctx JSON",
        "The moment, as an object with user, iteration, history, current, last_tool, tools, pick, visits, trail; "
        "@FILE reads a file, - standard input. Default: {}",
    ),
]
_KnownTools = Annotated[
    list[str] | None,
    options.option(
        options.GRAPH,
        "--known-tools NAMES",
        "Tools of the host beside those of the skills, with commas. Repeatable; without it, nothing is assumed.",
    ),
]


Form = Literal["mermaid", "svg"]


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a drawing of a graph shows on top of it, and where it goes."""

    output: Annotated[
        str | None, options.option(options.OUTPUT, "--output FILE", "Write it to this file. Default: print it.")
    ] = None
    visited: Annotated[
        list[str] | None,
        options.option(
            options.GRAPH,
            "--visited IDS",
            "Skills that a run visited, with commas; drawn on top. Repeatable.",
        ),
    ] = None
    current: options.Current = None


async def next_(file: options.File, ctx: _Context = None) -> Answer:
    """Say which skill comes next, and why.

    Prints where the conversation goes, what decided it, which other ways were not taken, and which guards kept a route
    closed. Where a scorer chooses the entry, it is asked. For a decision tree the leaf is printed too.
    """
    from skillweave.cli.output.graph import move_text
    from skillweave.graph.answers import Next
    from skillweave.graph.graph import ScoredGraph

    context, notes = context_of(ctx, file)
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


async def check(file: options.File, known_tools: _KnownTools = None) -> Answer:
    """Find what is wrong with a graph.

    Looks at skills, routes, guards, tools and examples, and says what to do. The exit code is 1 when there is an error,
    and for a file that holds no graph. In a pack every skill of the graph must be one of the pack's.
    """
    from skillweave.cli.output.graph import checkup_text

    opened = await open_graph(file)
    named = None if known_tools is None else [name.strip() for one in known_tools for name in one.split(",")]
    report = opened.checkup(None if named is None else [name for name in named if name])
    text = partial(checkup_text, report, opened.graph.declared, opened.skills)
    return Answer(lambda: report, text, code=0 if report.ok else MISTAKE, notes=opened.notes)


async def simulate(
    file: options.File,
    script: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT",
            help="Steps in YAML or JSON: {user: TEXT}, {tool: NAME, result: ...}, {pick: ID}; with expect: {to, by} a "
            "step is a test. - reads standard input.",
        ),
    ],
) -> Answer:
    """Play a script through a graph, move by move.

    The exit code is 1 when a step does not lead where the script expects.
    """
    from skillweave.cli.output.graph import played_text
    from skillweave.graph.answers import SimulationShown

    steps, notes = script_steps(script, file)
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
    form: Annotated[
        Form | None,
        options.option(
            options.OUTPUT,
            "--format",
            "How it is drawn. Default: svg for an --output that ends in .svg, else mermaid.",
        ),
    ] = None,
    *,
    drawing: Drawing,
) -> Answer:
    """Draw a graph as Mermaid text or SVG.

    A run can be drawn on top. Needs no network. With --current what can be reached from there is marked too.
    """
    by_name: Form = "svg" if (drawing.output or "").lower().endswith(".svg") else "mermaid"
    return await _drawn(file, form or by_name, drawing)


async def svg(file: options.File, *, drawing: Drawing) -> Answer:
    """Draw a graph as SVG: the same as `draw --format svg`."""
    return await _drawn(file, "svg", drawing)


async def _drawn(file: str, form: Form, drawing: Drawing) -> Answer:
    from skillweave.cli.output.graph import Drawn

    opened = await open_graph(file)
    overlay = _overlay(opened, drawing)
    drawn = opened.graph.to_svg(overlay) if form == "svg" else opened.graph.to_mermaid(overlay)
    notes, output = opened.notes_with_errors(), drawing.output
    if output is None:
        return Answer(partial(Drawn, form, drawing=drawn), lambda _: drawn, notes=notes)
    _write(output, drawn)
    return Answer(
        partial(Drawn, form, output=output),
        lambda page: page.entry("written", f"{output} ({form})", Ink.GOOD),
        notes=notes,
    )


def _write(output: str, drawn: str) -> None:
    Path(output).write_text(f"{drawn.rstrip()}\n", encoding="utf-8")


def _overlay(opened: Opened, drawing: Drawing) -> "Overlay | None":
    from skillweave.graph.drawn import Overlay

    current = drawing.current
    ids = [one for given in drawing.visited or () for one in _ids(given, opened.graph.compiled.wired)]
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
