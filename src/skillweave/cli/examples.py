"""Where the example skills are: in an installed package beside the code, in a checkout at its root."""

from pathlib import Path

from skillweave.cli.failure import Mistake


def example_skills() -> Path:
    """The folder of example skills; raises Mistake where they were not installed."""
    package = Path(__file__).parents[1]
    for folder in (package / "examples" / "skills", package.parents[1] / "examples" / "skills"):
        if folder.is_dir():
            return folder
    raise Mistake("the example skills are not installed; install skillweave again, or name a folder with --skills")
