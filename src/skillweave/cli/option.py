"""How an option is written: the group that it stands in, its spelling, and what it takes."""

from typing import Any

import typer
from typer import BadParameter

SKILLS, TURN, BUDGET, LEDGER, OUTPUT = "Skills", "The turn", "Selection and budget", "Conversation", "Output"
MODEL, GRAPH, ENTITIES = "The model", "The graph", "Entities"
"""The groups that options stand in, in `--help`."""


def whole_number(given: str | float) -> int:
    """The number, of at least 0; raises BadParameter for anything else."""
    try:
        number = int(str(given))
    except ValueError:
        number = -1
    if number < 0:
        raise BadParameter(f"{str(given)[:40]!r} is not a whole number of at least 0")
    return number


def option(panel: str, spelling: str, help: str, **more: Any) -> Any:  # noqa: A002, ANN401 - as typer.Option has them
    """An option in a panel of `--help`, spelled as the help shows it: `--message -m TEXT`; `more` is for typer."""
    names = [word for word in spelling.split() if word.startswith("-")]
    metavar = next((word for word in spelling.split() if not word.startswith("-")), None)
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)
