"""What is wrong with a configuration: keys, tables and variables that mean nothing, values of the wrong type."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from skillweave.cli.configuration.file import COMMAND, ConfigFile
from skillweave.cli.configuration.keys import (
    OF_ONE_CALL,
    OF_ONE_TURN,
    PREFIX,
    Key,
    WrongType,
    from_toml,
    keys_of,
    normal,
    shared_keys,
)
from skillweave.errors import nearest_names

Table = Mapping[str, object]

CONFIG_VARIABLE = f"{PREFIX}CONFIG"
"""Names the configuration file, as `--config` does."""
OF_TESTS = frozenset({"SKILLWEAVE_SKILLS_SAMPLE", "SKILLWEAVE_SELECTION", "SKILLWEAVE_SOAK_RUNS"})
"""Variables of the project's own tests, which mean nothing to the program."""


def problems_of(file: ConfigFile, program: "Program", checked: Collection[str]) -> Iterator[str]:
    """Everything that is wrong, a line each with place and remedy; keys in the tables of the `checked` commands too."""
    commands = program.names
    top = {name: value for name, value in file.table.items() if name != COMMAND}
    yield from (_about_table(file, name, commands) for name in top if _is_table(top[name]))
    yield from _problems(file, {name: value for name, value in top.items() if not _is_table(value)}, shared_keys())
    tables = file.table.get(COMMAND, {})
    if not isinstance(tables, Mapping):
        yield f"{file.place(COMMAND)}: {COMMAND!r} holds the tables of commands; write for example [{COMMAND}.weave]"
        return
    for name in tables:
        place = file.place(name, COMMAND)
        if name not in commands:
            yield f"{place}: there is no command {name[:60]!r} to configure; {_near(name, commands)}"
        elif not _is_table(tables[name]):
            yield f"{place}: {name!r} must be a table; write [{COMMAND}.{name}], and below it the options"
        elif name in checked:
            yield from _problems(file, file.of_command(name), program.keys(name), name)


def _problems(file: ConfigFile, table: Table, known: Mapping[str, Key], command: str | None = None) -> Iterator[str]:
    seen: set[str] = set()
    for name, value in table.items():
        fault = _fault(name, value, known, command, file)
        if normal(name) in seen:
            fault = f"{name!r} is there twice, with a dash and with an underscore; remove one"
        if fault is not None:
            yield f"{file.place(name, *((COMMAND, command) if command else ()))}: {fault}"
        seen.add(normal(name))


def _fault(name: str, value: object, known: Mapping[str, Key], command: str | None, file: ConfigFile) -> str | None:
    key = known.get(normal(name))
    if key is not None:
        try:
            from_toml(key, value, file.path.parent)
        except WrongType as error:
            return str(error)
        return None
    if normal(name) in OF_ONE_TURN | OF_ONE_CALL:
        return f"{name!r} cannot be configured; give --{normal(name)} with the command"
    what = f"the command {command} has no option {name[:60]!r}" if command else f"there is no option {name[:60]!r}"
    return f"{what} to configure; {_near(normal(name), known)}"


def _about_table(file: ConfigFile, name: str, commands: Collection[str]) -> str:
    place = file.place(name)
    key = shared_keys().get(normal(name))
    if name in commands:
        return f"{place}: options of one command stand in a table of it; write [{COMMAND}.{name}]"
    if key is not None:
        return f"{place}: {name!r} is a table, and must be {key.kind.value}"
    return f"{place}: there is no table {name[:60]!r}; tables are called [{COMMAND}.weave], after a command"


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def _near(name: str, known: Collection[str]) -> str:
    near = nearest_names(name, sorted(known))
    return f"did you mean {near[0]!r}?" if near else f"those known are {', '.join(sorted(known))}"


class Program:
    """The commands as configuration sees them: their names, the keys that their tables may have, and their defaults."""

    def __init__(self, group: Any) -> None:  # noqa: ANN401 - typer's types are private
        self._deferred: Mapping[str, Any] = group.commands
        self._loaded: dict[str, tuple[Any, ...]] = {}

    @property
    def names(self) -> Collection[str]:
        """The names that a table under `command` may have."""
        return self._deferred.keys()

    def keys(self, name: str) -> Mapping[str, Key]:
        """The keys of a command's table, by name; those of a group are the keys of all its commands."""
        return {key.name: key for command in self._commands(name) for key in keys_of(command.callback).values()}

    def default(self, key: Key) -> object:
        """What the program takes where nothing is configured; of commands that differ, what the first one takes."""
        option = self._option(key)
        return None if option is None else option.default

    def as_flag(self, key: Key, value: object) -> object:
        """The value as the flag of that name would give it to its command; raises BadParameter where that refuses."""
        option = self._option(key)
        taken = value if option is None else option.type_cast_value(None, value)
        return list(taken) if isinstance(taken, tuple) else taken

    def _option(self, key: Key) -> Any:  # noqa: ANN401
        parameters = (one for name in self.names for command in self._commands(name) for one in command.params)
        return next((one for one in parameters if f"--{key.name}" in one.opts), None)

    def _commands(self, name: str) -> tuple[Any, ...]:
        """The command, or all of a group."""
        if name not in self._loaded:
            made = self._deferred[name].load()
            self._loaded[name] = tuple(getattr(made, "commands", {"": made}).values())
        return self._loaded[name]


def strange_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A line for each variable that begins like ours and configures nothing."""
    ours = sorted(name for name in environment if name.startswith(PREFIX) and name not in OF_TESTS)
    if not ours:
        return
    known = {CONFIG_VARIABLE, *(key.variable for key in shared_keys().values())}
    for name in ours:
        if name in known or not environment[name]:
            continue
        option = normal(name.removeprefix(PREFIX).lower())
        if option in OF_ONE_TURN | OF_ONE_CALL:
            yield f"{name} is ignored: give --{option} with the command"
            continue
        # The beginning, which all share, would make each look like every other.
        near = nearest_names(name.removeprefix(PREFIX), [other.removeprefix(PREFIX) for other in known])
        remedy = f"did you mean {PREFIX}{near[0]}?" if near else f"those that do are {', '.join(sorted(known))}"
        yield f"{name} is ignored: it configures nothing; {remedy}"
