"""What is configured for this call of the program: by a file and by the environment, which wins."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from skillweave.cli.configuration.environment import CONFIG_VARIABLE
from skillweave.cli.configuration.file import COMMAND, ConfigFile, nearest_file, read_file
from skillweave.cli.configuration.keys import Key, normal, shared_keys
from skillweave.cli.configuration.values import from_text, from_toml
from skillweave.sources.names import expanded


class Origin(StrEnum):
    """Where the value of an option comes from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Setting:
    """A configured value, where it comes from, and the place to name in an error."""

    key: Key
    value: object
    origin: Origin
    place: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is said before the command: which file to read, or that none is to be read."""

    file: str | None = None
    without: bool = False


@dataclass(frozen=True, slots=True)
class Configuration:
    """The file, None where there is none, and the environment."""

    file: ConfigFile | None
    environment: Mapping[str, str]

    def setting(self, key: Key, command: str) -> Setting | None:
        """What is configured for an option of a command, None when nothing is.

        Raises WrongType for a value that no check would have let through.
        """
        shared = shared_keys().get(key.name) == key
        text = self.environment.get(key.variable) if shared else None
        if text:
            return Setting(key, from_text(key, text), Origin.ENVIRONMENT, key.variable)
        if self.file is None:
            return None
        own = _in_table(key, self.file, self.file.of_command(command), COMMAND, command)
        return own or (_in_table(key, self.file, self.file.table) if shared else None)


def _in_table(key: Key, file: ConfigFile, table: Mapping[str, object], *tables: str) -> Setting | None:
    for name, value in table.items():
        if normal(name) == key.name:
            return Setting(key, from_toml(key, value, file.path.parent), Origin.FILE, file.place(name, *tables))
    return None


def configuration_of(chosen: Chosen, environment: Mapping[str, str] = os.environ) -> Configuration:
    """The configuration of this call, its file read but not checked; raises InvalidConfiguration."""
    return Configuration(_file(chosen, environment), environment)


def _file(chosen: Chosen, environment: Mapping[str, str]) -> ConfigFile | None:
    if chosen.without:
        return None
    named = chosen.file or environment.get(CONFIG_VARIABLE)
    if named:
        return read_file(expanded(Path(named)).absolute())
    try:
        return nearest_file(Path.cwd(), Path.home().resolve())
    except (FileNotFoundError, RuntimeError):
        # The current folder is gone, or nobody has a home: then nothing is configured.
        return None
