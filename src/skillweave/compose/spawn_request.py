"""What somebody asks for who wants a sub-agent (spec 4.4; seed 002, SubagentSpawnRequest)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from skillweave.codec import Portable, write
from skillweave.errors import InvalidSkill, InvalidSpawn
from skillweave.frozen import EMPTY, FrozenJson, as_json, freeze, thaw
from skillweave.relations.names import require_names

_TEXTS = ("task", "label", "model", "thinking")
_KEYS = ("task", "skills", "label", "model", "thinking")


@dataclass(frozen=True, slots=True)
class SpawnRequest(Portable):
    """A sub-agent for a task: `skills` None asks for no restriction, an empty list for no capability at all.

    `label`, `model`, `thinking` and `extra` are for whoever starts the agent; skillweave only carries them. Raises
    InvalidSpawn for a task without a word in it, for skills that are no list of texts, and for other values of a wrong
    type.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("task", "label?", "model?", "thinking?", "skills?")

    task: str
    skills: tuple[str, ...] | None = None
    label: str | None = None
    model: str | None = None
    thinking: str | None = None
    extra: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        for name in _TEXTS:
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name == "task"):
                raise InvalidSpawn(f"`{name}` of a spawn request is {type(value).__name__}; give a text")
        if not self.task.strip():
            raise InvalidSpawn("a spawn request says nothing in `task`; say what the sub-agent is to do")
        if self.skills is not None:
            object.__setattr__(self, "skills", _names(self.skills))

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """The request in JSON data; parameters that are unknown here are kept in `extra`. Raises InvalidSpawn."""
        if not isinstance(data, Mapping):
            raise InvalidSpawn(f"a spawn request is a mapping, not {type(data).__name__}; give at least `task`")
        try:
            known = cls.json_fields(data)
        except ValueError as error:
            raise InvalidSpawn(f"a parameter of a spawn request holds {error}; give JSON data") from None
        return cls(**{"task": None, **known, "extra": freeze(known["extra"])})

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that `from_dict` takes, what is not stated left out."""
        return {**{name: thaw(value) for name, value in self.extra.items()}, **write(self)}

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The known parameters, and the others as `extra`. Raises ValueError for what JSON does not have."""
        known = {name: data[name] for name in _KEYS if name in data}
        return {**known, "extra": as_json({name: value for name, value in data.items() if name not in _KEYS})}


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple | str):
        raise InvalidSpawn(f"`skills` of a spawn request is {type(value).__name__}; give a list of skill ids")
    try:
        return require_names(value)
    except InvalidSkill as error:
        raise InvalidSpawn(f"`skills` of a spawn request: {error}") from None
