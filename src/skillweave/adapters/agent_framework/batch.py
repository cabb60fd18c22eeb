"""The questions that one reply of the model raised, and the replies to them that are held until all are in.

The framework runs the calls of one reply together, and forgets those that wait when it runs one of them alone.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from skillweave.errors import MissingExtra

try:
    from agent_framework import AgentSession, Content, Message
except ModuleNotFoundError:
    raise MissingExtra("an adapter for the Agent Framework", "agent-framework-core", "agent-framework") from None

HELD = "held"
"""Where the state of our provider keeps the batch: `requests`, `replies` and `problems`, as JSON."""
ASKED = ("checkpoints", "call", "calls")
"""What of a question its reply repeats."""
# Where the framework keeps, in the session, what it asked last, and the batches whose replies it holds by itself.
_APPROVALS = "tool_approval"
_PENDING, _FRAMEWORKS_OWN = "pending_approval_requests", "already_approved_approval_request_groups"


@dataclass(frozen=True, slots=True)
class Batch:
    """What is asked now, and the replies to it by its id: those of earlier runs, also in `held`, and of this one."""

    asked: Mapping[str, Content]
    held: Mapping[str, Content]
    replies: Mapping[str, Content]
    is_answered_now: bool
    ends_with_reply: bool

    @property
    def asked_again(self) -> tuple[Content, ...]:
        """The requests to show again; none where the user says something after the replies, which the model hears."""
        return self.waiting if self.ends_with_reply else ()

    @property
    def waiting(self) -> tuple[Content, ...]:
        """The requests without a reply, where this run replies to others of the batch."""
        if not self.is_answered_now or len(self.asked) == 1:
            return ()
        return tuple(request for name, request in self.asked.items() if name not in self.replies)

    @property
    def rejected(self) -> list[Mapping[str, Any]]:
        """The checkpoints that a reply held from an earlier run rejected."""
        no = [self.asked[name] for name, reply in self.held.items() if rejects(reply)]
        return [one for request in no for one in request.additional_properties.get("checkpoints", ())]

    def kept(
        self, messages: list[Message], session: AgentSession, state: dict[str, Any], problems: Mapping[str, str]
    ) -> list[Message]:
        """Hold the replies while others are missing, release all with the last; returns what the framework is to read.

        `problems` is what was wrong with a reply, for the question that asks again.
        """
        if not self.is_answered_now or not (self.waiting or self.held):
            return messages
        requests = [request.to_dict() for request in self.asked.values()]
        if self.waiting:
            replies = [reply.to_dict() for reply in self.replies.values()]
            state[HELD] = {"requests": requests, "replies": replies, "problems": dict(problems)}
            return _with_replies(messages, self.asked, ())
        state.pop(HELD)
        # Asking again for the rest made the framework forget what was held; it takes no reply to what it did not ask.
        session.state[_APPROVALS][_PENDING] = requests
        return _with_replies(messages, self.asked, [self.replies[name] for name in self.asked])


def batch_of(messages: Sequence[Message], session: AgentSession, state: dict[str, Any]) -> Batch:
    """The batch that the session waits with, and the replies to it; what is held for an older one is forgotten."""
    asked, held = _pending(session), {}
    if HELD in state:
        before, given = _by_id(state[HELD]["requests"]), _by_id(state[HELD]["replies"])
        if asked and before.keys() - given.keys() <= asked.keys() <= before.keys():
            asked, held = before, given
        else:
            state.pop(HELD)
    said = [one for one in _contents(messages) if _replies_to(one, asked)]
    replies = dict(held)
    for reply in said:
        name = str(reply.id)
        # Of several replies to one question a rejection is to stand; one to an earlier question is none to this.
        if answers(reply, asked[name].additional_properties) and (name not in replies or rejects(reply)):
            replies[name] = reply
    return Batch(asked, held, replies, bool(said), any(_replies_to(one, asked) for one in _contents(messages[-1:])))


def answers(response: Content, question: Mapping[str, object]) -> bool:
    """Whether the response is to this question: the framework asks all questions about one call under one id.

    A response that does not repeat what was asked is taken at its id.
    """
    said = response.additional_properties
    return all(said[name] == question[name] for name in ASKED if name in said and name in question)


def rejects(response: Content) -> bool:
    """Whether the response is anything else than a yes."""
    return response.approved is not True


def _pending(session: AgentSession) -> dict[str, Content]:
    kept = session.state.get(_APPROVALS)
    if not isinstance(kept, Mapping) or kept.get(_FRAMEWORKS_OWN):
        return {}
    requests = _by_id(kept.get(_PENDING, ()))
    calls = [request.function_call for request in requests.values()]
    # What the service runs itself waits for nothing here.
    return requests if any(call is not None and not call.hosted for call in calls) else {}


def _by_id(kept: Sequence[Mapping[str, Any]]) -> dict[str, Content]:
    contents = [Content.from_dict(one) for one in kept]
    return {str(content.id): content for content in contents}


def _contents(messages: Sequence[Message]) -> list[Content]:
    return [content for message in messages for content in message.contents]


def _replies_to(content: Content, asked: Mapping[str, Content]) -> bool:
    return content.type == "function_approval_response" and content.id in asked


def _with_replies(
    messages: Sequence[Message], asked: Mapping[str, Content], replies: Sequence[Content]
) -> list[Message]:
    """The messages with these replies together in place of the last one, and without the others."""
    told: list[Message] = []
    last = max(n for n, message in enumerate(messages) if any(_replies_to(one, asked) for one in message.contents))
    for place, message in enumerate(messages):
        if place == last and replies:
            told.append(Message("user", list(replies)))
        other = copy(message)  # the caller may use the message again
        other.contents = [one for one in message.contents if not _replies_to(one, asked)]
        if other.contents:
            told.append(other)
    return told
