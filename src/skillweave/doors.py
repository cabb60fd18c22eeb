"""Doors of rooms: names that are loaded from the room's modules at their first use."""

import sys
from collections.abc import Callable
from importlib import import_module


def door(room: str, homes: str) -> Callable[[str], object]:
    """Make the `__getattr__` of a room, so that importing the room costs nothing until a name is used.

    `room` is the module's `__name__`. `homes` has one line for each module of the room: its path below the room, a
    colon, and the names it has; a line that is indented goes on with the line before. What a door gives and its
    `__all__` does not name is for the tests and for other rooms, and may change.
    """
    modules = {
        name: f"{room}.{module}"
        for module, _, names in (line.partition(":") for line in homes.replace("\n    ", " ").strip().splitlines())
        for name in names.split()
    }

    def load(name: str) -> object:
        module = sys.modules[room]
        if name not in modules:
            exports = ", ".join(vars(module).get("__all__", sorted(modules)))
            raise AttributeError(f"module {room!r} has no attribute {name!r}; it exports {exports}")
        value: object = getattr(import_module(modules[name]), name)
        setattr(module, name, value)
        return value

    return load
