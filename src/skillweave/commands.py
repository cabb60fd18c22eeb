"""What the commands of other distributions are made of: options, answers, the page that text stands on, mistakes.

A distribution brings a command by an entry point of the group `skillweave.commands`, which refers to a
`skillweave.extensions.CommandSpec`.
"""

from skillweave.cli.arguments.graph import open_graph, script_steps
from skillweave.cli.arguments.ledger import existing, opened
from skillweave.cli.arguments.skills import DEFAULT_FOLDER, indexed, interruptible
from skillweave.cli.command import WithDefault
from skillweave.cli.completion import offered
from skillweave.cli.failure import MISTAKE, UNREACHABLE, Mistake
from skillweave.cli.options import (
    BUDGET,
    MODEL,
    OUTPUT,
    SKILLS,
    AsJson,
    Entities,
    File,
    Keeping,
    Loading,
    LoadingWithGraph,
    Model,
    Paths,
    Reading,
    Selecting,
    Strict,
    Tokens,
    option,
    whole_number,
    with_paths,
)
from skillweave.cli.output.notes import graph_notes, loading_notes
from skillweave.cli.output.page import (
    Answer,
    Ink,
    Page,
    Stream,
    counted,
    finding_line,
    listed,
    page_for,
    printable,
    shown_time,
)
from skillweave.cli.output.turn import way_text
from skillweave.codec import Portable

__all__ = ["BUDGET", "DEFAULT_FOLDER", "MISTAKE", "MODEL", "OUTPUT", "SKILLS", "UNREACHABLE", "Answer"]
__all__ += ["AsJson", "Entities", "File", "Ink", "Keeping", "Loading", "LoadingWithGraph", "Mistake", "Model"]
__all__ += ["Page", "Paths", "Portable", "Reading", "Selecting", "Stream", "Strict", "Tokens"]
__all__ += ["WithDefault", "counted", "existing", "finding_line", "graph_notes", "indexed"]
__all__ += ["interruptible", "listed", "loading_notes", "offered", "open_graph", "opened", "option"]
__all__ += [
    "page_for",
    "printable",
    "script_steps",
    "shown_time",
    "way_text",
    "whole_number",
    "with_paths",
]
