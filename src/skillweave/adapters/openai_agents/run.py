"""Which conversation a run of the OpenAI Agents SDK belongs to, for its configuration, its model and its tools."""

from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any

from skillweave.adapters.bridge import Bridge
from skillweave.compose.spawn import SpawnPlan
from skillweave.errors import InvalidTurn, MissingExtra

try:
    from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData
    from agents.tool_context import ToolContext
except ModuleNotFoundError:
    raise MissingExtra("the adapter for the OpenAI Agents SDK", "openai-agents", "openai-agents") from None

NAME_IT = "run it with run_config=skills.run_config(session)"


@dataclass(frozen=True)
class ConversationFilter:
    """The last filter before a run's model; it tells the model behind it which conversation this is.

    `hosts` is the host's own filter, which comes first; `plan` is that of the sub-agent whose run it is.
    """

    conversation: str
    hosts: CallModelInputFilter | None
    plan: SpawnPlan | None = None

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """The input as the host leaves it; of an agent without skills, unchanged.

        Raises InvalidTurn for an agent that has not the limits of the sub-agent whose run it is, or has another's.
        """
        bridge = getattr(data.agent, "bridge", None)
        if self.plan != getattr(bridge, "plan", None):
            raise InvalidTurn(
                f"agent {data.agent.name!r} and this run are not of one sub-agent; make both, and agents that it hands"
                " to, with the same Skills(weaver, plan=plan)"
            )
        found = data.model_data if self.hosts is None else self.hosts(data)
        left = await found if isawaitable(found) else found
        if not isinstance(bridge, Bridge):
            return left
        return replace(left, instructions=Instructions(left.instructions or "", bridge, self.conversation))


class Instructions(str):
    """The host's instructions for one call, with what the model's place in front of it needs to weave the call.

    The SDK hands a model its instructions as the filter left them, and nothing else of the run.
    """

    __slots__ = ("bridge", "conversation")

    bridge: Bridge
    conversation: str

    def __new__(cls, text: str, bridge: Bridge, conversation: str) -> "Instructions":
        """The text, and beside it what it stands for."""
        made = super().__new__(cls, text)
        made.bridge, made.conversation = bridge, conversation
        return made


def conversation_of(context: ToolContext[Any]) -> str:
    """The conversation in which a tool is called; raises InvalidTurn where the run names none."""
    run = context.run_config.call_model_input_filter if context.run_config else None
    if not isinstance(run, ConversationFilter):
        raise InvalidTurn(f"this run names no conversation; {NAME_IT}")
    return run.conversation


def id_of(conversation: object) -> str:
    """The id of a conversation that is given by its session, or by the id itself; raises InvalidTurn for neither."""
    named = getattr(conversation, "session_id", conversation)
    if not isinstance(named, str) or not named:
        raise InvalidTurn("a run needs a conversation; give the session that keeps it, or an id of your own")
    return named
