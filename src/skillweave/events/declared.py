"""The events of skills: what a pack declares of them, and the payload of one that was announced."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from skillweave.codec import Portable
from skillweave.diagnostics import Location
from skillweave.skill import FrozenJson, thaw


@dataclass(frozen=True, slots=True)
class EventType(Portable):
    """An event that skills may announce, with the JSON Schema of its payload.

    `schema` False stands for a declaration that could not be read: it lets no payload pass, because a check that was
    lost must not become a permission. `location` is where it stands; the same declaration elsewhere is equal.
    """

    name: str
    description: str = ""
    schema: Mapping[str, FrozenJson] | bool = field(default=True, hash=False)
    location: Location | None = field(default=None, compare=False)

    @property
    def readable(self) -> bool:
        """Whether the declaration could be read."""
        return self.schema is not False


@dataclass(frozen=True, slots=True)
class Announced(Portable):
    """What a skill says in an event of its own; the JSON form is `data` and nothing else: the skill is not in it."""

    json_keys: ClassVar[tuple[str, ...]] = ()

    skill_id: str = field(compare=False)
    data: Mapping[str, FrozenJson] = field(hash=False)

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The payload as the one field; whose event it is the JSON form does not say."""
        return {"skill_id": "", "data": data}

    def to_dict(self) -> dict[str, Any]:
        """The payload as it was given."""
        return {key: thaw(value) for key, value in self.data.items()}
