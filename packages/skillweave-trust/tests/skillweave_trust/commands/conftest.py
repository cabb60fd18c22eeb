"""The commands of the engine run the commands of this distribution."""

from tests.cli.conftest import cli

__all__ = ["cli"]
