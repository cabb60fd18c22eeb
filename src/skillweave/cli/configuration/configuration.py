"""What is configured for this call, by a file and by the environment, and what is wrong with it."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from skillweave.cli.commands import ELSEWHERE, OWN, is_guest
from skillweave.cli.configuration.file import COMMAND, ConfigFile, InvalidConfiguration, nearest_file, read_file
from skillweave.cli.configuration.keys import (
    OF_ONE_CALL,
    OF_ONE_TURN,
    PREFIX,
    Key,
    WrongType,
    keys_of,
    normal,
    shared_names,
    variable_of,
)
from skillweave.errors import SkillweaveError, nearest_names
from skillweave.sources.names import expanded

Table = Mapping[str, object]

CONFIG_VARIABLE = f"{PREFIX}CONFIG"
"""Names the configuration file, as `--config` does."""
OF_TESTS = frozenset(f"SKILLWEAVE_{name}" for name in ("SKILLS_SAMPLE", "SELECTION", "REQUESTS", "SOAK", "SOAK_RUNS"))
"""Variables of the project's own tests, which mean nothing to the program."""


def problems_of(file: ConfigFile, program: "Program", checked: Collection[str]) -> Iterator[str]:
    """Everything that is wrong, a line each with place and remedy; values of the `checked` commands' options too."""
    top = {name: value for name, value in file.table.items() if name != COMMAND}
    for name in (one for one, value in top.items() if isinstance(value, Mapping)):
        yield f"{file.place(name)}: {_about_table(name, program)}"
    plain = {name: value for name, value in top.items() if not isinstance(value, Mapping)}
    keys = {name: key for command in checked for name, key in program.keys(command).items()}
    yield from _problems(file, plain, keys, program)
    tables = file.table.get(COMMAND, {})
    if not isinstance(tables, Mapping):
        yield f"{file.place(COMMAND)}: {COMMAND!r} holds the tables of commands; write for example [{COMMAND}.weave]"
        return
    for name in tables:
        place = file.place(name, COMMAND)
        if not program.knows(name):
            yield f"{place}: there is no command {name[:60]!r} to configure; {_near(name, program.names)}"
        elif not isinstance(tables[name], Mapping):
            yield f"{place}: {name!r} must be a table; write [{COMMAND}.{name}], and below it the options"
        elif name in checked:
            yield from _problems(file, file.of_command(name), program.keys(name), program, name)


def _problems(
    file: ConfigFile, table: Table, keys: Mapping[str, Key], program: "Program", command: str | None = None
) -> Iterator[str]:
    seen: set[str] = set()
    for name, value in table.items():
        place = file.place(name, *((COMMAND, command) if command else ()))
        spelled = normal(name)
        key = keys.get(spelled)
        if spelled in seen:
            yield f"{place}: {name!r} is there twice, with a dash and with an underscore; remove one"
        elif key is None or not (command or program.is_shared(spelled)):
            if fault := _about_key(spelled, name, program, command):
                yield f"{place}: {fault}"
        else:
            try:
                key.from_toml(value, file.path.parent)
            except WrongType as error:
                yield f"{place}: {error}"
        seen.add(spelled)


def _about_key(spelled: str, name: str, program: "Program", command: str | None) -> str | None:
    """What is wrong with a key that is none of the commands that are looked at; None where another one takes it."""
    if spelled in OF_ONE_TURN | OF_ONE_CALL:
        return f"{name!r} cannot be configured; give --{spelled} with the command"
    if command:
        known: Collection[str] = program.keys(command)
        return f"the command {command} has no option {name[:60]!r} to configure; {_near(spelled, known)}"
    if program.is_shared(spelled):
        return None
    return f"there is no option {name[:60]!r} to configure; {_near(spelled, program.shared_keys())}"


def _about_table(name: str, program: "Program") -> str:
    if program.knows(name):
        return f"options of one command stand in a table of it; write [{COMMAND}.{name}]"
    if program.is_shared(normal(name)):
        must, example = program.shared_keys()[normal(name)].wanted
        return f"{name!r} is a table, and must be {must}; write for example {name} = {example}"
    return f"there is no table {name[:60]!r}; tables are called [{COMMAND}.weave], after a command"


def _near(name: str, known: Collection[str]) -> str:
    near = nearest_names(name, sorted(known))
    return f"did you mean {near[0]!r}?" if near else f"those known are {', '.join(sorted(known))}"


class Program:
    """The commands as configuration sees them: their names, and the keys that may be configured."""

    def __init__(self, group: Any) -> None:  # noqa: ANN401 - typer's types are private
        self._group = group

    @property
    def names(self) -> Collection[str]:
        """The names of all commands that are here."""
        found: list[str] = self._group.list_commands(None)
        return found

    def knows(self, name: str) -> bool:
        """Whether a table under `command` may have that name; also one whose distribution is not installed."""
        return name in OWN or name in ELSEWHERE or name in self.names

    def keys(self, name: str) -> Mapping[str, Key]:
        """The keys of a command's table, by name; of a group those of all its commands; none of one not here."""
        if name not in OWN and name not in self.names:
            return {}
        made = self._group.commands[name].load()
        commands = getattr(made, "commands", {"": made}).values()
        return {key.name: key for command in commands for key in keys_of(command).values()}

    def is_shared(self, name: str) -> bool:
        """Whether an option may stand at the top of a file: our commands share it, or a guest takes it."""
        return name in shared_names() or name in self.shared_keys()

    def shared_keys(self) -> Mapping[str, Key]:
        """The keys at the top of a file and of the environment; loads every command, ours and those of guests."""
        found: dict[str, Key] = {}
        for command in self.names:
            for name, key in self.keys(command).items():
                if is_guest(command) or name in shared_names():
                    found.setdefault(name, key)
        return found


def strange_variables(environment: Mapping[str, str], program: Program) -> Iterator[str]:
    """A line for each variable that begins like ours and configures nothing."""
    own = {CONFIG_VARIABLE, *OF_TESTS, *map(variable_of, shared_names())}
    ours = sorted(name for name, text in environment.items() if name.startswith(PREFIX) and name not in own and text)
    if not ours:
        return
    known = {CONFIG_VARIABLE, *map(variable_of, program.shared_keys())}
    for name in ours:
        option = normal(name.removeprefix(PREFIX).lower())
        if name in known:
            continue
        if option in OF_ONE_TURN | OF_ONE_CALL:
            yield f"{name} is ignored: give --{option} with the command"
            continue
        # The beginning, which all share, would make each look like every other.
        near = nearest_names(name.removeprefix(PREFIX), [other.removeprefix(PREFIX) for other in known])
        remedy = f"did you mean {PREFIX}{near[0]}?" if near else f"those that do are {', '.join(sorted(known))}"
        yield f"{name} is ignored: it configures nothing; {remedy}"


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

    def setting(self, key: Key, command: str, *, shared: bool = False) -> Setting | None:
        """What is configured for an option of a command, None when nothing is; `shared` for a key that guests take.

        Raises WrongType for a value that no check would have let through.
        """
        shared = shared or is_guest(command) or key.name in shared_names()
        text = self.environment.get(key.variable) if shared else None
        if text:
            return Setting(key, key.from_text(text), Origin.ENVIRONMENT, key.variable)
        if self.file is None:
            return None
        own = _in_table(key, self.file, self.file.of_command(command), COMMAND, command)
        return own or (_in_table(key, self.file, self.file.table) if shared else None)


def _in_table(key: Key, file: ConfigFile, table: Mapping[str, object], *tables: str) -> Setting | None:
    for name, value in table.items():
        if normal(name) == key.name:
            return Setting(key, key.from_toml(value, file.path.parent), Origin.FILE, file.place(name, *tables))
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
        message = setting.key.why_refused(setting.value, error.message)
        return InvalidConfiguration(f"{setting.place}: {setting.key.name!r} is wrong: {message}; change it there")

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


def defaults_of(command: Any, name: str | None, parent: Any, *, silent: bool) -> Defaults:  # noqa: ANN401 - typer's types are private
    """The defaults of a command that is about to be parsed; `silent` for shell completion."""
    whole = parent.find_root()
    outermost = [*_path(parent), name or ""][0]
    kind = Silent if silent else Defaults
    return kind(outermost, keys_of(command), Program(whole.command), chosen_in(whole.params))


def _path(context: Any) -> list[str]:  # noqa: ANN401
    """The words of the command line that lead to a context, without the name of the program."""
    return [] if context.parent is None else [*_path(context.parent), str(context.info_name)]


def chosen_in(params: Mapping[str, Any]) -> Chosen:
    """What was said before the command, from the parameters of the program itself."""
    return Chosen(params.get("config"), bool(params.get("no_config")))
