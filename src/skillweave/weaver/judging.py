"""The ruling on a call that is about to run: what a person said yes to is let through once (spec 5.5)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypedDict

from skillweave.compose.policy import Ruling, ToolPolicy, Verdict, denied_unread
from skillweave.conversation import ToolCall, nothing_said
from skillweave.errors import Contended, StoreUnavailable
from skillweave.events.event import Cause
from skillweave.frozen import EMPTY
from skillweave.injection import CurrentPolicy, Injection
from skillweave.limits import ToolLimits
from skillweave.state.approvals import ask_about, give_back, take, use_of
from skillweave.state.state import CallUse, State
from skillweave.turn.policy import policy_at
from skillweave.weaver.engine import Engine


class AuthorizeFields(TypedDict, total=False):
    """What a host knows of a call that is about to run.

    `call_id` is the model's id of the call, by which a person's yes to it is known; `parameters` and `host_tools` are
    those of `ToolPolicy.authorize`, `limits` those of the calling agent's turns, where it was spawned. `key` names the
    request: asked again with the same key, an approved call gets the same answer.
    """

    call_id: str | None
    parameters: Sequence[str] | None
    host_tools: Iterable[str] | None
    limits: ToolLimits | None
    key: str | None


async def authorize(
    engine: Engine,
    policy: Injection | CurrentPolicy,
    tool: str,
    arguments: Mapping[str, object] | None,
    known: AuthorizeFields,
) -> Verdict:
    """Rules on the call, and takes the yes to it where there is one; a question is noted."""
    call_id, key = known.get("call_id"), known.get("key") or ""
    names = known.get("host_tools")
    host_tools = None if names is None or isinstance(names, str) else tuple(names)

    def judged(tools: ToolPolicy) -> Verdict:
        return tools.authorize(
            tool,
            arguments,
            call_id=call_id,
            parameters=known.get("parameters"),
            host_tools=names if host_tools is None else host_tools,
        )

    first = judged(policy.tools)
    readable = arguments is None or isinstance(arguments, Mapping)
    digest = ToolCall(call_id, tool, arguments or EMPTY).digest if call_id and readable else None
    if first.ruling is not Ruling.ASK or digest is None:
        return first
    library = await engine.library()
    turn = nothing_said(
        policy.turn_id,
        policy.conversation,
        tools=policy.tools.grant,
        limits=known.get("limits"),
        placement=policy.placement,
    )

    def step(state: State, now: float) -> tuple[State, Verdict]:
        used = use_of(state, digest)
        if used is not None and key and used.key == key:
            return state, Verdict(Ruling.ALLOW, tool, "allowed, as this request was answered before")
        same = (policy.revision, policy.generation) == (state.revision, library.snapshot.generation)
        verdict = first if same else judged(policy_at(state, library, engine.matchers, turn, now).tools)
        # Rules that the host knows of, and the State does not, go on asking.
        still = tuple(name for name in first.checkpoints if name not in verdict.approved)
        if verdict.approved and not still:
            return take(state, digest, key, now), Verdict(Ruling.ALLOW, tool, "a person approved this call")
        if verdict.ruling is Ruling.DENY:
            return state, verdict
        asking = first if verdict.ruling is Ruling.ALLOW or still else verdict
        return ask_about(state, digest), asking if used is None else _asked_anew(asking, used)

    try:
        verdict, _ = await engine.step(policy.conversation, step, cause=Cause.TAKEN)
    except (StoreUnavailable, Contended):
        # Whether the yes was taken nobody knows, so that it must not be counted on.
        return denied_unread(tool)
    return verdict


async def give_call_back(engine: Engine, conversation: str, call: ToolCall) -> bool:
    """An approved call that was let through did not run after all; False where it was not let through."""
    digest = call.digest
    if digest is None:
        return False
    return await engine.change(conversation, lambda state, _: give_back(state, digest), cause=Cause.TAKEN)


def _asked_anew(verdict: Verdict, used: CallUse) -> Verdict:
    at = datetime.fromtimestamp(used.at, UTC).isoformat(timespec="seconds")
    return replace(verdict, message=f"{verdict.message}; it was let through at {at} already, outcome unknown")
