"""`skillweave graph simulate`: a script played through a graph, without a model."""

from functools import partial
from typing import Annotated

import typer

from skillweave.cli.arguments import options
from skillweave.cli.arguments.graph import File, open_graph, script_steps
from skillweave.cli.failure import MISTAKE
from skillweave.cli.output.answer import Answer

SIMULATE_EXAMPLES = """
skillweave graph simulate support-triage script.yaml
skillweave graph simulate graph.yaml script.yaml --json
"""


def simulate(
    file: File,
    script: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT",
            help="Steps in YAML or JSON: {user: TEXT}, {tool: NAME, result: ...}, {pick: ID}; with expect: {to, by} a "
            "step is a test. - reads standard input.",
        ),
    ],
    as_json: options.AsJson = False,
) -> Answer:
    """Play a script through a graph, move by move.

    The exit code is 1 when a step does not lead where the script expects.
    """
    import asyncio

    return asyncio.run(_simulated(file, script))


async def _simulated(file: str, script: str) -> Answer:
    from skillweave.cli.output.graph_played import played_text

    steps, notes = script_steps(script, file)
    opened = await open_graph(file)
    simulation = await opened.graph.simulate(steps)
    code = 0 if simulation.ok else MISTAKE
    told = (*notes, *opened.notes_with_errors())
    return Answer(simulation.to_dict, partial(played_text, simulation), code=code, notes=told)
