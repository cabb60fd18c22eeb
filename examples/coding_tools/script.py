"""What the models of the coding examples say when no real one is named."""

from skillweave_testing.hosts import Asks, Says, Script

TASK = "Write a function double(number) in double.py that doubles a number."

SPECIFICATION = """# Doubling

## Purpose
Doubles numbers.

## Acceptance criteria
1. A number is doubled.
   Example: double(2) -> 4
2. A text is refused with a TypeError.
   Example: double("2") -> TypeError
"""
CODE = """def double(number):
    if isinstance(number, str):
        raise TypeError(f"{number!r} is not a number")
    return 2 * number
"""
TEST = """import unittest

from double import double


class Doubling(unittest.TestCase):
    def test_criterion_1(self):
        self.assertEqual(double(2), 4)

    def test_criterion_2(self):
        with self.assertRaises(TypeError):
            double("2")
"""


def _one(tool: str, **arguments: object) -> Says:
    return Says(asks=(Asks(tool, arguments),))


def script() -> Script:
    """A lead that first asks for one skill alone, then for both; the sub-agent's part stands in between."""
    return Script(
        _one("spawn_subagent", task=TASK, skills=["specification-engine"]),
        _one("spawn_subagent", task=TASK, skills=["specification-engine", "opencode-implementer"], label="coder"),
        _one("specKit", action="write", name="double", text="Just double it."),
        _one("specKit", action="write", name="double", text=SPECIFICATION),
        _one("write", path="double.py", text=CODE),
        _one("opencode-executor", action="write_file", path="double.py", text=CODE),
        _one("opencode-executor", action="write_file", path="test_double.py", text=TEST),
        _one("opencode-executor", action="run_tests"),
        "Both criteria hold: test_criterion_1 and test_criterion_2 are green.",
        "double.py is written, and both criteria of its specification hold.",
    )
