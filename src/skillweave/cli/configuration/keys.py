"""Which options can be configured, and what kind of value each takes; read from the options themselves."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from inspect import signature
from types import MappingProxyType
from typing import Annotated, get_args, get_origin

from typer.models import OptionInfo

from skillweave.cli.arguments import options


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


PREFIX = "SKILLWEAVE_"
OF_ONE_TURN = frozenset(
    {"coding", "conversation", "memory", "message", "result", "risk", "role", "task", "transcript", "turn-id"}
)
"""What is said of one turn: configured, it would be taken for every turn, and nobody would see why."""
OF_ONE_CALL = frozenset(
    {
        "by",
        "ctx",
        "current",
        "description",
        "format",
        "json",
        "label",
        "no-skills",
        "note",
        "outline",
        "output",
        "parent",
        "section",
        "spawn-id",
        "trigger",
        "visited",
        "watch",
    }
)
"""How one call of the program answers, what is said of one graph, sub-agent or new skill, and in whose name."""
_NEVER = OF_ONE_TURN | OF_ONE_CALL
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
    return Key(name, _kind(kind), "DIR" in (info.metavar or "") or "FILE" in (info.metavar or ""))


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
