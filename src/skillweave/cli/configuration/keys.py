"""Which options can be configured, and a configured value as the option takes it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from typer.models import OptionInfo

from skillweave.cli import options
from skillweave.redaction import without_secrets
from skillweave.sources.names import expanded

PREFIX = "SKILLWEAVE_"
_TURN = "coding conversation memory message result risk role task transcript"
_CALL = """
after all-skills at by check ctx current datum description dry-run fix force json limit name
nodes of outline output parent radius ref scope section skill spawn trigger validate visited watch
"""
OF_ONE_TURN = frozenset(_TURN.split())
"""What is said of one turn: configured, it would be taken for every turn, and nobody would see why."""
OF_ONE_CALL = frozenset(_CALL.split())
"""How one call answers, what it may change, what is said of one graph, sub-agent or new skill, and in whose name."""
_OF_PATHS = ("DIR", "FILE", "URL")
"""What the metavar of an option says whose value is a path, or a URL that may hold one."""
_NEVER = OF_ONE_TURN | OF_ONE_CALL
_TYPES: Mapping[type, str] = {
    bool: "a truth value",
    int: "a whole number",
    float: "a fraction",
    dict: "a table",
    list: "a list",
}


class WrongType(Exception):
    """A value of another type than the option's; the text says what it is and what it must be."""


@dataclass(frozen=True, slots=True)
class Key:
    """One configurable option: its long name without dashes, and the parameter of the command that has it."""

    name: str
    parameter: Any

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return variable_of(self.name)

    @property
    def wanted(self) -> tuple[str, str]:
        """What a value must be in TOML, and an example."""
        if self.parameter.is_flag:
            return "true or false", "true"
        return ("a list of texts", '["...", "..."]') if self.parameter.multiple else ("a text or a number", '"..."')

    @property
    def _is_path(self) -> bool:
        return any(word in (self.parameter.metavar or "") for word in _OF_PATHS)

    def from_toml(self, value: object, folder: Path) -> object:
        """Returns the value for the option; relative paths start from the file's folder. Raises WrongType."""
        wrong = self._wrong_part(value)
        if wrong is not None:
            must, example = self.wanted
            stands = "has an entry that is" if self.parameter.multiple and isinstance(value, list) else "is"
            raise WrongType(
                f"{self.name!r} {stands} {_type_of(wrong)}, and must be {must}; "
                f"write for example {self.name} = {example}"
            )
        if not self._is_path:
            return value
        return [_placed(one, folder) for one in value] if isinstance(value, list) else _placed(str(value), folder)

    def from_text(self, text: str) -> object:
        """Returns the value of an environment variable: lists of paths are parted as in PATH, others by commas.

        Lists with a URL among them are parted by commas too, as a URL has colons of its own.
        """
        if not self.parameter.multiple:
            return text
        parts = text.split(os.pathsep if self._is_path and "://" not in text else ",")
        return [part.strip() for part in parts if part.strip()]

    def as_flag(self, value: object) -> object:
        """Returns the value as the flag would give it to the command; raises BadParameter where that refuses."""
        taken = self.parameter.type_cast_value(None, value)
        return list(taken) if isinstance(taken, tuple) else taken

    def why_refused(self, value: object, message: str) -> str:
        """Why the option does not take a value, in words for people; `message` is what its parser says."""
        return f"{str(value)[:40]!r} is neither yes nor no" if self.parameter.is_flag else message.rstrip(".")

    def _wrong_part(self, value: object) -> object:
        """The value, or the entry of it, that the option cannot be given; None where all is well."""
        if self.parameter.is_flag:
            return None if isinstance(value, bool) else value
        if self.parameter.multiple:
            return next((one for one in value if not isinstance(one, str)), None) if isinstance(value, list) else value
        return None if isinstance(value, str | int | float) and not isinstance(value, bool) else value


@lru_cache(maxsize=1)
def shared_names() -> frozenset[str]:
    """The options that our own commands share, by name: they may stand at the top of a file, and in variables."""
    notes = (note for stated in vars(options).values() for note in getattr(stated, "__metadata__", ()))
    # In an annotation the first spelling of an option stands where a default would.
    spelled = (
        one for note in notes if isinstance(note, OptionInfo) for one in (note.default, *(note.param_decls or ()))
    )
    return frozenset(one[2:] for one in spelled if isinstance(one, str) and one.startswith("--")) - _NEVER


def keys_of(command: Any) -> Mapping[str, Key]:  # noqa: ANN401 - typer's types are private
    """The configurable options of a command, by the names of its function's parameters."""
    named = ((one, next((text[2:] for text in one.opts if text.startswith("--")), "")) for one in command.params)
    return {one.name: Key(name, one) for one, name in named if name and name not in _NEVER}


def normal(name: str) -> str:
    """A key as options spell it: `max_skills` is `max-skills`."""
    return name.replace("_", "-")


def variable_of(name: str) -> str:
    """The environment variable that sets an option."""
    return PREFIX + name.upper().replace("-", "_")


def _type_of(value: object) -> str:
    if isinstance(value, str):
        return f"a text ({without_secrets(value)[:40]!r})"
    return _TYPES.get(type(value), "a date or a time")


def _placed(path: str, folder: Path) -> str:
    """The path as it is meant in a file of that folder; of URLs only those of a SQLite file hold a path."""
    scheme, separator, rest = path.partition("://")
    if separator:
        inner = rest.removeprefix("/")
        return f"sqlite:///{_placed(inner, folder)}" if scheme == "sqlite" and inner else path
    if path.startswith("~"):
        return str(expanded(Path(path)))
    return path if not path or _is_current(folder) else str(folder / path)


def _is_current(folder: Path) -> bool:
    try:
        return folder == Path.cwd()
    except OSError:
        return False
