"""The ruling on a call at a checkpoint: what a person said yes to is let through once (spec 5.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from skillweave.compose.policy import Ruling, ToolPolicy, Verdict, call_of, denied_unread
from skillweave.dialogue import ToolCall, nothing_said
from skillweave.errors import Contended, StoreUnavailable
from skillweave.events.event import Cause
from skillweave.injection import CurrentPolicy, Injection
from skillweave.limits import ToolLimits
from skillweave.state.approvals import ask_about, give_back, take, use_of
from skillweave.state.state import CallUse, State
from skillweave.turn.policy import policy_at
from skillweave.weaver.engine import Engine


@dataclass(frozen=True, slots=True)
class ApprovableCall:
    """A call that is about to run, with what the host knows of it; the fields are those of `Weaver.authorize`."""

    tool: str
    arguments: Mapping[str, object] | None
    call_id: str
    parameters: Sequence[str] | None
    host_tools: Sequence[str] | None
    limits: ToolLimits | None
    key: str

    @property
    def digest(self) -> str | None:
        """By which a person's yes to it is known; None for arguments that are no JSON object."""
        call = call_of(self.call_id, self.tool, self.arguments)
        return None if call is None else call.digest

    def judged_by(self, tools: ToolPolicy) -> Verdict:
        """What the policy rules on it."""
        return tools.authorize(
            self.tool,
            self.arguments,
            call_id=self.call_id,
            parameters=self.parameters,
            host_tools=self.host_tools,
        )


async def rule_once(engine: Engine, policy: Injection | CurrentPolicy, first: Verdict, call: ApprovableCall) -> Verdict:
    """Takes the yes to the call where there is one, and else notes that a person is asked about it.

    `first` is what the policy rules on it. A call that cannot be told from others stays a question.
    """
    digest = call.digest
    if digest is None:
        return first
    library = await engine.library()
    turn = nothing_said(
        policy.turn_id, policy.conversation, tools=policy.tools.grant, limits=call.limits, placement=policy.placement
    )

    def step(state: State, now: float) -> tuple[State, Verdict]:
        used = use_of(state, digest)
        if used is not None and call.key and used.key == call.key:
            return state, Verdict(Ruling.ALLOW, call.tool, "allowed: this request was answered so before")
        same = (policy.revision, policy.generation) == (state.revision, library.snapshot.generation)
        verdict = first if same else call.judged_by(policy_at(state, library, engine.matchers, turn, now).tools)
        # Checkpoints that the host knows of, and the State does not, go on asking.
        still = set(first.checkpoints).difference(verdict.approved)
        if verdict.approved and not still:
            return take(state, digest, call.key, now), Verdict(Ruling.ALLOW, call.tool, "a person approved this call")
        if verdict.ruling is Ruling.DENY or (verdict.ruling is Ruling.ALLOW and not still):
            return state, verdict
        asking = verdict if verdict.checkpoints and not still.difference(verdict.checkpoints) else first
        return ask_about(state, digest), asking if used is None else _asked_anew(asking, used)

    try:
        verdict, _ = await engine.step(policy.conversation, step, cause=Cause.EVICTED)
    except (StoreUnavailable, Contended):
        # Whether a yes was taken nobody knows, so that it must not be counted on; a question stays one.
        return denied_unread(call.tool) if first.approved else first
    return verdict


async def give_call_back(engine: Engine, conversation: str, call: ToolCall) -> bool:
    """An approved call that was let through did not run after all; False where it was not let through."""
    digest = call.digest
    if digest is None:
        return False
    return await engine.change(conversation, lambda state, _: give_back(state, digest), cause=Cause.EVICTED)


def _asked_anew(verdict: Verdict, used: CallUse) -> Verdict:
    at = datetime.fromtimestamp(used.at, UTC).isoformat(timespec="seconds")
    message = f"{verdict.message}; it was let through at {at} already, outcome unknown"
    return replace(verdict, message=message, used_at=used.at)
