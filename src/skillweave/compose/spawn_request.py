"""What somebody asks for who wants a sub-agent (spec 4.4; seed 002, SubagentSpawnRequest)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillweave.errors import InvalidSkill, InvalidSpawn
from skillweave.formats.fields import as_json
from skillweave.relations.names import require_names
from skillweave.skill import EMPTY, FrozenJson, Json, freeze_mapping, thaw

_TEXTS = ("task", "label", "model", "thinking")
_KEYS = ("task", "skills", "label", "model", "thinking")


def _nothing_else() -> Mapping[str, FrozenJson]:
    return EMPTY


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    """A sub-agent for a task: `skills` None asks for no restriction, an empty list for no capability at all.

    `label`, `model`, `thinking` and `extra` are for whoever starts the agent; skillweave only carries them. Raises
    InvalidSpawn for a task without a word in it, for skills that are no list of texts, and for other values of a wrong
    type.
    """

    task: str
    skills: tuple[str, ...] | None = None
    label: str | None = None
    model: str | None = None
    thinking: str | None = None
    extra: Mapping[str, FrozenJson] = field(default_factory=_nothing_else, hash=False)

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
    def from_dict(cls, data: Mapping[str, object]) -> "SpawnRequest":
        """The request in JSON data; parameters that are unknown here are kept in `extra`. Raises InvalidSpawn."""
        if not isinstance(data, Mapping):
            raise InvalidSpawn(f"a spawn request is a mapping, not {type(data).__name__}; give at least `task`")
        known = {name: data.get(name) for name in _KEYS}
        try:
            extra = as_json({name: value for name, value in data.items() if name not in _KEYS})
        except ValueError as error:
            raise InvalidSpawn(f"a parameter of a spawn request holds {error}; give JSON data") from None
        return cls(**known, extra=freeze_mapping(extra if isinstance(extra, dict) else {}))  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Json]:
        """The JSON form that `from_dict` takes, what is not stated left out."""
        stated: dict[str, Json] = {name: getattr(self, name) for name in _TEXTS if getattr(self, name) is not None}
        if self.skills is not None:
            stated["skills"] = list(self.skills)
        return {**{name: thaw(value) for name, value in self.extra.items()}, **stated}


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple | str):
        raise InvalidSpawn(f"`skills` of a spawn request is {type(value).__name__}; give a list of skill ids")
    try:
        return require_names(value)
    except InvalidSkill as error:
        raise InvalidSpawn(f"`skills` of a spawn request: {error}") from None
