"""Models behind an HTTP endpoint, through the SDKs of the two wire formats that most servers speak."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit, urlunsplit

from skillweave import SkillweaveError
from skillweave.values import HIDDEN, Portable, without_keys

if TYPE_CHECKING:
    from tenacity import RetryCallState

ATTEMPTS = 5
LONGEST_WAIT = 60.0
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed."""
_LONGEST_REASON = 300


class Wire(StrEnum):
    """How requests and answers are written; the name of the SDK that writes them."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class ModelFailed(SkillweaveError):
    """A model that gave no answer, with the reason; no key stands in it."""


@dataclass(frozen=True, slots=True)
class Usage(Portable):
    """What calls took: tokens in and out, and those of the input that the provider had cached."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(
            self.calls + other.calls, self.input + other.input, self.output + other.output, self.cached + other.cached
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, and what it took; `cut` where its longest answer was reached."""

    text: str
    usage: Usage
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is: its name, the wire format and address; the key is never shown."""

    provider: str
    model: str
    wire: Wire
    url: str
    key: str | None = field(default=None, repr=False)

    @property
    def named(self) -> str:
        """`provider:model`."""
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, slots=True)
class _Provider:
    wire: Wire
    url: str
    key: str | None


_PROVIDERS: Mapping[str, _Provider] = {
    "openai": _Provider(Wire.OPENAI, "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": _Provider(Wire.ANTHROPIC, "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "ollama": _Provider(Wire.OPENAI, "http://localhost:11434/v1", None),
}


def endpoint_of(
    named: str, *, base_url: str | None = None, wire: Wire | None = None, environment: Mapping[str, str] | None = None
) -> Endpoint:
    """The endpoint that `provider:model` stands for.

    The address is `base_url`, the variable `PROVIDER_BASE_URL`, or the provider's own; `PROVIDER_API_KEY` has the key.
    A provider that is not known needs an address, and is spoken to in the OpenAI format unless `wire` says another.

    Raises:
        SkillweaveError: the name has another form, or an address or a key is missing.
    """
    variables = os.environ if environment is None else environment
    provider, separator, model = named.partition(":")
    provider, model = provider.strip().lower(), model.strip()
    if not separator or not provider or not model:
        raise SkillweaveError(f"{named[:100]!r} names no model; write provider:name, such as openai:gpt-5-mini")
    known = _PROVIDERS.get(provider)
    prefix = re.sub(r"[^A-Z0-9]", "_", provider.upper())
    url = base_url or variables.get(f"{prefix}_BASE_URL") or (known.url if known else None)
    if url is None:
        raise SkillweaveError(
            f"there is no address for the provider {provider[:60]!r}; add --base-url URL, or set {prefix}_BASE_URL"
        )
    key = (variables.get((known.key if known else None) or f"{prefix}_API_KEY") or "").strip() or None
    if key is None and known is not None and known.key is not None and base_url is None and url == known.url:
        raise SkillweaveError(f"{provider} needs a key; set {known.key}")
    return Endpoint(provider, model, wire or (known.wire if known else Wire.OPENAI), url.rstrip("/"), key)


class Caller:
    """Asks models through their SDKs; retries what may succeed the second time."""

    def __init__(
        self, *, timeout: float = 120.0, longest_answer: int = 4096, longest_wait: float = LONGEST_WAIT
    ) -> None:
        self.longest_answer = longest_answer
        self._longest_wait = longest_wait
        self._timeout = timeout
        self._clients: dict[Endpoint, Any] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self._clients.values():
            await client.close()

    async def ask(self, endpoint: Endpoint, system: str, text: str) -> Reply:
        """Returns the model's answer.

        Raises:
            ModelFailed: the last attempt failed.
        """
        sdk, tenacity = import_module(endpoint.wire.value), import_module("tenacity")
        # The SDKs' own retrying repeats a request that timed out, which may have been answered and paid for.
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(ATTEMPTS),
            wait=self._wait,
            retry=tenacity.retry_if_exception(_may_succeed),
            reraise=True,
        )
        ask = _ask_openai if endpoint.wire is Wire.OPENAI else _ask_anthropic
        client = self._client(endpoint, sdk)
        try:
            reply: Reply = await retrying(ask, client, endpoint, system, text, self.longest_answer)
        except sdk.APIError as error:
            raise ModelFailed(f"{endpoint.named} gave no answer: {_reason(error, endpoint)}") from None
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            shown = f"its answer has another form than the {endpoint.wire.value} one ({type(error).__name__}: {error})"
            raise ModelFailed(f"{endpoint.named} gave no answer: {_hidden(shown, endpoint)}") from None
        return reply

    def _client(self, endpoint: Endpoint, sdk: ModuleType) -> Any:  # noqa: ANN401 - the client of either SDK
        if endpoint not in self._clients:
            opened = sdk.AsyncOpenAI if endpoint.wire is Wire.OPENAI else sdk.AsyncAnthropic
            self._clients[endpoint] = opened(
                base_url=endpoint.url if endpoint.wire is Wire.OPENAI else endpoint.url.removesuffix("/v1"),
                # Without one the SDKs would send a key that they find in the environment, whoever the server is.
                api_key=endpoint.key or "none",
                timeout=self._timeout,
                max_retries=0,
                http_client=sdk.DefaultAsyncHttpxClient(follow_redirects=False),
            )
        return self._clients[endpoint]

    def _wait(self, state: "RetryCallState") -> float:
        """Returns what the server asks for, else longer after each attempt."""
        error = state.outcome.exception() if state.outcome else None
        try:
            asked = float(error.response.headers["retry-after"])  # type: ignore[union-attr]
        except (AttributeError, KeyError, ValueError):
            backoff = import_module("tenacity").wait_random_exponential(multiplier=0.5, max=self._longest_wait)
            return float(backoff(state))
        return min(max(0.0, asked), self._longest_wait)


def _may_succeed(error: BaseException) -> bool:
    """Whether to ask again; a request that is wrong stays wrong, and one that timed out may have been paid for."""
    status = getattr(error, "status_code", None)
    if status is not None:
        return status in _AGAIN
    lost = type(error).__name__ in ("APIConnectionError", "APITimeoutError")
    # By name: newer SDKs bring a fork of httpx.
    return lost and type(error.__cause__).__name__ not in ("ReadTimeout", "LocalProtocolError")


async def _ask_openai(client: Any, endpoint: Endpoint, system: str, text: str, longest: int) -> Reply:  # noqa: ANN401
    first = [{"role": "system", "content": system}] if system else []
    # OpenAI's newer models refuse the older name, which is the only one that most other servers know.
    limit = "max_completion_tokens" if endpoint.provider == "openai" else "max_tokens"
    said = await client.chat.completions.create(
        model=endpoint.model, messages=[*first, {"role": "user", "content": text}], **{limit: longest}
    )
    choice, usage = said.choices[0], said.usage
    cached = _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens")
    taken = Usage(1, _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"), cached)
    return Reply(str(choice.message.content or ""), taken, choice.finish_reason == "length")


async def _ask_anthropic(client: Any, endpoint: Endpoint, system: str, text: str, longest: int) -> Reply:  # noqa: ANN401
    first = {"system": system} if system else {}
    said = await client.messages.create(
        model=endpoint.model, max_tokens=longest, messages=[{"role": "user", "content": text}], **first
    )
    cached = _count(said.usage, "cache_read_input_tokens")
    sent = _count(said.usage, "input_tokens") + cached + _count(said.usage, "cache_creation_input_tokens")
    answer = "".join(block.text for block in said.content if block.type == "text")
    return Reply(answer, Usage(1, sent, _count(said.usage, "output_tokens"), cached), said.stop_reason == "max_tokens")


def _count(usage: object, name: str) -> int:
    return int(getattr(usage, name, None) or 0)


def _address(url: str) -> str:
    """The address without user, password and query, which may hold a key."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _reason(error: Any, endpoint: Endpoint) -> str:  # noqa: ANN401 - an APIError of either SDK
    status = getattr(error, "status_code", None)
    if status is None:
        cause = error.__cause__ or error
        # What is wrong with a header would quote it.
        said = "" if type(cause).__name__ == "LocalProtocolError" else str(cause)
        return _hidden(f"{type(cause).__name__} at {_address(endpoint.url)}: {said}".rstrip(": "), endpoint)
    found = error.body.get("error", error.body) if isinstance(error.body, Mapping) else error.body
    why = found.get("message") if isinstance(found, Mapping) else found
    shown = _hidden(f"HTTP {status}: {why or error.response.reason_phrase}", endpoint)
    return f"{shown}; check its key" if status in (401, 403) else shown


def _hidden(said: str, endpoint: Endpoint) -> str:
    """The text in one line, without what may hold a key."""
    said = said.replace(endpoint.url, _address(endpoint.url))
    if endpoint.key:
        said = said.replace(endpoint.key, HIDDEN)
    return " ".join(without_keys(said).split())[:_LONGEST_REASON]
