"""What both frameworks play to show that the coding pair works: the same replies of a model, in the same folder."""

from pathlib import Path

import skillweave
from examples.coding_tools import CodingTool, coding_tools
from skillweave import Weaver
from skillweave_testing import Recorder
from skillweave_testing.hosts import Asks, Says, tool_call

PAIR = ["specification-engine", "opencode-implementer"]
SPECIFICATION = """# Doubling

## Purpose
Doubles numbers.

## Acceptance criteria
1. A number is doubled.
   Example: double(2) -> 4
"""
CODE = "def double(number):\n    return 2 * number\n"
TEST = """import unittest
from double import double


class Doubling(unittest.TestCase):
    def test_criterion_1(self):
        self.assertEqual(double(2), 4)
"""


def spawn(**arguments: object) -> Says:
    """The model asks for a sub-agent."""
    return Says(asks=(Asks("spawn_subagent", {"task": "Write a function that doubles numbers.", **arguments}),))


def coder() -> tuple[Says, ...]:
    """What the model of the coding sub-agent says: it tries `write` too, which it was never shown."""
    return (
        Says(asks=(tool_call("specKit", action="write", name="double", text=SPECIFICATION),)),
        Says(asks=(tool_call("write", path="double.py", text="print('past the record')"),)),
        Says(asks=(tool_call("opencode-executor", action="write_file", path="double.py", text=CODE),)),
        Says(asks=(tool_call("opencode-executor", action="write_file", path="test_double.py", text=TEST),)),
        Says(asks=(tool_call("opencode-executor", action="run_tests"),)),
        Says("Criterion 1 holds: test_criterion_1 is green."),
    )


def workshop(folder: Path) -> tuple[CodingTool, ...]:
    """The tools of the coding examples, in a folder of this test."""
    return coding_tools(folder / "work")


def files(folder: Path) -> dict[str, str]:
    """What the tools wrote."""
    work = folder / "work"
    return {
        path.relative_to(work).as_posix(): path.read_text("utf-8") for path in sorted(work.rglob("*")) if path.is_file()
    }


CAREFUL = {
    "id": "careful",
    "description": "Never writes.",
    "tools": {"forbidden": ["write"]},
    "text": {"instructions": "Look, do not touch."},
}
FILING = {
    "id": "filing",
    "description": "Assembles filings.",
    "tools": {"allowed": ["write"]},
    "text": {"instructions": "Assemble, then write."},
    "checkpoints": [{"name": "pre_filing", "before": "write", "asks": "Is everything there?"}],
}


def weaver_and_events(folder: Path) -> tuple[Weaver, Recorder]:
    """A Weaver with the pack `coding`, two skills more, and somebody who listens."""
    recorder = Recorder()
    return skillweave.open(
        CAREFUL, FILING, packs=["coding"], ledger=folder / "ledger.db", observers=[recorder]
    ), recorder
