"""Models behind an HTTP endpoint, through the SDK of OpenAI, whose wire format most servers speak."""

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit, urlunsplit

from skillweave import SkillweaveError
from skillweave.values import HIDDEN, Portable, without_keys

if TYPE_CHECKING:
    from openai import APIError

MESSAGES = "-messages"
"""A provider whose name ends so is spoken to in Anthropic's own form instead of OpenAI's."""
RETRIES = 4
LONGEST_ANSWER = 4096
"""Tokens that an answer may have."""
SECONDS = 120.0
"""How long one call may take, with everything that is tried again."""
_LONGEST_REASON = 300
_ADDRESSES = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "anthropic-messages": "https://api.anthropic.com/v1",
    "ollama": "http://localhost:11434/v1",
}


class ModelFailed(SkillweaveError):
    """A model gave no answer, with the reason; no key stands in it."""


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
    """What a model answered, and what it took; `cut` if it reached its longest answer."""

    text: str
    usage: Usage
    cut: bool = False


class Model:
    """The model that `provider:name` stands for, to be asked inside `async with`; `url` says where it is.

    The address is `base_url`, the variable `PROVIDER_BASE_URL`, or the provider's own; `PROVIDER_API_KEY` has the key.

    Raises:
        SkillweaveError: the name has another form, or an address or a key is missing.
    """

    def __init__(
        self,
        named: str,
        *,
        base_url: str | None = None,
        environment: Mapping[str, str] = os.environ,
        timeout: float = SECONDS,
        longest_answer: int = LONGEST_ANSWER,
    ) -> None:
        provider, _, model = (part.strip() for part in named.partition(":"))
        provider = provider.lower()
        if not provider or not model:
            raise SkillweaveError(f"{named[:100]!r} names no model; write provider:name, such as openai:gpt-5-mini")
        prefix = re.sub(r"[^A-Z0-9]", "_", provider.removesuffix(MESSAGES).upper())
        own = _ADDRESSES.get(provider)
        url = base_url or environment.get(f"{prefix}_BASE_URL") or own
        if url is None:
            raise SkillweaveError(
                f"there is no address for the provider {provider[:60]!r}; add --base-url URL, or set {prefix}_BASE_URL"
            )
        self._key = environment.get(f"{prefix}_API_KEY", "").strip()
        if not self._key and url == own and provider != "ollama":
            raise SkillweaveError(f"{provider} needs a key; set {prefix}_API_KEY")
        self.named = f"{provider}:{model}"
        self.url = url.rstrip("/")
        self.longest_answer = longest_answer
        self._timeout = timeout

    async def __aenter__(self) -> Self:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        self._client = AsyncOpenAI(
            base_url=self.url,
            # Without one the SDK would send a key that it finds in the environment, whoever the server is.
            api_key=self._key or "none",
            timeout=None,
            max_retries=RETRIES,
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def ask(self, system: str, text: str) -> Reply:
        """Returns the model's answer.

        Raises:
            ModelFailed: the last attempt failed, or it took too long.
        """
        from openai import APIError

        provider, _, model = self.named.partition(":")
        messages: Any = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": text})
        # OpenAI's newer models refuse the older name, which is the only one that most other servers know.
        limit: Any = {"max_completion_tokens" if provider == "openai" else "max_tokens": self.longest_answer}
        try:
            # Not the SDK's timeout: it repeats a request that timed out, which may have been answered and paid for.
            async with asyncio.timeout(self._timeout):
                if provider.endswith(MESSAGES):
                    return await self._message(model, system, text)
                said = await self._client.chat.completions.create(model=model, messages=messages, **limit)
            choice, usage = said.choices[0], said.usage
            cached = _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens")
            taken = Usage(1, _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"), cached)
            return Reply(str(choice.message.content or ""), taken, choice.finish_reason == "length")
        except TimeoutError:
            why = f"nothing came within {self._timeout:g} seconds"
        except APIError as error:
            why = self._reason(error)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            why = f"its answer has another form than OpenAI's ({type(error).__name__}: {error})"
        raise ModelFailed(f"{self.named} gave no answer: {self._hidden(why)}") from None

    async def _message(self, model: str, system: str, text: str) -> Reply:
        """The answer in Anthropic's form, by the same client, which knows when to try again."""
        body: dict[str, Any] = {"model": model, "max_tokens": self.longest_answer}
        body |= {"system": system} if system else {}
        body |= {"messages": [{"role": "user", "content": text}]}
        headers = {"x-api-key": self._key, "anthropic-version": "2023-06-01"}
        said: Any = await self._client.post("/messages", body=body, cast_to=object, options={"headers": headers})
        answer = "".join(str(part["text"]) for part in said["content"] if part["type"] == "text")
        taken = said.get("usage") or {}
        cached = int(taken.get("cache_read_input_tokens") or 0)
        usage = Usage(1, int(taken.get("input_tokens") or 0) + cached, int(taken.get("output_tokens") or 0), cached)
        return Reply(answer, usage, said.get("stop_reason") == "max_tokens")

    def _reason(self, error: "APIError") -> str:
        status = getattr(error, "status_code", None)
        if status is None:
            cause = error.__cause__ or error
            # What is wrong with a header would quote it.
            said = "" if type(cause).__name__ == "LocalProtocolError" else str(cause)
            return f"{type(cause).__name__} at {_address(self.url)}: {said}".rstrip(": ")
        why = error.body.get("message") if isinstance(error.body, Mapping) else error.body
        return f"HTTP {status}: {why or error.message}{'; check its key' if status in (401, 403) else ''}"

    def _hidden(self, said: str) -> str:
        """The text in one line, without what may hold a key."""
        said = said.replace(self.url, _address(self.url))
        if self._key:
            said = said.replace(self._key, HIDDEN)
        return " ".join(without_keys(said).split())[:_LONGEST_REASON]


def _count(usage: object, name: str) -> int:
    return int(getattr(usage, name, None) or 0)


def _address(url: str) -> str:
    """The address without user, password and query, which may hold a key."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
