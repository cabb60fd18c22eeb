"""The state of a graph with skills: the keys of seed 000, and what one step hands to the next."""

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

from skillweave.errors import InvalidTurn


class WovenTurn(TypedDict):
    """The turn that the coming call of the model belongs to, to be woven again where the model is called.

    `first` says that the run begins with it.
    """

    id: str
    named: list[str]
    first: bool


class SkillState(TypedDict, total=False):
    """What the nodes read and write; extend it with a host's own keys.

    `selected_skill_ids` are selected and not yet injected; a host may add its own choice. `injected_skill_ids` only
    tells what the ledger says, whatever stood there before. `working_memory` may name the entity that is being worked
    on, `conversation_id` the conversation where it is not the thread's. The nodes' own are `woven`, `awaiting` (the
    checkpoints that a person is shown) and `open_checkpoints` (all that are open as the model is called: verdicts are
    about the texts of then).
    """

    messages: Annotated[list[AnyMessage], add_messages]
    selected_skill_ids: list[str]
    injected_skill_ids: list[str]
    working_memory: dict[str, Any]
    conversation_id: str
    woven: WovenTurn
    awaiting: list[dict[str, Any]]
    open_checkpoints: list[dict[str, Any]]


def selected_in(state: SkillState) -> list[str]:
    """The skills that a host selected; raises InvalidTurn for anything but a list of ids."""
    selected: Any = state.get("selected_skill_ids") or []
    if not isinstance(selected, list) or not all(isinstance(one, str) for one in selected):
        raise InvalidTurn(f"selected_skill_ids in the state is a list of skill ids; got {str(selected)[:60]!r}")
    return [*selected]


def memory_in(state: SkillState) -> Mapping[str, Any]:
    """The working memory; raises InvalidTurn for anything but a mapping."""
    memory: Any = state.get("working_memory") or {}
    if not isinstance(memory, Mapping):
        raise InvalidTurn(
            f"working_memory in the state is a dict, such as {{'entity_id': ...}}; got {str(memory)[:60]!r}"
        )
    return memory
