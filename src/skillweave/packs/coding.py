"""The built-in pack `coding`: a specification first, then the code that meets it (seed 002, spec 4.5)."""

from pathlib import Path

from skillweave.sources.pack import Pack


def coding() -> Pack:
    """The pack: `specification-engine`, `opencode-implementer` and the rule that gives both for a coding task."""
    return Pack(Path(__file__).with_name("coding.yaml"))
