"""Persons' verdicts in the Agent Framework: its approval requests and responses, and what is kept in the session."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent_framework import AgentSession, Content, Message

from skillweave.adapters.agent_framework.messages import call_of
from skillweave.adapters.agent_framework.pauses import Pause, replies_to
from skillweave.adapters.approval import Replied, Reply, from_data, question, read_reply, record
from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import Call
from skillweave.errors import InvalidVerdict
from skillweave.injection import PendingCheckpoint
from skillweave.state.state import ApprovalVerdict

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
