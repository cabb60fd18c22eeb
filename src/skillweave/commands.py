"""What the commands of other distributions are made of: options, answers, the page that text stands on, mistakes.

A distribution brings a command by an entry point of the group `skillweave.commands`, which refers to a
`skillweave.extensions.CommandSpec`.
"""

from skillweave.cli.arguments.graph import open_graph, script_steps
from skillweave.cli.arguments.ledger import existing, opened
from skillweave.cli.arguments.skills import DEFAULT_FOLDER, indexed, sources_of
from skillweave.cli.command import WithDefault
from skillweave.cli.completion import offered
from skillweave.cli.failure import MISTAKE, UNREACHABLE, Mistake, leave_interrupted
from skillweave.cli.option import BUDGET, MODEL, OUTPUT, SKILLS, option, whole_number
from skillweave.cli.options import (
    AsJson,
    Entities,
    File,
    Keeping,
    Loading,
    LoadingWithGraph,
    Model,
    Packs,
    Paths,
    Selecting,
    Skills,
    Strict,
    Tokens,
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
__all__ += ["Packs", "Page", "Paths", "Portable", "Selecting", "Skills", "Stream", "Strict", "Tokens"]
__all__ += ["WithDefault", "counted", "existing", "finding_line", "graph_notes", "indexed"]
__all__ += ["leave_interrupted", "listed", "loading_notes", "offered", "open_graph", "opened", "option"]
__all__ += [
    "page_for",
    "printable",
    "script_steps",
    "shown_time",
    "sources_of",
    "way_text",
    "whole_number",
    "with_paths",
]
