"""A person's verdict inside a host: the question and the reply as JSON, and the reply kept in the ledger."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from skillweave.adapters.chat import Call
from skillweave.dialogue import ToolCall
from skillweave.errors import ApprovalNeeded, InvalidData, InvalidVerdict
from skillweave.injection import CurrentPolicy, Injection, PendingCheckpoint
from skillweave.state.state import ApprovalVerdict
from skillweave.weaver import Weaver
from skillweave.weaver.approvals import CheckpointVerdict, Judgement

KIND = "skillweave.checkpoint"
"""What tells our questions from a host's own."""

_FORM = (
    '{"verdict": "approved" | "rejected" | "modified", "by": "the person\'s name", "note": "optional", '
    '"call": "the id of the call that it is about", "arguments": {with "modified": what the call is to run with}}'
)
_KEYS = ("verdict", "by", "note", "call", "arguments")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person said; `by` names the person, `note` is kept with the verdict and told to the model.

    `call` is the id of the call that it is about, empty where the question is about one call only or about none;
    `arguments` are those that a `modified` call is to run with, all of them.
    """

    verdict: ApprovalVerdict
    by: str
    note: str = ""
    call: str = ""
    arguments: Mapping[str, Any] | None = None

    @property
    def refuses(self) -> bool:
        """Whether it is a no."""
        return self.verdict is ApprovalVerdict.REJECTED


def question(
    conversation: str, pending: Sequence[PendingCheckpoint], call: Call | None = None, problem: str = ""
) -> dict[str, object]:
    """What a person is asked, as JSON data: the checkpoints, and the call that waits, if it is one.

    `problem` says what was wrong with an earlier reply.
    """
    asked: dict[str, object] = {
        "kind": KIND,
        "conversation": conversation,
        "checkpoints": to_data(pending),
        "reply": _FORM,
    }
    if call is not None:
        asked["call"] = {"id": call.id, "tool": call.name, "arguments": dict(call.arguments or {})}
    if problem:
        asked["problem"] = problem
    return asked


def read_question(asked: Mapping[str, Any]) -> tuple[str, tuple[PendingCheckpoint, ...]]:
    """The conversation and the checkpoints of a question that a host kept; raises InvalidVerdict for a damaged one."""
    try:
        return str(asked["conversation"]), from_data(asked["checkpoints"])
    except (KeyError, TypeError, InvalidData) as error:
        raise InvalidVerdict(f"this question is not as it was asked ({error}); keep it whole") from error


def read_asked_call(asked: Mapping[str, Any]) -> Call | None:
    """The call that a question is about, None for one that is about no call; raises InvalidVerdict like the other."""
    call = asked.get("call")
    if call is None:
        return None
    if not isinstance(call, Mapping) or not isinstance(call.get("arguments"), Mapping):
        raise InvalidVerdict(f"the call of this question is not as it was asked ({str(call)[:60]}); keep it whole")
    return Call(str(call.get("id") or ""), str(call.get("tool") or ""), call["arguments"])


def read_reply(value: object) -> Reply:
    """The reply to a question, read; raises InvalidVerdict, naming the form, for any other value: no yes is guessed."""
    if isinstance(value, Reply):
        return value
    if not isinstance(value, Mapping) or not isinstance(value.get("by"), str) or not str(value["by"]).strip():
        raise InvalidVerdict(f"a reply to a checkpoint says what and who: {_FORM}; got {str(value)[:60]!r}")
    unknown = sorted(str(key) for key in value.keys() - set(_KEYS))
    if unknown:
        raise InvalidVerdict(f"a reply to a checkpoint has no {unknown[0][:40]!r}; give {_FORM}")
    try:
        verdict = ApprovalVerdict(str(value.get("verdict")))
    except ValueError:
        raise InvalidVerdict(f"verdict {str(value.get('verdict'))[:40]!r} is none; give {_FORM}") from None
    return Reply(verdict, value["by"], str(value.get("note") or ""), str(value.get("call") or ""), _arguments_in(value))


def _arguments_in(reply: Mapping[str, Any]) -> Mapping[str, Any] | None:
    arguments = reply.get("arguments")
    if arguments is None:
        return None
    if reply.get("verdict") != ApprovalVerdict.MODIFIED.value:
        raise InvalidVerdict(f"only a reply 'modified' has arguments, not {reply.get('verdict')!r}; give {_FORM}")
    if not isinstance(arguments, Mapping) or not all(isinstance(name, str) for name in arguments):
        raise InvalidVerdict(f"arguments of a modified call are an object, not {str(arguments)[:60]!r}; give {_FORM}")
    return dict(arguments)


def as_replied(call: Call, reply: Reply) -> Call:
    """The call that is left after the reply: the same, or with the arguments that a person gave it.

    Judge it (`Bridge.judge`) before it runs: what a person changed is none the less for the policy to allow.
    """
    return call if reply.arguments is None else replace(call, arguments=reply.arguments, problem=None)


Replied: TypeAlias = tuple[Sequence[PendingCheckpoint], Reply, Call | None]
"""The checkpoints of one question, what was said to it, and the call that it is about."""


async def record(weaver: Weaver, conversation: str, *replied: Replied) -> tuple[Judgement, ...]:
    """Keep each reply as the verdict on its checkpoints, in one write: all of them or none.

    Raises InvalidVerdict where a skill has changed since, so that the person saw another text, and where a reply is
    about another call.
    """
    said: dict[CheckpointVerdict, None] = {}
    for pending, reply, call in replied:
        if reply.call and (call is None or reply.call != call.id):
            about = "no call" if call is None else f"call {call.id[:60]!r}"
            raise InvalidVerdict(f"this reply is about call {reply.call[:60]!r}, and the question is about {about}")
        if reply.arguments is not None and call is None:
            raise InvalidVerdict(f"this question is about no call that could have arguments; give {_FORM} without them")
        shown = None if call is None else ToolCall(call.id, call.name, call.arguments or {})
        said |= dict.fromkeys(
            CheckpointVerdict(
                one.skill_id,
                one.name,
                reply.verdict,
                reply.by,
                reply.note,
                one.digest,
                shown if one.before is not None else None,
                reply.arguments if one.before is not None else None,
            )
            for one in pending
        )
    return await weaver.approvals.decide_all(conversation, tuple(said)) if said else ()


def to_data(checkpoints: Iterable[PendingCheckpoint]) -> list[dict[str, Any]]:
    """The checkpoints as JSON data, for a host's state."""
    return [one.to_dict() for one in checkpoints]


def from_data(kept: Iterable[Mapping[str, Any]]) -> tuple[PendingCheckpoint, ...]:
    """The checkpoints that `to_data` wrote into a host's state."""
    return tuple(PendingCheckpoint.from_dict(one) for one in kept)


def waiting(injection: Injection | CurrentPolicy) -> tuple[PendingCheckpoint, ...]:
    """The checkpoints that must be decided before the model acts at all."""
    return tuple(one for one in injection.checkpoints if one.blocking and one.before is None)


def require_decided(injection: Injection) -> None:
    """Raise ApprovalNeeded where such a checkpoint is open, for hosts that cannot pause between two model calls."""
    pending = waiting(injection)
    if pending:
        raise ApprovalNeeded(injection.conversation, [(one.skill_id, one.name) for one in pending])
