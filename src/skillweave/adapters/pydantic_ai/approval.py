"""Persons' verdicts in Pydantic AI: from the requests with which a run paused to the results with which one resumes."""

from collections.abc import Sequence

from skillweave.adapters.approval import KIND, read_question, read_reply, record
from skillweave.adapters.call import read_call
from skillweave.compose.policy import Ruling
from skillweave.errors import InvalidVerdict, MissingExtra
from skillweave.weaver import Weaver

try:
    from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
    from pydantic_ai.messages import ToolCallPart
except ModuleNotFoundError:
    raise MissingExtra("the adapter for Pydantic AI", "pydantic-ai-slim", "pydantic-ai") from None


async def approvals(
    weaver: Weaver, requests: DeferredToolRequests, reply: object, *, calls: Sequence[str] | None = None
) -> DeferredToolResults:
    """Keep a person's reply to the calls that wait at checkpoints, as the results with which the next run resumes.

    `reply` is `{"verdict": ..., "by": ..., "note": ...}`; it is about the calls with the ids `calls`, all by default.
    Requests of the host's own are left to the host: `update` the results with theirs. Raises InvalidVerdict for a reply
    of another form, for an id that no waiting call has, and where a skill has changed since it was asked about.
    """
    answer = read_reply(reply)
    asked = {call.tool_call_id: requests.metadata.get(call.tool_call_id) or {} for call in requests.approvals}
    ours = {key: read_question(told) for key, told in asked.items() if told.get("kind") == KIND}
    for key in calls or ():
        if key not in ours:
            raise InvalidVerdict(
                f"no call {key[:60]!r} waits at a checkpoint; it is one of {', '.join(ours) or 'none'}"
            )
    about = {key: told for key, told in ours.items() if calls is None or key in calls}
    for conversation, pending in about.values():
        await record(weaver, conversation, pending, answer)
    results = DeferredToolResults(answered_by=dict.fromkeys(about, answer.by))
    for call in requests.approvals:
        if call.tool_call_id in about:
            conversation, _ = about[call.tool_call_id]
            results.approvals[call.tool_call_id] = await _ruled(weaver, conversation, call)
    return results


def approvals_sync(
    weaver: Weaver, requests: DeferredToolRequests, reply: object, *, calls: Sequence[str] | None = None
) -> DeferredToolResults:
    """The same for a program without an event loop."""
    return weaver.sync.run(approvals(weaver, requests, reply, calls=calls))


async def _ruled(weaver: Weaver, conversation: str, part: ToolCallPart) -> ToolApproved | ToolDenied:
    call = read_call(part.tool_call_id, part.tool_name, part.args)
    verdict = await weaver.authorize(
        await weaver.current_policy(conversation), call.name, call.arguments, call_id=call.id
    )
    return ToolDenied(verdict.message) if verdict.ruling is Ruling.DENY else ToolApproved()
