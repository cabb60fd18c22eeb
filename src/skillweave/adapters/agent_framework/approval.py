"""Persons' verdicts in the Agent Framework: its approval requests and responses, and what is kept in the session."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from skillweave.adapters.agent_framework.messages import call_of
from skillweave.adapters.approval import Replied, Reply, from_data, question, read_reply, record_all
from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import Call
from skillweave.errors import InvalidVerdict, MissingExtra
from skillweave.injection import PendingCheckpoint
from skillweave.state.state import ApprovalVerdict

try:
    from agent_framework import AgentSession, Content, Message
except ModuleNotFoundError:
    raise MissingExtra("an adapter for the Agent Framework", "agent-framework-core", "agent-framework") from None

HELD = "held"
"""Where the state of our provider keeps the batch: `requests`, `replies` and `problems`, as JSON."""
CHANGED = "changed"
"""Where the state of our provider keeps the arguments that persons gave calls."""
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
        """The checkpoints, but those that ask about each call, that a reply held from an earlier run rejected."""
        no = [self.asked[name] for name, reply in self.held.items() if rejects(reply)]
        points = [one for request in no for one in request.additional_properties.get("checkpoints", ())]
        return [one for one in points if not PendingCheckpoint.from_dict(one).per_call]

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


_FIELDS = ("verdict", "by", "note", "arguments")


class Verdicts:
    """The open questions and the refusals of one session, kept as JSON in `state`, which the session's store keeps.

    `state["questions"]` are the checkpoints that persons were asked about, `state["refusals"]` are the words for the
    model about calls that a person rejected, `state["changed"]` the arguments that a person gave a call; they go by the
    id of the call's occurrence. `problems` is what was wrong with a reply, for the question that asks again.
    """

    def __init__(self, bridge: Bridge, conversation: str, state: dict[str, Any], decided_by: str | None) -> None:
        self._bridge = bridge
        self._conversation = conversation
        self._decided_by = decided_by
        self._questions: dict[str, Any] = state.setdefault("questions", {})
        self.refusals: dict[str, str] = state.setdefault("refusals", {})
        self._state = state
        self.problems: dict[str, str] = dict(state.get(HELD, {}).get("problems", {}))

    def request(self, call: Call, occurrence: str, waits: Sequence[PendingCheckpoint]) -> Content:
        """The framework's approval request for a call that a person has to decide first."""
        self._questions[occurrence] = [one.to_dict() for one in waits]
        asked = question(self._conversation, waits, call, self.problems.pop(occurrence, ""))
        waiting = Content.from_function_call(call.id, call.name, arguments=call.arguments, id=occurrence)
        return Content.from_function_approval_request(occurrence, waiting, additional_properties=asked)

    def changed(self, occurrence: str) -> dict[str, Any] | None:
        """The arguments that a person gave this call, told once; None where nobody did."""
        kept: dict[str, dict[str, Any]] = self._state.get(CHANGED, {})
        found = kept.pop(occurrence, None)
        if not kept:
            self._state.pop(CHANGED, None)
        return found

    async def read(self, messages: Sequence[Message], batch: Batch) -> None:
        """Record every reply to one of our questions; those to other requests are the host's own.

        The questions of a batch are closed together. Raises InvalidVerdict, naming the form, for a reply that says too
        little; the question stays open.
        """
        contents = [content for message in messages for content in message.contents]
        replies = [one for one in contents if one.type == "function_approval_response" and one.id in self._questions]
        # Of several replies to one question or about one checkpoint, a rejection is to stand.
        last = {str(one.id): one for one in sorted(replies, key=self._precedence)}
        read = {occurrence: (response, self._reply(response)) for occurrence, response in last.items()}
        await self._record(read, batch)
        for occurrence in last:
            if not batch.waiting:
                self._questions.pop(occurrence)
        if not batch.waiting and batch.is_answered_now:
            for occurrence in batch.asked:
                self._questions.pop(occurrence, None)

    def _precedence(self, response: Content) -> tuple[bool, bool]:
        return rejects(response), answers(response, {"checkpoints": self._questions[str(response.id)]})

    async def _record(self, read: Mapping[str, tuple[Content, Reply]], batch: Batch) -> None:
        """Keep what was said in one write; where something is wrong with one reply, the others by themselves."""
        replied: dict[str, Replied] = {}
        for occurrence, (response, reply) in sorted(read.items(), key=lambda item: rejects(item[1][0])):
            self.problems.pop(occurrence, None)
            checkpoints = self._questions[occurrence]
            if not answers(response, {"checkpoints": checkpoints}):
                self._failed(
                    occurrence,
                    reply,
                    InvalidVerdict("this reply is to an earlier question; look at what is asked now, then decide"),
                )
                continue
            # A yes to another call of the batch does not undo what an earlier run's no said about the same checkpoint.
            done = [] if reply.refuses else batch.rejected
            pending = [one for one in checkpoints if one not in done]
            call = None if response.function_call is None else call_of(response.function_call)
            replied[occurrence] = (from_data(pending), reply, call)
        try:
            await record_all(self._bridge.weaver, self._conversation, tuple(replied.values()))
        except InvalidVerdict:
            for occurrence, one in replied.items():
                try:
                    await record_all(self._bridge.weaver, self._conversation, (one,))
                except InvalidVerdict as error:
                    self._failed(occurrence, one[1], error)
        for occurrence, (_, reply, call) in replied.items():
            if reply.arguments is not None:
                self._state.setdefault(CHANGED, {})[occurrence] = dict(reply.arguments)
            if reply.refuses and call is not None:
                judged = await self._bridge.judge(call, self._conversation)
                self.refusals[occurrence] = judged.verdict.message or f"{reply.by} rejected this call"

    def _failed(self, occurrence: str, reply: Reply, error: InvalidVerdict) -> None:
        if reply.refuses:
            raise error
        self.problems[occurrence] = str(error)  # the call is judged again, and the person asked again

    def _reply(self, response: Content) -> Reply:
        said = {
            name: response.additional_properties[name] for name in _FIELDS if name in response.additional_properties
        }
        told = ApprovalVerdict.APPROVED if response.approved is True else ApprovalVerdict.REJECTED
        reply = read_reply({"verdict": told.value, **({"by": self._decided_by} if self._decided_by else {}), **said})
        if (reply.verdict is ApprovalVerdict.REJECTED) is not (told is ApprovalVerdict.REJECTED):
            raise InvalidVerdict(
                f"the approval response says approved={response.approved}, and {reply.verdict.value!r} beside it;"
                " make it with `reply_to(request, reply)`, so that both say the same"
            )
        return reply


def reply_to(request: Content, reply: Reply | Mapping[str, object]) -> Content:
    """The framework's approval response for a person's reply (`verdict`, `by`, `note`), to be run with the session.

    Raises InvalidVerdict, naming the form, for a reply that says too little.
    """
    read = read_reply(reply)
    response = request.to_function_approval_response(approved=read.verdict is not ApprovalVerdict.REJECTED)
    asked = {name: request.additional_properties[name] for name in ASKED if name in request.additional_properties}
    told = {"verdict": read.verdict.value, "by": read.by, "note": read.note}
    changed = {} if read.arguments is None else {"arguments": dict(read.arguments)}
    response.additional_properties = {**asked, **told, **changed}
    return response
