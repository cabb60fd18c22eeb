"""The state of a graph with skills: the keys of seed 000, and what one step hands to the next."""

from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages


class WovenTurn(TypedDict):
    """The turn that the coming call of the model belongs to, to be woven again where the model is called."""

    id: str
    named: list[str]


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
