"""What an agent's calls may never exceed, whatever its skills say: what a parent hands to the agents it spawns."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillweave.errors import InvalidTurn
from skillweave.frozen import EMPTY, FrozenDict


def no_checkpoints() -> Mapping[str, tuple[str, ...]]:
    """No tool waits for anybody."""
    return EMPTY


def _no_arguments() -> Mapping[str, str]:
    return EMPTY


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Bounds of a tool policy, in the entries of spec 4.3; `allowed` None bounds nothing, `()` leaves no tool.

    `asks` are tool entries with the checkpoints before them, `argument_names` the arguments that entries are matched
    with, by tool; both as in a ToolPolicy. `own_asks` are those checkpoints that a verdict in the agent's own
    conversation ends: they belong to its own skills, while those in `asks` belong to whoever spawned it.
    """

    allowed: tuple[str, ...] | None = None
    forbidden: tuple[str, ...] = ()
    asks: Mapping[str, tuple[str, ...]] = field(default_factory=no_checkpoints, hash=False)
    argument_names: Mapping[str, str] = field(default_factory=_no_arguments, hash=False)
    own_asks: Mapping[str, tuple[str, ...]] = field(default_factory=no_checkpoints, hash=False)

    def to_dict(self) -> dict[str, object]:
        """The JSON form `{allowed, forbidden, asks, argument_names, own_asks}`, for an agent in another process."""
        return {
            "allowed": None if self.allowed is None else list(self.allowed),
            "forbidden": list(self.forbidden),
            "asks": {tool: list(checkpoints) for tool, checkpoints in self.asks.items()},
            "argument_names": dict(self.argument_names),
            "own_asks": {tool: list(checkpoints) for tool, checkpoints in self.own_asks.items()},
        }

    @classmethod
    def from_dict(cls, data: object) -> "ToolLimits":
        """The value that `to_dict` wrote; raises InvalidTurn for anything else, as a lost bound is a permission."""
        keys = {"allowed", "forbidden", "asks", "argument_names", "own_asks"}
        if not isinstance(data, Mapping) or data.keys() != keys:
            raise InvalidTurn(f"tool limits have the keys {', '.join(sorted(keys))}; hand on what to_dict() gave")
        names = data["argument_names"]
        if not isinstance(names, Mapping) or not all(map(_is_text, names.values())):
            raise InvalidTurn("`argument_names` of tool limits is a mapping of texts; hand on what to_dict() gave")
        return cls(
            allowed=None if data["allowed"] is None else _texts(data["allowed"]),
            forbidden=_texts(data["forbidden"]),
            asks=_checkpoints(data["asks"]),
            argument_names=FrozenDict({str(tool): str(name) for tool, name in names.items()}),
            own_asks=_checkpoints(data["own_asks"]),
        )


def _checkpoints(value: object) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise InvalidTurn("`asks` and `own_asks` of tool limits are mappings; hand on what to_dict() gave")
    return FrozenDict({str(tool): _texts(checkpoints) for tool, checkpoints in value.items()})


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(map(_is_text, value)):
        return tuple(value)
    message = f"tool limits hold {str(value)[:60]!r} where a list of texts belongs"
    raise InvalidTurn(f"{message}; hand on what to_dict() gave")


def _is_text(value: object) -> bool:
    return isinstance(value, str)
