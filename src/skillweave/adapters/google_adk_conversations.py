"""Which conversations an agent of Google's ADK is in: its own, and those whose rules hold for it too."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import TypeAlias
from urllib.parse import quote

from google.adk.agents.context import Context

from skillweave.dialogue import LONGEST_ID
from skillweave.errors import InvalidTurn

ConversationOf: TypeAlias = Callable[[Context], str]
"""What tells the id of a conversation."""


def conversation_of(context: Context, named: ConversationOf | None) -> str:
    """The id of the agent's own conversation: as the host's function tells it, or that of its place in the session.

    Raises InvalidTurn where the function tells none.
    """
    if named is None:
        invocation = context.get_invocation_context()
        return _place_in(context, invocation.branch, invocation.isolation_scope)
    told: object = named(context)
    if not isinstance(told, str) or not told:
        raise InvalidTurn("SkillPlugin(conversation=...) told no id; let it return a text that is not empty")
    return told


def judging(context: Context, named: ConversationOf | None) -> tuple[str, ...]:
    """The conversations whose rules hold for a call, the widest first, the agent's own last."""
    several = (one for caller in _callers(context) for one in _around(caller, named))
    return tuple(dict.fromkeys(several))


def _callers(context: Context) -> Sequence[Context]:
    """The contexts of the calls that lead to an agent which is used as a tool, and its own."""
    callers = [context]
    # Such an agent runs in a session of its own. What it saves goes to the call that it answers: so that is found.
    while (service := callers[0].get_invocation_context().artifact_service) is not None:
        caller = getattr(service, "tool_context", None)
        if not isinstance(caller, Context):
            break
        callers.insert(0, caller)
    return callers


def _around(context: Context, named: ConversationOf | None) -> Iterator[str]:
    if named is None:
        yield _place_in(context, None, None)
        branch = context.get_invocation_context().branch or ""
        # Where nothing was said nothing is in force, so the places are those of the session's events.
        places = {(one.branch, one.isolation_scope): None for one in context.session.events if one.branch}
        wider = [place for place in places if branch.startswith(f"{place[0]}.")]
        for place in sorted(wider, key=lambda place: len(place[0] or "")):
            yield _place_in(context, *place)
    yield conversation_of(context, named)


def _place_in(context: Context, branch: str | None, scope: str | None) -> str:
    session = context.session
    part = [branch or "", scope] if scope else [branch] if branch else []
    pieces = (session.app_name, session.user_id, session.id, *part)
    whole = "/".join(quote(piece, safe="") for piece in pieces)
    if len(whole) <= LONGEST_ID:
        return whole
    # The beginning is for people who look at a ledger.
    digest = sha256(whole.encode()).hexdigest()
    return f"{whole[: LONGEST_ID - len(digest) - 1]}-{digest}"
