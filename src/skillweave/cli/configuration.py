"""Values for options from a file and from the environment, checked like flags.

In rising precedence: default, `skillweave.toml` or `[tool.skillweave]`, `SKILLWEAVE_*`, flag (spec 8, CLI). Nothing is
read before a command asks for a value.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from typer import BadParameter
from typer.models import OptionInfo

from skillweave.cli import options
from skillweave.cli.commands import ELSEWHERE, OWN
from skillweave.cli.config_file import COMMAND, ConfigFile, InvalidConfiguration, nearest_file, read_file
from skillweave.errors import SkillweaveError, nearest_names
from skillweave.redaction import without_secrets
from skillweave.sources.names import expanded

PREFIX = "SKILLWEAVE_"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
"""Names the configuration file, as `--config` does."""
OF_TESTS = frozenset(f"{PREFIX}{name}" for name in ("SKILLS_SAMPLE", "SELECTION", "REQUESTS", "SOAK", "SOAK_RUNS"))
"""Variables of the project's own tests, which mean nothing to the program."""
_TURN = "coding conversation memory message result risk role task transcript"
_CALL = """
after all-skills at by check ctx current datum description dry-run fix force json limit name
nodes of outline output parent radius ref scope section skill spawn trigger validate visited watch
"""
NEVER = frozenset((*_TURN.split(), *_CALL.split()))
"""Options of one turn or of one call: configured, they would count for every one, and nobody would see why."""
_SERVICE = """
approval-key-file approval-wait drain first-key host no-access-log on-store-failure port rate redis store trusted-proxy
require-conversation upstream upstream-key upstream-path when-unknown
"""
OF_SATELLITES = frozenset(_SERVICE.split())
"""Options that the service and the stores share; a file may set them also where these are not installed."""
_OF_PATHS = ("DIR", "FILE", "URL")
"""What the metavar of an option says whose value is a path, or a URL that may hold one."""


@lru_cache(maxsize=1)
def shared_names() -> frozenset[str]:
    """The options that may stand at the top of a file, and in variables: those that commands share."""
    notes = (note for stated in vars(options).values() for note in getattr(stated, "__metadata__", ()))
    # In an annotation the first spelling of an option stands where a default would.
    spelled = (
        one for note in notes if isinstance(note, OptionInfo) for one in (note.default, *(note.param_decls or ()))
    )
    own = frozenset(one[2:] for one in spelled if isinstance(one, str) and one.startswith("--"))
    return (own | OF_SATELLITES) - NEVER


@dataclass(frozen=True, slots=True)
class Key:
    """A configurable option: its long name without dashes, and the parameter of the command that has it."""

    name: str
    parameter: Any

    def from_toml(self, value: object, folder: Path) -> object:
        """Returns the value for the option; relative paths start from the file's folder. Raises BadParameter."""
        many = bool(self.parameter.multiple)
        if self.parameter.is_flag:
            fits, must = isinstance(value, bool), "true or false"
        elif many:
            fits = isinstance(value, list) and all(isinstance(one, str) for one in value)
            must = 'a list of texts, such as ["...", "..."]'
        else:
            fits, must = isinstance(value, str | int | float) and not isinstance(value, bool), "a text or a number"
        if not fits:
            raise BadParameter(f"{without_secrets(str(value))[:40]!r} is not {must}")
        if not self._is_path:
            return value
        return [_placed(one, folder) for one in value] if isinstance(value, list) else _placed(str(value), folder)

    def from_text(self, text: str) -> object:
        """Returns the value of a variable. Lists of paths are split as in PATH, all others at commas."""
        if not self.parameter.multiple:
            return text
        parts = text.split(os.pathsep if self._is_path and "://" not in text else ",")
        return [part.strip() for part in parts if part.strip()]

    @property
    def _is_path(self) -> bool:
        return any(word in (self.parameter.metavar or "") for word in _OF_PATHS)


def _placed(path: str, folder: Path) -> str:
    """The path as it is meant in a file of that folder; of URLs only those of a SQLite file hold a path."""
    scheme, separator, rest = path.partition("://")
    if separator:
        inner = rest.removeprefix("/")
        return f"sqlite:///{_placed(inner, folder)}" if scheme == "sqlite" and inner else path
    if path.startswith("~"):
        return str(expanded(Path(path)))
    return path if not path or folder == Path.cwd() else str(folder / path)


def keys_of(command: Any) -> dict[str, Key]:  # noqa: ANN401 - typer's types are private
    """The configurable options of a command, or of all commands of a group, by name."""
    if getattr(command, "commands", None):
        return {name: key for inner in command.commands.values() for name, key in keys_of(inner).items()}
    named = ((one, next((text[2:] for text in one.opts if text.startswith("--")), "")) for one in command.params)
    return {name: Key(name, one) for one, name in named if name and name not in NEVER}


def problems_of(file: ConfigFile, program: Any, checked: Collection[str]) -> Iterator[str]:  # noqa: ANN401
    """Yields a line for each mistake in the file; values are checked for the `checked` commands of `program`."""
    by_command = {name: keys_of(program.commands[name].load()) for name in checked}
    keys = {name: key for one in by_command.values() for name, key in one.items()}
    top = {name: value for name, value in file.table.items() if name != COMMAND}
    yield from _problems(file, top, {name: keys.get(name) for name in shared_names()})
    tables = file.table.get(COMMAND, {})
    if not isinstance(tables, Mapping):
        yield f"{file.place(COMMAND)}: {COMMAND!r} holds the tables of commands; write for example [{COMMAND}.weave]"
        return
    for name, table in tables.items():
        if name not in OWN and name not in ELSEWHERE and name not in program.list_commands(None):
            near = _near(name, program.list_commands(None))
            yield f"{file.place(name)}: there is no command {name[:60]!r} to configure; {near}"
        elif not isinstance(table, Mapping):
            yield f"{file.place(name)}: {name!r} must be a table; write [{COMMAND}.{name}], and below it the options"
        elif name in by_command:
            yield from _problems(file, table, by_command[name], f"the command {name} has")


def _problems(
    file: ConfigFile, table: Mapping[str, object], known: Mapping[str, Key | None], whose: str = "there is"
) -> Iterator[str]:
    for name, value in table.items():
        spelled, place = name.replace("_", "-"), file.place(name)
        if spelled in NEVER:
            yield f"{place}: {name!r} cannot be configured; give --{spelled} with the command"
        elif spelled not in known and isinstance(value, Mapping):
            yield f"{place}: there is no table {name[:60]!r}; tables are called [{COMMAND}.weave], after a command"
        elif spelled not in known:
            yield f"{place}: {whose} no option {name[:60]!r} to configure; {_near(spelled, known)}"
        elif (key := known[spelled]) is not None:
            try:
                key.from_toml(value, file.path.parent)
            except BadParameter as error:
                yield _wrong(place, spelled, error)


def _near(name: str, known: Collection[str]) -> str:
    near = nearest_names(name, sorted(known))
    return f"did you mean {near[0]!r}?" if near else f"those known are {', '.join(sorted(known))}"


def _wrong(place: str, name: str, error: BadParameter) -> str:
    return f"{place}: {name!r} is wrong: {error.message.partition('. ')[0].rstrip('.')}; change it there"


def strange_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A line for each variable that begins like ours and configures nothing."""
    known = {CONFIG_VARIABLE, *map(variable_of, shared_names())}
    for name in sorted(environment):
        if not name.startswith(PREFIX) or not environment[name] or name in known | OF_TESTS:
            continue
        option = name.removeprefix(PREFIX).lower().replace("_", "-")
        remedy = f"give --{option} with the command"
        if option not in NEVER:
            # The beginning, which all share, would make each look like every other.
            near = nearest_names(name.removeprefix(PREFIX), [other.removeprefix(PREFIX) for other in known])
            remedy = f"did you mean {PREFIX}{near[0]}?" if near else f"those that do are {', '.join(sorted(known))}"
        yield f"{name} is ignored: it configures nothing; {remedy}"


def variable_of(name: str) -> str:
    """The environment variable that sets an option."""
    return PREFIX + name.upper().replace("-", "_")


class Origin(StrEnum):
    """Where the value of an option comes from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of an option, where it comes from, and the place to name in an error."""

    key: Key
    value: object
    origin: Origin
    place: str | None

    def refused(self) -> str | None:
        """Why the option does not take the value, with place and remedy; None where it does."""
        try:
            self.taken()
        except BadParameter as error:
            return _wrong(self.place or "", self.key.name, error)
        return None

    def taken(self) -> "Setting":
        """The setting with the value as the flag would give it to the command. Raises BadParameter."""
        taken = self.key.parameter.type_cast_value(None, self.value)
        return replace(self, value=list(taken) if isinstance(taken, tuple) else taken)


@dataclass(frozen=True, slots=True)
class Configuration:
    """What is configured: the file, None where there is none, and the environment."""

    file: ConfigFile | None
    environment: Mapping[str, str]

    def setting(self, key: Key, command: str) -> Setting | None:
        """What is configured for an option of a command, None where nothing is. Raises BadParameter."""
        shared = key.name in shared_names()
        text = self.environment.get(variable_of(key.name)) if shared else None
        if text:
            return Setting(key, key.from_text(text), Origin.ENVIRONMENT, variable_of(key.name))
        if self.file is None:
            return None
        for table in (self.file.of_command(command), self.file.table if shared else {}):
            for name, value in table.items():
                if name.replace("_", "-") == key.name:
                    place = self.file.place(name)
                    return Setting(key, key.from_toml(value, self.file.path.parent), Origin.FILE, place)
        return None


def configuration_of(params: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Configuration:
    """The configuration of this call, its file read but not checked. Raises InvalidConfiguration."""
    named = params.get("config") or environment.get(CONFIG_VARIABLE)
    if params.get("no_config"):
        return Configuration(None, environment)
    if named:
        return Configuration(read_file(expanded(Path(named)).absolute()), environment)
    try:
        return Configuration(nearest_file(Path.cwd(), Path.home().resolve()), environment)
    except (FileNotFoundError, RuntimeError):
        # The current folder is gone, or nobody has a home: then nothing is configured.
        return Configuration(None, environment)


class Defaults:
    """The `default_map` of a command that is about to be parsed; reads when the first value is asked for."""

    def __init__(self, command: Any, path: list[str], root: Any) -> None:  # noqa: ANN401
        self.given: dict[str, Setting] = {}
        """The values that were taken, by parameter."""
        self._keys = {key.parameter.name: key for key in keys_of(command).values()}
        self._command = path[0]
        self._root = root

    def get(self, parameter: str, default: object = None) -> object:
        """The configured value; raises InvalidConfiguration for a file that cannot be taken as it is."""
        key = self._keys.get(parameter)
        setting = None if key is None else self._configuration.setting(key, self._command)
        if setting is None:
            return default
        self.given[parameter] = setting
        return setting.value

    def explained(self, error: BadParameter) -> Exception:
        """The error itself, or one that names the place where the refused value stands."""
        setting = self.given.get(getattr(error.param, "name", None) or "")
        return error if setting is None else InvalidConfiguration(_wrong(setting.place or "", setting.key.name, error))

    def name_places(self, error: SkillweaveError) -> None:
        """Note on the error where those of its words stand that were configured."""
        for setting in self.given.values():
            values = setting.value if isinstance(setting.value, list) else [setting.value]
            if any(_is_named(str(value), str(error)) for value in values):
                error.add_note(f"{setting.key.name!r} is set in {setting.place}")

    @cached_property
    def _configuration(self) -> Configuration:
        configuration = configuration_of(self._root.params)
        if configuration.file is not None:
            for problem in problems_of(configuration.file, self._root.command, {self._command}):
                raise InvalidConfiguration(problem)
        return configuration


def _is_named(value: str, text: str) -> bool:
    """Whether a text is about a value: it quotes it, or it has a path that stands in it."""
    return repr(value) in text or (len(value) > 2 and bool({"/", ".", "\\"} & set(value)) and value in text)
