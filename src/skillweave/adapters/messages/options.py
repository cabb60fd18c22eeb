"""What a host without a framework may add to its chat."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, cast

from skillweave.adapters.heard import Heard, HostFields, turn_from
from skillweave.adapters.messages.tools import tool_names
from skillweave.conversation import Placement, Turn
from skillweave.limits import ToolLimits
from skillweave.weaver.turns import require_known


class TurnOptions(TypedDict, total=False):
    """What a host may add to its chat; `tools` are the provider's declarations or plain names."""

    turn_id: str
    placement: Placement
    tools: Sequence[Any] | None
    memory: Mapping[str, object]
    named: Sequence[str]
    limits: ToolLimits | None


def turn_with(pieces: Sequence[Heard], conversation: str, options: TurnOptions) -> Turn:
    """The Turn of a read chat; raises InvalidTurn, and TypeError for an option that there is none of."""
    require_known(options, TurnOptions.__optional_keys__)
    tools = options.get("tools")
    fields = {**options, "tools": None if tools is None else tool_names(tools)}
    return turn_from(pieces, conversation, **cast("HostFields", fields))
