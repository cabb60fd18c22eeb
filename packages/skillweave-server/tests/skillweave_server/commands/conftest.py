"""What all tests of commands share."""

from tests.cli.conftest import cli, examples, process, small, unconfigured, write

__all__ = ["cli", "examples", "process", "small", "unconfigured", "write"]
