"""A pause that a chat went on over: calls that waited are answered, and a reply that comes too late is refused.

LangGraph drops what a paused run waited for as soon as the thread is given something new: the calls stand in the
history without an answer, which no provider takes, and what others of the same reply had answered by then is only in
the checkpoint of the pause.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Interrupt

from skillweave.adapters.approval import KIND, Replied, read_asked_call, read_question, read_reply, record
from skillweave.adapters.chat import NOT_RUN, Call
from skillweave.adapters.langchain_core import calls, refused
from skillweave.errors import CheckpointNotFound, InvalidVerdict, SkillNotFound
from skillweave.weaver import Weaver

log = logging.getLogger("skillweave")

NO_ANSWER = (
    "no answer: the chat went on before this call had answered, and it is not known what it did; look before you call "
    "again"
)
"""What the model is told of another call without an answer: it may have failed half-way."""

_BACK = 8
"""Checkpoints between the pause and the node that mends the history; hooks of other middleware have one each."""


async def continued(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """The history with an answer behind each call; the same object where none is missing."""
    if not _unanswered(messages):
        return messages
    saver, place = _saver()
    known = _Pause()
    while saver is not None and place is not None:
        try:
            found = await saver.aget_tuple(place)
        except NotImplementedError:
            found = saver.get_tuple(place)  # one for runs that don't await, as this one then is
        place = known.read(found)
    return known.answered(messages)


def in_place_of_all(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """The update of a state with which these messages stand in place of its own."""
    return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *messages]


def require_asked(interrupts: Iterable[Interrupt], reply: object) -> None:
    """Raise InvalidVerdict for a reply to a question that is not asked any more, or was never.

    `interrupts` are those that wait (`agent.get_state(config).interrupts`), `reply` is what `Command(resume=...)` is
    to carry. LangGraph itself says nothing of such a reply, and may hand it to the next question.
    """
    waiting = {one.id for one in interrupts}
    by_id = isinstance(reply, Mapping) and bool(reply) and all(map(_is_id, reply))
    late = sorted(reply.keys() - waiting) if by_id and isinstance(reply, Mapping) else []
    if late or not waiting:
        which = f"the question {late[0]}" if late else "no question"
        asked = "is not asked any more" if late else "is asked in this thread"
        raise InvalidVerdict(
            f"{which} {asked}: it was answered, or the chat went on over it and the call was not run; "
            "say what is wanted as a message, and the person is asked again where that is needed"
        )


async def keep_together(weaver: Weaver, interrupts: Iterable[Interrupt], replies: object) -> None:
    """Keep the replies to several calls that wait in one write, before any of the calls goes on.

    Nothing is kept where one of them cannot be: its call then says what is wrong with it, and asks again.
    """
    if not isinstance(replies, Mapping):
        return
    replied: dict[str, list[Replied]] = {}
    try:
        for one in interrupts:
            if one.id in replies and isinstance(one.value, Mapping) and one.value.get("kind") == KIND:
                (conversation, pending), call = read_question(one.value), read_asked_call(one.value)
                if call is not None:
                    replied.setdefault(conversation, []).append((pending, read_reply(replies[one.id]), call))
        for conversation, several in replied.items():
            if len(several) > 1:
                await record(weaver, conversation, *several)
    except (InvalidVerdict, SkillNotFound, CheckpointNotFound) as error:
        log.debug("replies to several calls are kept one by one: %s", error)


def _is_id(key: object) -> bool:
    return isinstance(key, str) and len(key) == 32 and not set(key) - set("0123456789abcdef")


def _unanswered(messages: Sequence[BaseMessage]) -> set[str]:
    missing: set[str] = set()
    open_now: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            open_now.discard(message.tool_call_id)
        else:
            missing |= open_now
            asked = message.tool_calls if isinstance(message, AIMessage) else ()
            open_now = {call["id"] for call in asked if call["id"]}
    return missing


def _saver() -> tuple[BaseCheckpointSaver[Any] | None, RunnableConfig | None]:
    """Where the run's checkpoints are kept, and which is the last of the graph that this node is in."""
    known = get_config().get("configurable", {})
    saver = known.get(CONFIG_KEY_CHECKPOINTER)
    graph = str(known.get("checkpoint_ns", "")).rpartition("|")[0]
    place: RunnableConfig = {"configurable": {"thread_id": known.get("thread_id"), "checkpoint_ns": graph}}
    return (saver if isinstance(saver, BaseCheckpointSaver) else None), place


@dataclass(slots=True)
class _Pause:
    """What the checkpoint of a pause says: the answers of the calls that ran, the ids of those that waited.

    `left` is how many more checkpoints are looked at on the way back to it.
    """

    answers: Mapping[str, ToolMessage] = field(default_factory=dict)
    waited: frozenset[str] = frozenset()
    left: int = _BACK

    def read(self, kept: CheckpointTuple | None) -> RunnableConfig | None:
        """Take in what the checkpoint says; the one before it, None where this is the pause or nothing is left."""
        written = [one for _, _, value in (kept.pending_writes if kept else None) or () for one in _each(value)]
        asked = [one.value for one in written if isinstance(one, Interrupt)]
        self.answers = {one.tool_call_id: one for one in written if isinstance(one, ToolMessage)}
        ours = (one for one in asked if isinstance(one, Mapping) and one.get("kind") == KIND)
        self.waited = frozenset(str(one["call"].get("id")) for one in ours if isinstance(one.get("call"), Mapping))
        self.left -= 1
        return None if asked or self.answers or kept is None or not self.left else kept.parent_config

    def answered(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The messages, with an answer behind the last one that stands there already."""
        missing, chat = _unanswered(messages), list[BaseMessage]()
        for message, after in zip(messages, [*messages[1:], None], strict=True):
            chat.append(message)
            if not isinstance(after, ToolMessage):
                asked = message if not isinstance(message, ToolMessage) else _asking(chat)
                chat.extend(self._answer(call) for call in calls(asked) if call.id in missing)
        return chat

    def _answer(self, call: Call) -> ToolMessage:
        return self.answers.get(call.id) or refused(call, NOT_RUN if call.id in self.waited else NO_ANSWER)


def _asking(chat: Sequence[BaseMessage]) -> BaseMessage:
    return next((one for one in reversed(chat) if not isinstance(one, ToolMessage)), chat[0])


def _each(value: object) -> Iterator[object]:
    if isinstance(value, list | tuple):
        yield from value
    else:
        yield value
