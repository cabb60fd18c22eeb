"""The commands as configuration sees them: their names, and the keys that their tables may have."""

from collections.abc import Callable, Iterator, Mapping
from inspect import signature
from typing import Any

from skillweave.cli.app import COMMANDS, load_command
from skillweave.cli.configuration.keys import Key, keys_of

NAMES = frozenset(COMMANDS)


def keys_of_command(name: str) -> Mapping[str, Key]:
    """The keys of a command's table, by name; those of a group are the keys of all its commands."""
    return {key.name: key for function in _functions(name) for key in keys_of(function).values()}


def default_of(key: Key) -> object:
    """What the program takes where nothing is configured; of commands that differ, what the first one takes."""
    for name in COMMANDS:
        for function in _functions(name):
            for parameter, found in keys_of(function).items():
                if found == key:
                    return signature(function).parameters[parameter].default
    return None


def as_flag(key: Key, value: object) -> object:
    """The value as the flag of that name would give it to its command; raises BadParameter where that refuses it."""
    for name in COMMANDS:
        for command in _commands(name):
            for parameter in command.params:
                if f"--{key.name}" in parameter.opts:
                    taken = parameter.type_cast_value(None, value)
                    return list(taken) if isinstance(taken, tuple) else taken
    return value


def _functions(name: str) -> Iterator[Callable[..., object]]:
    return (command.callback for command in _commands(name))


def _commands(name: str) -> Iterator[Any]:
    """The command, or all of a group."""
    command: Any = load_command(name)()
    yield from getattr(command, "commands", {"": command}).values()
