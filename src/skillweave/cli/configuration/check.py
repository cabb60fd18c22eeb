"""What is wrong with a configuration file: keys and tables that mean nothing, values of the wrong type."""

from collections.abc import Callable, Collection, Iterator, Mapping

from skillweave.cli.configuration.file import COMMAND, ConfigFile
from skillweave.cli.configuration.keys import OF_ONE_CALL, OF_ONE_TURN, Key, normal, shared_keys
from skillweave.cli.configuration.values import WrongType, from_toml
from skillweave.errors import nearest_names

Table = Mapping[str, object]
Keys = Callable[[], Mapping[str, Key]]
"""Finds the keys of a command by name; not called for a command that has no table."""


def problems_of(file: ConfigFile, commands: Collection[str], keys: Mapping[str, Keys]) -> Iterator[str]:
    """Everything that is wrong, a line each with place and remedy.

    `commands` are the names that a table under `command` may have; in those that `keys` has the keys are checked too.
    """
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
        elif name in keys:
            yield from _problems(file, file.of_command(name), keys[name](), name)


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
