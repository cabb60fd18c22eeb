"""Persons' verdicts in the Agent Framework: its approval requests and responses, and what waits in the session.

A service that keeps the history refuses everything that comes after a reply until each call of it has an output. So no
call of a reply runs while another one waits for a person: what need not be shown is hidden in the session as the
framework hides what it approves by itself, and runs with the others when the last reply is there. When the user goes on
instead, every call is answered that it was not run.
"""

from collections.abc import Container, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from agent_framework import AgentResponse, AgentSession, Content, Message

from skillweave.adapters.agent_framework.messages import call_of
from skillweave.adapters.approval import KIND, Replied, Reply, from_data, question, read_reply, record
from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import NOT_RUN, Call
from skillweave.errors import InvalidVerdict
from skillweave.injection import PendingCheckpoint
from skillweave.state.state import ApprovalVerdict

CLOSED = "closed"
"""Where the state of our provider keeps the ids of questions that nobody can answer any more."""
MOST_CLOSED = 100
"""Questions of one session that are remembered as closed, so that a late reply is refused and not overheard."""

# Where the framework keeps, in the session, what it asked last, and what waits beside it without being shown.
_APPROVALS = "tool_approval"
_UNSENT = "unsent"
_PENDING, _GROUPS = "pending_approval_requests", "already_approved_approval_request_groups"


@dataclass(frozen=True, slots=True)
class Pause:
    """What a session waits with: `asked` are the requests that are shown, `hidden` those that wait beside them.

    `given` are the replies of earlier runs, which the framework keeps until the last one is there; all go by request
    id. `order` are the ids of the calls as the model made them.
    """

    asked: Mapping[str, Content]
    hidden: Mapping[str, Content]
    given: Mapping[str, Content]
    order: tuple[str, ...] = ()

    @property
    def is_ours(self) -> bool:
        """Whether one of the requests asks a question of ours."""
        return any(request.additional_properties.get("kind") == KIND for request in self.asked.values())

    def is_answered_by(self, messages: Sequence[Message]) -> bool:
        """Whether every request has its reply, with those of these messages."""
        return self.replies_in(messages).keys() >= self.asked.keys()

    def changes(self, response: Content) -> bool:
        """Whether the response says anything new: the first one does, and one that takes an earlier yes back."""
        before = self.given.get(str(response.id))
        return before is None or (before.approved is True and response.approved is not True)

    def bind(self, session: AgentSession) -> None:
        """Have the framework wait for the last reply also where calls came to wait while they ran, as sub-agents do."""
        if self.is_ours and len(self.asked) > 1 and not self.order:
            calls = [request.function_call for request in self.asked.values() if request.function_call is not None]
            hold(session, calls, self.asked.keys())

    def take_back(self, no: Content, session: AgentSession) -> None:
        """Put this rejection in place of the yes that the framework keeps; it reads the older one again otherwise."""
        for group in session.state[_APPROVALS].get(_GROUPS, ()):
            for given in group.get("approval_responses", ()):
                if given["id"] == no.id:
                    given["approved"] = False
                    given["additional_properties"] = {**given["additional_properties"], **no.additional_properties}

    def replies_in(self, messages: Sequence[Message]) -> dict[str, Content]:
        """The replies to what is asked: those of earlier runs, and those of these messages."""
        said = (content for message in messages for content in message.contents if replies_to(content, self.asked))
        return {**self.given, **{str(content.id): content for content in said if self.changes(content)}}

    def is_left(self, messages: Sequence[Message]) -> bool:
        """Whether the user says something else while replies are missing; the last message tells."""
        if not self.asked or not messages or self.is_answered_by(messages):
            return False
        return not all(replies_to(content, self.asked) for content in messages[-1].contents)

    def released_by(self, messages: Sequence[Message]) -> list[Content]:
        """The calls that run now, as all replies are there; none while one is missing."""
        if not self.is_answered_by(messages):
            return []
        replies = self.replies_in(messages)
        yes = [self.asked[name] for name, reply in replies.items() if name in self.asked and reply.approved is True]
        return [one.function_call for one in (*yes, *self.hidden.values()) if one.function_call is not None]

    def closed(self, messages: Sequence[Message], session: AgentSession, state: dict[str, Any]) -> list[Message]:
        """The messages with an answer to every call that waited, for a session that then waits for nothing."""
        kept = session.state[_APPROVALS]
        kept.pop(_PENDING, None)
        kept.pop(_GROUPS, None)
        state[CLOSED] = [*state.get(CLOSED, ()), *self.asked][-MOST_CLOSED:]
        calls = [one.function_call for one in (*self.asked.values(), *self.hidden.values())]
        results = [
            Content.from_function_result(call.call_id or "", id=call.id, result=NOT_RUN)
            for call in sorted((call for call in calls if call is not None), key=self._place)
            if not _is_in(messages, call)
        ]
        return [*([Message("tool", results)] if results else []), *self._without_replies(messages)]

    def _without_replies(self, messages: Sequence[Message]) -> list[Message]:
        left = []
        for message in messages:
            other = copy(message)  # the caller may use the message again
            other.contents = [one for one in message.contents if not replies_to(one, self.asked)]
            left += [other] if other.contents else []
        return left

    def _place(self, call: Content) -> int:
        return self.order.index(str(call.id)) if call.id in self.order else len(self.order)


def pause_of(session: AgentSession) -> Pause:
    """What the session waits with, an empty one where it waits for nothing."""
    kept = session.state.get(_APPROVALS)
    kept = kept if isinstance(kept, Mapping) else {}
    asked = _by_id(kept.get(_PENDING, ()))
    groups = [group for group in kept.get(_GROUPS, ()) if set(group["approval_request_ids"]) <= asked.keys()]
    hidden = _by_id([one for group in groups for one in group["approval_requests"]])
    given = _by_id([one for group in groups for one in group.get("approval_responses", ())])
    order = [str(one["id"]) for group in groups for one in group.get("function_call_order", ())]
    return Pause(asked, hidden, given, tuple(order))


def hold(session: AgentSession, calls: Sequence[Content], shown: Set[str]) -> None:
    """Have the calls of one reply wait together: persons are asked about those `shown`, by id, the others follow."""
    kept = session.state.setdefault(_APPROVALS, {})
    requests = [Content.from_function_approval_request(str(call.id), call) for call in calls if call.id not in shown]
    group = {
        "approval_request_ids": [call.id for call in calls if call.id in shown],
        "approval_requests": [request.to_dict() for request in requests],
        "function_call_order": [{"id": call.id, "call_id": call.call_id} for call in calls],
    }
    kept[_GROUPS] = [*kept.get(_GROUPS, ()), group]


def keep_unsent(session: AgentSession, response: AgentResponse[Any] | None, state: dict[str, Any]) -> None:
    """Keep what tools answered beside a call that came to wait while it ran.

    A service that keeps the history has not been sent it, and wants it together with the answer that is missing.
    """
    messages = list(response.messages) if response is not None else []
    contents = [content for message in messages for content in message.contents]
    last = max((n for n, one in enumerate(contents) if one.type == "function_call"), default=-1)
    waits = any(one.type == "function_approval_request" for one in contents)
    results = [one.to_dict() for one in contents[last + 1 :] if one.type == "function_result"]
    if waits and results and session.service_session_id is not None:
        state[_UNSENT] = results


def with_unsent(messages: Sequence[Message], state: dict[str, Any]) -> list[Message]:
    """The messages behind what tools answered and the service has not been sent yet."""
    results = [Content.from_dict(one) for one in state.pop(_UNSENT, ())]
    return [*([Message("tool", results)] if results else []), *messages]


def require_open(messages: Sequence[Message], state: Mapping[str, Any]) -> None:
    """Raise InvalidVerdict for a reply to a question whose call was given up."""
    for content in messages[-1].contents if messages else ():
        if content.type == "function_approval_response" and content.id in state.get(CLOSED, ()):
            call = content.function_call
            raise InvalidVerdict(
                f"the call of {(call.name if call else None) or 'a tool'!r} does not wait any more: the conversation"
                " went on without it, and it was not run; it is asked about again when the model calls again"
            )


def replies_to(content: Content, asked: Container[str]) -> bool:
    """Whether it is a reply to one of these requests, by their ids."""
    return content.type == "function_approval_response" and str(content.id) in asked


def _is_in(messages: Sequence[Message], call: Content) -> bool:
    # A host that sends the whole chat with each run keeps it as it is; the framework leaves out what was not answered.
    contents = (content for message in messages for content in message.contents)
    return any(one.type == "function_call" and one.call_id == call.call_id for one in contents)


def _by_id(kept: Sequence[Mapping[str, Any]]) -> dict[str, Content]:
    contents = [Content.from_dict(one) for one in kept]
    return {str(content.id): content for content in contents}


ASKED = ("checkpoints", "call", "calls")
"""What of a question its reply repeats."""


def answers(response: Content, question: Mapping[str, object]) -> bool:
    """Whether the response is to this question: the framework asks all questions about one call under one id.

    A response that does not repeat what was asked is taken at its id.
    """
    said = response.additional_properties
    return all(said[name] == question[name] for name in ASKED if name in said and name in question)


def rejects(response: Content) -> bool:
    """Whether the response is anything else than a yes."""
    return response.approved is not True


def _rejected(pause: Pause) -> list[Mapping[str, Any]]:
    """The checkpoints, but those that ask about each call, that a reply of an earlier run rejected."""
    no = [pause.asked[name] for name, reply in pause.given.items() if rejects(reply) and name in pause.asked]
    points = [one for request in no for one in request.additional_properties.get("checkpoints", ())]
    return [one for one in points if not PendingCheckpoint.from_dict(one).per_call]


_FIELDS = ("verdict", "by", "note", "arguments")


class Verdicts:
    """The open questions and the refusals of one session, kept as JSON in `state`, which the session's store keeps.

    `state["questions"]` are the checkpoints that persons were asked about, `state["refusals"]` are the words for the
    model about calls that a person rejected, `state["problems"]` what was wrong with a reply, for the question that
    asks again, `state["changed"]` the arguments that a person gave a call; all go by the id of the call's occurrence.
    """

    def __init__(self, bridge: Bridge, conversation: str, state: dict[str, Any], decided_by: str | None) -> None:
        self._bridge = bridge
        self._conversation = conversation
        self._decided_by = decided_by
        self._questions: dict[str, Any] = state.setdefault("questions", {})
        self.refusals: dict[str, str] = state.setdefault("refusals", {})
        self._problems: dict[str, str] = state.setdefault("problems", {})
        self._changed: dict[str, Any] = state.setdefault("changed", {})

    def request(self, call: Call, occurrence: str, waits: Sequence[PendingCheckpoint]) -> Content:
        """The framework's approval request for a call that a person has to decide first.

        Without a checkpoint it is one that only waits because another call of the same reply does.
        """
        self._questions[occurrence] = [one.to_dict() for one in waits]
        asked = question(self._conversation, waits, call, self._problems.pop(occurrence, ""))
        waiting = Content.from_function_call(call.id, call.name, arguments=call.arguments, id=occurrence)
        return Content.from_function_approval_request(occurrence, waiting, additional_properties=asked)

    def as_replied(self, call: Call, occurrence: str) -> Call:
        """The call with the arguments that a person gave it, the same one where nobody did."""
        given = self._changed.get(occurrence)
        return call if given is None else replace(call, arguments=given)

    def ran(self, occurrence: str) -> None:
        """Forget the arguments of a call that runs now."""
        self._changed.pop(occurrence)

    def close(self, pause: Pause) -> None:
        """Forget the questions of a reply that the conversation went on without."""
        for name in pause.asked:
            self._questions.pop(name, None)
            self._problems.pop(name, None)

    async def read(self, messages: Sequence[Message], pause: Pause, session: AgentSession) -> None:
        """Record every reply to one of our questions; those to other requests are the host's own.

        The questions of one reply of the model are closed together. Raises InvalidVerdict, naming the form, for a reply
        that says too little; the question stays open.
        """
        contents = [content for message in messages for content in message.contents]
        replies = [one for one in contents if replies_to(one, self._questions) and pause.changes(one)]
        # Of several replies to one question or about one checkpoint, a rejection is to stand.
        last = {str(one.id): one for one in sorted(replies, key=self._precedence)}
        ordered = sorted(last.items(), key=lambda item: rejects(item[1]))
        await self._record({occurrence: (response, self._reply(response)) for occurrence, response in ordered}, pause)
        for occurrence, response in ordered:
            if occurrence in pause.given:
                pause.take_back(response, session)
        if replies and pause.is_answered_by(messages):
            for occurrence in (*last, *pause.asked):
                self._questions.pop(occurrence, None)

    def _precedence(self, response: Content) -> tuple[bool, bool]:
        return rejects(response), answers(response, {"checkpoints": self._questions[str(response.id)]})

    async def _record(self, read: Mapping[str, tuple[Content, Reply]], pause: Pause) -> None:
        """Keep what was said in one write; where something is wrong with one reply, the others by themselves."""
        replied: dict[str, Replied] = {}
        for occurrence, (response, reply) in read.items():
            self._problems.pop(occurrence, "")
            checkpoints = self._questions[occurrence]
            if not answers(response, {"checkpoints": checkpoints}):
                late = InvalidVerdict("this reply is to an earlier question; look at what is asked now, then decide")
                self._failed(occurrence, reply, late)
                continue
            # A yes to another call does not undo an earlier run's no, where that is about the whole conversation.
            done = [] if reply.refuses else _rejected(pause)
            pending = from_data(one for one in checkpoints if one not in done)
            call = None if response.function_call is None else call_of(response.function_call)
            replied[occurrence] = (pending, reply, call)
        try:
            await record(self._bridge.weaver, self._conversation, *replied.values())
        except InvalidVerdict:
            for occurrence, one in replied.items():
                try:
                    await record(self._bridge.weaver, self._conversation, one)
                except InvalidVerdict as error:
                    self._failed(occurrence, one[1], error)
        for occurrence, (_, reply, call) in replied.items():
            if reply.arguments is not None:
                self._changed[occurrence] = dict(reply.arguments)
            if reply.refuses and call is not None:
                judged = await self._bridge.judge(call, self._conversation)
                self.refusals[occurrence] = judged.verdict.message or f"{reply.by} rejected this call"

    def _failed(self, occurrence: str, reply: Reply, error: InvalidVerdict) -> None:
        if reply.refuses:
            raise error
        # The call is judged again, and the person asked again.
        self._problems[occurrence] = str(error)

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
