"""Models behind an HTTP endpoint, in the two wire formats that most servers speak."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit, urlunsplit

from skillweave.codec import Portable
from skillweave.errors import MissingExtra, SkillweaveError
from skillweave.redaction import HIDDEN, without_keys

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

ATTEMPTS = 5
LONGEST_WAIT = 60.0
LONGEST_ANSWER = 4096
"""Tokens that an answer may have."""
ANTHROPIC_VERSION = "2023-06-01"
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Answers after which the same request may succeed."""
_LONGEST_REASON = 300


class Wire(StrEnum):
    """How requests and answers are written."""

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
    """Asks models over one pool of connections; retries what may succeed the second time.

    Raises:
        MissingExtra: the packages of the extra `eval` are not installed.
    """

    def __init__(
        self, *, timeout: float = 120.0, longest_answer: int = 4096, longest_wait: float = LONGEST_WAIT
    ) -> None:
        try:
            import httpx
            import tenacity
        except ModuleNotFoundError as error:
            raise MissingExtra("asking a model", error.name or "httpx", "eval") from None
        self.longest_answer = longest_answer
        self._longest_wait = longest_wait
        self._client = httpx.AsyncClient(timeout=timeout, follow_redirects=False)
        self._retrying = tenacity.AsyncRetrying
        self._stop = tenacity.stop_after_attempt(ATTEMPTS)
        self._backoff = tenacity.wait_random_exponential(multiplier=0.5, max=longest_wait)
        self._again = tenacity.retry_if_exception(_may_succeed)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def ask(self, endpoint: Endpoint, system: str, text: str) -> Reply:
        """The model's answer; raises ModelFailed after the last attempt."""
        import httpx

        try:
            async for attempt in self._retrying(stop=self._stop, wait=self._wait, retry=self._again, reraise=True):
                with attempt:
                    return await self._once(endpoint, system, text)
        except (httpx.HTTPError, _Refused) as error:
            raise ModelFailed(f"{endpoint.named} gave no answer: {_reason(error, endpoint)}") from None
        raise ModelFailed(f"{endpoint.named} gave no answer")  # the loop above always ends by itself

    async def _once(self, endpoint: Endpoint, system: str, text: str) -> Reply:
        write, path = (_openai, "/chat/completions") if endpoint.wire is Wire.OPENAI else (_anthropic, "/v1/messages")
        url = endpoint.url + (path.removeprefix("/v1") if endpoint.url.endswith("/v1") else path)
        response = await self._client.post(
            url, headers=_headers(endpoint), json=write(endpoint, system, text, self.longest_answer)
        )
        if response.status_code != 200:
            raise _Refused(response.status_code, _said(response), _retry_after(response))
        try:
            data = response.json()
            return _read_openai(data) if endpoint.wire is Wire.OPENAI else _read_anthropic(data)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            shown = f"{type(error).__name__}: {error}"
            raise _Refused(200, f"its answer has another form than the {endpoint.wire.value} one ({shown})") from None

    def _wait(self, state: "RetryCallState") -> float:
        """What the server asks for, else longer after each attempt."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _Refused) and error.retry_after is not None:
            return min(error.retry_after, self._longest_wait)
        return float(self._backoff(state))


class _Refused(Exception):
    def __init__(self, status: int, said: str, retry_after: float | None = None) -> None:
        super().__init__(said)
        self.status = status
        self.retry_after = retry_after


def _may_succeed(error: BaseException) -> bool:
    import httpx

    if isinstance(error, httpx.ReadTimeout | httpx.LocalProtocolError):
        return False  # the answer may have been made, and paid for; a request that is wrong stays wrong
    return isinstance(error, httpx.TransportError) or (isinstance(error, _Refused) and error.status in _AGAIN)


def _headers(endpoint: Endpoint) -> Mapping[str, str]:
    if endpoint.wire is Wire.ANTHROPIC:
        return {"anthropic-version": ANTHROPIC_VERSION, **({"x-api-key": endpoint.key} if endpoint.key else {})}
    return {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}


def _openai(endpoint: Endpoint, system: str, text: str, longest: int) -> Mapping[str, object]:
    first = [{"role": "system", "content": system}] if system else []
    # OpenAI's newer models refuse the older name, which is the only one that most other servers know.
    limit = "max_completion_tokens" if endpoint.provider == "openai" else "max_tokens"
    return {"model": endpoint.model, "messages": [*first, {"role": "user", "content": text}], limit: longest}


def _anthropic(endpoint: Endpoint, system: str, text: str, longest: int) -> Mapping[str, object]:
    first = {"system": system} if system else {}
    messages = [{"role": "user", "content": text}]
    return {"model": endpoint.model, "max_tokens": longest, **first, "messages": messages}


def _read_openai(data: Mapping[str, Any]) -> Reply:
    choice = data["choices"][0]
    usage = data.get("usage") or {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    taken = Usage(1, int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0), int(cached))
    return Reply(str(choice["message"]["content"] or ""), taken, choice.get("finish_reason") == "length")


def _read_anthropic(data: Mapping[str, Any]) -> Reply:
    text = "".join(str(block["text"]) for block in data["content"] if block.get("type") == "text")
    usage = data.get("usage") or {}
    cached = int(usage.get("cache_read_input_tokens") or 0)
    written = int(usage.get("cache_creation_input_tokens") or 0)
    taken = Usage(
        1, int(usage.get("input_tokens") or 0) + cached + written, int(usage.get("output_tokens") or 0), cached
    )
    return Reply(text, taken, data.get("stop_reason") == "max_tokens")


def _said(response: "httpx.Response") -> str:
    try:
        error = response.json().get("error")
        said = error.get("message") if isinstance(error, dict) else error
    except (ValueError, AttributeError):
        said = None
    return f"HTTP {response.status_code}: {said or response.text[:_LONGEST_REASON] or response.reason_phrase}"


def _retry_after(response: "httpx.Response") -> float | None:
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def _address(url: str) -> str:
    """The address without user, password and query, which may hold a key."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _reason(error: Exception, endpoint: Endpoint) -> str:
    import httpx

    # What is wrong with a header would quote it.
    said = "" if isinstance(error, httpx.LocalProtocolError) else str(error)
    if not isinstance(error, _Refused):
        said = f"{type(error).__name__} at {_address(endpoint.url)}: {said}".rstrip(": ")
    said = said.replace(endpoint.url, _address(endpoint.url)) or type(error).__name__
    if endpoint.key:
        said = said.replace(endpoint.key, HIDDEN)
    said = " ".join(without_keys(said).split())[:_LONGEST_REASON]
    if isinstance(error, _Refused) and error.status in (401, 403):
        return f"{said}; check its key"
    return said
