"""The embedder `openai:MODEL`: any endpoint that answers as OpenAI's `/embeddings` does."""

import base64
import os
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from skillweave.errors import SkillweaveError
from skillweave.text.embedding import Vectors

if TYPE_CHECKING:
    import httpx

BASE_URL, KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
"""The environment variables that name the endpoint and its key."""
OPENAI = "https://api.openai.com/v1"
SECONDS = 20.0
"""How long one request may take."""
AT_ONCE = 64
"""So many texts go into one request."""
LONGEST = 8_000
"""Characters of a text that are sent: no model of this kind reads more than some 8,000 tokens."""
MOST_BYTES = 64 * 1024 * 1024
"""A longer answer is not read to its end."""


class EndpointFailed(SkillweaveError):
    """An endpoint for embeddings did not answer as it should; no part of a text or of the key is in the message."""


class EndpointEmbedder:
    """Embeds by an HTTP endpoint, one connection for each use; `transport` is httpx's."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI,
        key: str | None = None,
        seconds: float = SECONDS,
        transport: "httpx.AsyncBaseTransport | None" = None,
    ) -> None:
        self._model, self._url, self._key = model, base_url.rstrip("/"), (key or "").strip()
        self._seconds, self._transport = seconds, transport
        self._dimension = 0
        parts = urlsplit(self._url)
        # User, password and query may hold a key: they are in no message, and only as a digest in the id.
        self._shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._model!r}, base_url={self._shown!r})"

    @property
    def id(self) -> str:
        """The model and where it is asked: two endpoints may call different models by one name."""
        hidden = "" if self._shown == self._url else f"#{sha256(self._url.encode()).hexdigest()[:8]}"
        return f"openai:{self._model}@{self._shown}{hidden}"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text, zeros for one without a word. Raises EndpointFailed."""
        import httpx
        import numpy as np

        sent = [(place, text[:LONGEST]) for place, text in enumerate(texts) if text.strip()]
        if not self._key.isascii():
            raise self._failed("its key has letters that no key has")
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        rows: list[Any] = []
        async with httpx.AsyncClient(timeout=self._seconds, headers=headers, transport=self._transport) as client:
            for first in range(0, len(sent), AT_ONCE):
                rows.extend(await self._ask(client, [text for _, text in sent[first : first + AT_ONCE]]))
            if texts and not sent and not self._dimension:
                self._dimension = len((await self._ask(client, ["-"]))[0])  # so that zeros have the model's dimension
        if not rows:
            return np.zeros((len(texts), self._dimension if texts else 0), dtype=np.float32)
        self._dimension = len(rows[0])
        found = np.zeros((len(texts), len(rows[0])), dtype=np.float32)
        for (place, _), row in zip(sent, rows, strict=True):
            if len(row) != found.shape[1]:
                raise self._failed("it gave vectors of different lengths")
            found[place] = row / max(float(np.linalg.norm(row)), 1e-12)
        return found

    async def _ask(self, client: "httpx.AsyncClient", texts: list[str]) -> list[Any]:
        import httpx

        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        try:
            async with client.stream("POST", f"{self._url}/embeddings", json=body) as answer:
                if answer.status_code != httpx.codes.OK:
                    raise self._failed(f"it answered {answer.status_code} {answer.reason_phrase}")
                content = bytearray()
                async for piece in answer.aiter_bytes():
                    content += piece
                    if len(content) > MOST_BYTES:
                        raise self._failed(f"its answer is longer than {MOST_BYTES // 1024 // 1024} MB")
        except httpx.HTTPError as error:
            raise self._failed(f"{type(error).__name__}: it cannot be reached, or did not answer in time") from None
        return self._rows(bytes(content), len(texts))

    def _rows(self, content: bytes, wanted: int) -> list[Any]:
        import json

        try:
            data = json.loads(content)["data"]
            rows = {int(item["index"]): _numbers(item["embedding"]) for item in data}
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
            raise self._failed("its answer is not a list of embeddings") from error
        if sorted(rows) != list(range(wanted)):
            raise self._failed(f"it gave {len(rows)} vectors for {wanted} texts")
        return [rows[place] for place in range(wanted)]

    def _failed(self, why: str) -> EndpointFailed:
        return EndpointFailed(f"no embeddings from {self._model!r} at {self._shown}: {why}")


def open_endpoint(model: str) -> EndpointEmbedder:
    """The embedder of a model at OPENAI_BASE_URL, or OpenAI. Raises SkillweaveError without a model or httpx."""
    if not model:
        raise SkillweaveError("say which model: openai:MODEL, such as openai:text-embedding-3-small")
    if find_spec("httpx") is None:
        needed = "the package httpx; pip install 'skillweave[embeddings]'"
        raise SkillweaveError(f"the embedder 'openai:{model[:60]}' needs {needed}")
    return EndpointEmbedder(model, base_url=os.environ.get(BASE_URL) or OPENAI, key=os.environ.get(KEY) or None)


def _numbers(embedding: object) -> Any:  # noqa: ANN401 - an array; numpy is imported on first use
    import numpy as np

    if isinstance(embedding, str):  # some servers answer in base64 whatever was asked for
        row = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
    else:
        row = np.asarray(embedding, dtype=np.float32)
    if row.ndim != 1 or not len(row) or not np.isfinite(row).all():
        raise ValueError("no vector")
    return row
