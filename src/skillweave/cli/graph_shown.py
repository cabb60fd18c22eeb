"""`skillweave graph show`, `draw` and `svg`: a graph in words, and as a picture."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.graph import GRAPH, Current, File, Opened, open_graph
from skillweave.cli.completion import offers
from skillweave.cli.failure import Mistake
from skillweave.cli.output.answer import Answer
from skillweave.cli.output.page import Ink, Page

if TYPE_CHECKING:
    from skillweave.graph.drawn import Overlay

SHOW_EXAMPLES = """
skillweave graph show support-triage
"""
DRAW_EXAMPLES = """
skillweave graph draw support-triage
skillweave graph draw graph.yaml --format svg --output graph.svg --visited triage --current refund
"""
SVG_EXAMPLES = """
skillweave graph svg support-triage --output graph.svg
"""

Form = Literal["mermaid", "svg"]
_Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="FILE",
        help="Write it to this file. Default: print it.",
        rich_help_panel=options.OUTPUT,
        show_default=False,
    ),
]
_Visited = Annotated[
    list[str] | None,
    typer.Option(
        "--visited",
        metavar="IDS",
        help="Skills that a run visited, with commas; drawn on top. Repeatable.",
        rich_help_panel=GRAPH,
        show_default=False,
        autocompletion=offers.graph_skills,
    ),
]


def show(file: File, as_json: options.AsJson = False) -> Answer:
    """Print a graph in words.

    Each skill with what it is about, what begins it, and where it leads.
    """
    import asyncio

    from skillweave.cli.output.graph_shown import shown_data, shown_text

    opened = asyncio.run(open_graph(file))
    return Answer(
        partial(shown_data, opened.graph), partial(shown_text, opened.graph), notes=opened.notes_with_errors()
    )


def draw(
    file: File,
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            help="How it is drawn. Default: svg for an --output that ends in .svg, else mermaid.",
            rich_help_panel=options.OUTPUT,
            show_default=False,
        ),
    ] = None,
    output: _Output = None,
    visited: _Visited = None,
    current: Current = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Draw a graph as Mermaid text or SVG.

    A run can be drawn on top. Needs no network. With --current what can be reached from there is marked too.
    """
    by_name: Form = "svg" if output is not None and output.lower().endswith(".svg") else "mermaid"
    return _drawn(file, form or by_name, output, visited, current)


def svg(
    file: File,
    output: _Output = None,
    visited: _Visited = None,
    current: Current = None,
    as_json: options.AsJson = False,
) -> Answer:
    """Draw a graph as SVG: the same as `draw --format svg`."""
    return _drawn(file, "svg", output, visited, current)


def _drawn(file: str, form: Form, output: str | None, visited: Sequence[str] | None, current: str | None) -> Answer:
    import asyncio

    opened = asyncio.run(open_graph(file))
    overlay = _overlay(opened, visited, current)
    graph = opened.graph
    drawing = graph.to_svg(overlay) if form == "svg" else graph.to_mermaid(overlay)
    notes = opened.notes_with_errors()
    if output is None:
        return Answer(lambda: {"format": form, "drawing": drawing}, lambda _: drawing, notes=notes)
    Path(output).write_text(f"{drawing.rstrip()}\n", encoding="utf-8")
    return Answer(lambda: {"format": form, "output": output}, partial(_written, form, output), notes=notes)


def _overlay(opened: Opened, visited: Sequence[str] | None, current: str | None) -> "Overlay | None":
    from skillweave.errors import nearest_names
    from skillweave.graph.drawn import Overlay

    ids = [skill_id for one in visited or () for skill_id in _ids(one, opened)]
    known = opened.graph.compiled.wired
    for skill_id in (*ids, *(() if current is None else (current,))):
        if skill_id not in known:
            near = nearest_names(skill_id, known)
            guess = f"did you mean {near[0]!r}?" if near else f"`skillweave graph show {opened.name}` lists them"
            raise Mistake(f"{skill_id[:100]!r} is no skill of this graph; {guess}")
    if not ids and current is None:
        return None
    reached = () if current is None else opened.graph.reachable_skills(current)
    return Overlay(tuple(dict.fromkeys(ids)), current, reached)


def _ids(given: str, opened: Opened) -> Sequence[str]:
    """The ids with commas between them, unless the whole is an id of the graph."""
    if given in opened.graph.compiled.wired:
        return (given,)
    return [part.strip() for part in given.split(",") if part.strip()]


def _written(form: str, output: str, page: Page) -> str:
    return page.entry("written", f"{output} ({form})", Ink.GOOD)
