"""Which options can be configured, what kind of value each takes, and its value as the option takes it."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, get_args, get_origin

from typer.models import OptionInfo

from skillweave.cli import options
from skillweave.redaction import without_secrets
from skillweave.sources.names import expanded

PREFIX = "SKILLWEAVE_"
OF_ONE_TURN = frozenset(
    {"coding", "conversation", "memory", "message", "result", "risk", "role", "task", "transcript", "turn-id"}
)
"""What is said of one turn: configured, it would be taken for every turn, and nobody would see why."""
OF_ONE_CALL = frozenset(
    {
        "after",
        "all-skills",
        "at",
        "by",
        "check",
        "ctx",
        "current",
        "datum",
        "description",
        "dry-run",
        "fix",
        "force",
        "format",
        "json",
        "label",
        "limit",
        "name",
        "no-skills",
        "nodes",
        "note",
        "of",
        "outline",
        "output",
        "parent",
        "prefix",
        "radius",
        "ref",
        "scope",
        "section",
        "skill",
        "spawn-id",
        "tag",
        "trigger",
        "visited",
        "watch",
    }
)
"""How one call answers, what it may change, what is said of one graph, sub-agent or new skill, and in whose name."""
_OF_PATHS = ("DIR", "FILE", "URL")
"""What the metavar of an option says whose value is a path, or a URL that may hold one."""
_NEVER = OF_ONE_TURN | OF_ONE_CALL
_NAMES: Mapping[type, str] = {
    bool: "a truth value",
    int: "a whole number",
    float: "a fraction",
    dict: "a table",
    list: "a list",
}


class Kind(Enum):
    """What a value must be in TOML; its text is how a person is told."""

    FLAG = "true or false"
    WHOLE = "a whole number"
    NUMBER = "a number"
    TEXT = "a text"
    TEXTS = "a list of texts"


@dataclass(frozen=True, slots=True)
class Key:
    """One configurable option: its long name without dashes; `is_path` is what the metavar of its option says."""

    name: str
    kind: Kind
    is_path: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.upper().replace("-", "_")


_KINDS: Mapping[type, Kind] = MappingProxyType({bool: Kind.FLAG, int: Kind.WHOLE, float: Kind.NUMBER})


@lru_cache(maxsize=1)
def shared_keys() -> Mapping[str, Key]:
    """The options that commands share, by name: the keys at the top of a file, and those of the environment."""
    return MappingProxyType({key.name: key for key in _keys(vars(options).values())})


def keys_of(function: Callable[..., object]) -> Mapping[str, Key]:
    """The configurable options of a command, by the names of its function's parameters."""
    found = ((parameter.name, key_of(parameter.annotation)) for parameter in signature(function).parameters.values())
    return MappingProxyType({name: key for name, key in found if key is not None})


def key_of(annotation: object) -> Key | None:
    """The key of an annotated option; None for an argument, and for what belongs to one turn or one call."""
    if get_origin(annotation) is not Annotated:
        return None
    kind, *notes = get_args(annotation)
    info = next((note for note in notes if isinstance(note, OptionInfo)), None)
    name = None if info is None else _name(info)
    if info is None or name is None or name in _NEVER:
        return None
    return Key(name, _kind(kind), any(word in (info.metavar or "") for word in _OF_PATHS))


def normal(name: str) -> str:
    """A key as options spell it: `max_skills` is `max-skills`."""
    return name.replace("_", "-")


def _keys(annotations: Iterable[object]) -> Iterable[Key]:
    return sorted(filter(None, map(key_of, annotations)), key=lambda key: key.name)


def _name(info: OptionInfo) -> str | None:
    # In an annotation the first spelling of an option stands where a default would.
    spellings = (info.default, *(info.param_decls or ()))
    return next((text[2:] for text in spellings if isinstance(text, str) and text.startswith("--")), None)


def _kind(annotation: object) -> Kind:
    stated = [part for part in get_args(annotation) if part is not type(None)]
    if type(None) in get_args(annotation) and len(stated) == 1:
        return _kind(stated[0])
    if get_origin(annotation) is list:
        return Kind.TEXTS
    return _KINDS.get(annotation, Kind.TEXT) if isinstance(annotation, type) else Kind.TEXT


EXAMPLES: Mapping[Kind, str] = {
    Kind.FLAG: "true",
    Kind.WHOLE: "10",
    Kind.NUMBER: "0.5",
    Kind.TEXT: '"..."',
    Kind.TEXTS: '["...", "..."]',
}


class WrongType(Exception):
    """A value of another type than the option's; the text says what it is and what it must be."""


def from_toml(key: Key, value: object, folder: Path) -> object:
    """The value for the option; relative paths start from the file's folder. Raises WrongType."""
    if not _fits(key.kind, value):
        stands = "has an entry that is" if key.kind is Kind.TEXTS and isinstance(value, list) else "is"
        wrong = next((item for item in value if not isinstance(item, str)), value) if isinstance(value, list) else value
        raise WrongType(
            f"{key.name!r} {stands} {_type_of(wrong)}, and must be {key.kind.value}; "
            f"write for example {key.name} = {EXAMPLES[key.kind]}"
        )
    if not key.is_path:
        return value
    if isinstance(value, list):
        return [_placed(path, folder) for path in value]
    return _placed(str(value), folder)


def from_text(key: Key, text: str) -> object:
    """The value of an environment variable: lists of paths are separated as in PATH, others by commas.

    Lists with a URL among them are separated by commas too, as a URL has colons of its own.
    """
    if key.kind is not Kind.TEXTS:
        return text
    parts = text.split(os.pathsep if key.is_path and "://" not in text else ",")
    return [part.strip() for part in parts if part.strip()]


def why_refused(key: Key, value: object, message: str) -> str:
    """Why an option does not take a value of its type, in the words for people; `message` is what its parser says."""
    return f"{str(value)[:40]!r} is neither yes nor no" if key.kind is Kind.FLAG else message.rstrip(".")


_TYPES: Mapping[Kind, type | tuple[type, ...]] = {
    Kind.FLAG: bool,
    Kind.WHOLE: int,
    Kind.NUMBER: (int, float),
    Kind.TEXT: str,
    Kind.TEXTS: list,
}


def _fits(kind: Kind, value: object) -> bool:
    if isinstance(value, bool):  # which Python takes for a number too
        return kind is Kind.FLAG
    entries = value if isinstance(value, list) else ()
    return isinstance(value, _TYPES[kind]) and all(isinstance(entry, str) for entry in entries)


def _type_of(value: object) -> str:
    if isinstance(value, str):
        return f"a text ({without_secrets(value)[:40]!r})"
    return _NAMES.get(type(value), "a date or a time")


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
