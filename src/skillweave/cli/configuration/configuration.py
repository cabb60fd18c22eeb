"""What is configured for this call, by a file and by the environment, and what typer takes from it as defaults."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from skillweave.cli.configuration.check import CONFIG_VARIABLE, Program, problems_of
from skillweave.cli.configuration.file import COMMAND, ConfigFile, InvalidConfiguration, nearest_file, read_file
from skillweave.cli.configuration.keys import Key, from_text, from_toml, keys_of, normal, shared_keys, why_refused
from skillweave.errors import SkillweaveError
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


class Defaults:
    """A mapping from parameters to configured values; `given` are those that were taken."""

    def __init__(self, command: str, keys: Mapping[str, Key], program: Program, chosen: Chosen) -> None:
        self.given: dict[str, Setting] = {}
        self._command = command
        self._keys = keys
        self._program = program
        self._chosen = chosen
        self._read: Configuration | None = None

    def get(self, parameter: str, default: object = None) -> object:
        """The configured value; raises InvalidConfiguration for a file that cannot be taken as it is."""
        key = self._keys.get(parameter)
        setting = None if key is None else self._configuration().setting(key, self._command)
        if setting is None:
            return default
        self.given[parameter] = setting
        return setting.value

    def explained(self, error: typer.BadParameter) -> Exception:
        """The error itself, or one that names the place where the refused value stands."""
        setting = self.given.get(getattr(error.param, "name", None) or "")
        if setting is None:
            return error
        message = why_refused(setting.key, setting.value, error.message)
        return InvalidConfiguration(f"{setting.place}: {setting.key.name!r} is wrong: {message}; mend it there")

    def name_places(self, error: SkillweaveError) -> None:
        """Note on the error where those of its words stand that were configured."""
        text = str(error)
        for setting in self.given.values():
            values = setting.value if isinstance(setting.value, list) else [setting.value]
            if any(_is_named(str(value), text) for value in values):
                error.add_note(f"{setting.key.name!r} is set in {setting.place}")

    def _configuration(self) -> Configuration:
        if self._read is None:
            self._read = self._checked(configuration_of(self._chosen))
        return self._read

    def _checked(self, configuration: Configuration) -> Configuration:
        """The configuration; raises InvalidConfiguration with the first thing that is wrong in its file."""
        if configuration.file is None:
            return configuration
        for problem in problems_of(configuration.file, self._program, {self._command}):
            raise InvalidConfiguration(problem)
        return configuration


def _is_named(value: str, text: str) -> bool:
    """Whether a text is about a value: it quotes it, or it has a path that stands in it."""
    return repr(value) in text or (len(value) > 2 and bool({"/", ".", "\\"} & set(value)) and value in text)


class Silent(Defaults):
    """The defaults for shell completion, where whatever is wrong means that nothing is configured."""

    def get(self, parameter: str, default: object = None) -> object:
        """The configured value, if there is one."""
        try:
            return super().get(parameter, default)
        except (SkillweaveError, OSError):
            return default


def defaults_of(function: Any, name: str | None, parent: Any, *, silent: bool) -> Defaults:  # noqa: ANN401 - typer's types are private
    """The defaults of a command that is about to be parsed; `silent` for shell completion."""
    whole = parent.find_root()
    outermost = [*_path(parent), name or ""][0]
    kind = Silent if silent else Defaults
    return kind(outermost, keys_of(function), Program(whole.command), chosen_in(whole.params))


def _path(context: Any) -> list[str]:  # noqa: ANN401
    """The words of the command line that lead to a context, without the name of the program."""
    return [] if context.parent is None else [*_path(context.parent), str(context.info_name)]


def chosen_in(params: Mapping[str, Any]) -> Chosen:
    """What was said before the command, from the parameters of the program itself."""
    return Chosen(params.get("config"), bool(params.get("no_config")))
