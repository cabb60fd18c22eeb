"""`skillweave.wrap`: one line around a provider's client, and its skills are there (spec 12.6)."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from skillweave.adapters.approval import Reply, question, read_reply, record
from skillweave.checking import Checked
from skillweave.errors import InvalidValue
from skillweave.exchange.steps import Approve, Parts, Question
from skillweave.exchange.transport import CONVERSATION, FAMILIES, around, family_of
from skillweave.factory import open as open_weaver
from skillweave.injection import Injection
from skillweave.state.port import Logged
from skillweave.state.state import ApprovalVerdict
from skillweave.stores.insertions import insertions_of
from skillweave.weaver import Weaver

C = TypeVar("C")
Asking = Callable[[Mapping[str, Any]], object]
"""A function, or an async one, that asks a person: it gets the question as JSON data, and returns the verdict."""
_CHECKED = Checked("skillweave.wrap")
_OTHER_FORMS = ("Bedrock", "Vertex")


@dataclass(slots=True)
class Wrapped:
    """What stands behind a wrapped client: its weaver, and what the latest call was given."""

    weaver: Weaver
    last: Injection | None = None

    def note(self, injection: Injection) -> None:
        """Keeps what a call was given."""
        self.last = injection

    def why(self, conversation: str | None = None, skill_id: str | None = None) -> tuple[Logged, ...]:
        """Returns the kept decisions of a conversation, by default that of the latest call, oldest first."""
        asked = conversation or (self.last.conversation if self.last else None)
        return () if asked is None else self.weaver.sync.why(asked, skill_id)


def wrap(
    client: C,
    *skills: Any,  # noqa: ANN401 - as for `open`
    approve: Asking | None = None,
    require_conversation: bool = False,
    **options: Any,  # noqa: ANN401 - as for `open`
) -> C:
    """Returns a copy of a provider's client, of the same type, whose model gets the right skills.

    Works for the clients of `openai` and `anthropic`, sync or async, whatever base URL they have, and for every call of
    chat completions, responses and messages, streamed too; what else the client does passes untouched. Skills are
    given once, calls of a forbidden tool never come back, and skillweave's own tools are answered inside.

    Args:
        client: An `OpenAI`, `AsyncOpenAI`, `Anthropic` or the like; it stays as it is.
        skills: Folders, files and whatever `skillweave.open` takes, or one Weaver.
        approve: Is asked at a checkpoint, with the question as JSON data (`call`, `checkpoints`, `reply` for the form);
            returns `approved`, `rejected`, or a mapping with `verdict`, `by`, `note` and `arguments`. Without it such a
            call is denied.
        require_conversation: Refuse a call outside of `skillweave.dialogue(...)` that names none itself.
        options: Those of `skillweave.open`: `ledger`, `settings`, `matchers` and so on.

    Returns:
        The copy. `skillweave.wrapped(copy)` leads to its weaver.

    Raises:
        InvalidValue: The client is none that can be served; the message says why.
    """
    inner = getattr(client, "_client", None)
    named = type(client).__name__
    if family_of(inner) is None or not callable(getattr(client, "copy", None)):
        _CHECKED.refuse("client", client, f"a client of openai or anthropic, whose HTTP client is of {FAMILIES[1]}")
    if any(one in base.__name__ for base in type(client).__mro__ for one in _OTHER_FORMS):
        raise InvalidValue(f"skillweave.wrap: {named} calls its models in a form that is not served; see the guide")
    made = around(inner, _parts(skills, approve, require_conversation=require_conversation, options=options))
    copied: C = client.copy(http_client=made)  # type: ignore[attr-defined]
    return copied


def http_client(
    *skills: Any,  # noqa: ANN401 - as for `open`
    client: Any = None,  # noqa: ANN401 - of httpx or httpx2
    approve: Asking | None = None,
    require_conversation: bool = False,
    **options: Any,  # noqa: ANN401 - as for `open`
) -> Any:  # noqa: ANN401
    """Returns an HTTP client for whatever takes one: `ChatOpenAI(http_client=skillweave.http_client("skills/"))`.

    `client` is the one to go through, of `httpx` or `httpx2`, sync or async; without it one is made as the SDKs make
    theirs. The rest is as for `wrap`. Raises InvalidValue for what is no client of either.
    """
    inner = _new_client() if client is None else client
    if family_of(inner) is None:
        _CHECKED.refuse("client", inner, "a Client or an AsyncClient of httpx or httpx2")
    return around(inner, _parts(skills, approve, require_conversation=require_conversation, options=options))


def wrapped(client: object) -> Wrapped:
    """Returns what stands behind a client that `wrap` or `http_client` made; raises InvalidValue for any other."""
    inner = client if family_of(client) else getattr(client, "_client", None)
    parts = getattr(getattr(inner, "_transport", None), "parts", None)
    if not isinstance(parts, Parts):
        raise InvalidValue("skillweave.wrapped: this client was not wrapped; give what skillweave.wrap returned")
    seen: Wrapped = parts.seen.__self__  # type: ignore[attr-defined]
    return seen


@contextmanager
def conversation(named: str) -> Iterator[None]:
    """Says that the calls inside the block belong to this conversation; in this thread, or this task, alone."""
    before = CONVERSATION.set(_CHECKED.text("conversation", named))
    try:
        yield
    finally:
        CONVERSATION.reset(before)


def _parts(
    skills: tuple[Any, ...], approve: Asking | None, *, require_conversation: bool, options: Mapping[str, Any]
) -> Parts:
    given = skills[0] if len(skills) == 1 and isinstance(skills[0], Weaver) else None
    if given is not None and options:
        raise InvalidValue(f"skillweave.wrap: a Weaver already has its {', '.join(options)}; leave them out")
    weaver = given or open_weaver(*skills, **options)
    if approve is not None and not callable(approve):
        _CHECKED.refuse("approve", approve, "a function that gets a question and returns a verdict")
    asking = None if approve is None else _asking(approve, weaver)
    return Parts(
        weaver,
        insertions_of(weaver.ledger.store),
        approve=asking,
        require_conversation=require_conversation,
        seen=Wrapped(weaver).note,
    )


def _asking(approve: Asking, weaver: Weaver) -> Approve:
    async def asked(about: Question) -> Reply | None:
        data = question(about.conversation, about.checkpoints, about.call)
        said = approve(data) if inspect.iscoroutinefunction(approve) else await asyncio.to_thread(approve, data)
        if isinstance(said, Awaitable):
            said = await said
        if said is None:
            return None
        reply = read_reply({"verdict": str(said), "by": "approve"} if isinstance(said, str | ApprovalVerdict) else said)
        await record(weaver, about.conversation, (about.checkpoints, reply, about.call))
        return reply

    return asked


def _new_client() -> Any:  # noqa: ANN401
    from importlib import import_module

    for package in FAMILIES:
        try:
            family = import_module(package)
        except ModuleNotFoundError:
            continue
        return family.Client(timeout=family.Timeout(600.0, connect=5.0), follow_redirects=True)
    raise InvalidValue("skillweave.http_client: no HTTP client is installed; install httpx, or give one as `client`")
