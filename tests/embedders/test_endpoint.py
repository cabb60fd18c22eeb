import asyncio
import base64
import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from skillweave.embedders import embedder_of
from skillweave.embedders import endpoint as endpoint_module
from skillweave.embedders.endpoint import AT_ONCE, EndpointEmbedder, EndpointFailed
from skillweave.errors import SkillweaveError
from skillweave.text.embedding import Embedder
from skillweave_testing.embedders import EmbedderContract

pytest.importorskip("httpx")
KEY = "key-that-nobody-may-see"


def vector_of(text: str) -> list[float]:
    """Counts of letters: texts of the same words are alike."""
    return [float(text.lower().count(letter)) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"]


@dataclass
class Recording:
    """A server that writes down what it is asked, and answers as it is told."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    status: int = 200
    answer: bytes | None = None
    in_base64: bool = False

    def body(self, texts: list[str]) -> bytes:
        if self.answer is not None:
            return self.answer
        rows: list[Any] = [vector_of(text) for text in texts]
        if self.in_base64:
            rows = [base64.b64encode(np.array(row, dtype="<f4").tobytes()).decode() for row in rows]
        data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
        return json.dumps({"data": data[::-1]}).encode()


@pytest.fixture
def server() -> Iterator[Recording]:
    recording = Recording()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            recording.asked.append({**asked, "path": self.path})
            recording.keys.append(self.headers.get("Authorization"))
            content = recording.body(asked["input"])
            self.send_response(recording.status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)  # it ends that soon
    thread.start()
    recording.url = f"http://127.0.0.1:{listening.server_port}/v1"
    yield recording
    listening.shutdown()
    listening.server_close()


def embed(server: Recording, *texts: str) -> Any:
    return asyncio.run(EndpointEmbedder("small", base_url=server.url, key=KEY).embed(texts))


class TestEndpointEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, server: Recording) -> Embedder:
        return EndpointEmbedder("small", base_url=server.url, key=KEY)


def test_one_request_names_the_model_and_holds_all_texts(server: Recording) -> None:
    rows = embed(server, "one", "two")
    (asked,) = server.asked
    assert (asked["path"], asked["model"], asked["input"]) == ("/v1/embeddings", "small", ["one", "two"])
    assert server.keys == [f"Bearer {KEY}"]
    assert float(rows[0] @ np.array(vector_of("one"))) > float(rows[1] @ np.array(vector_of("one")))


def test_many_texts_go_in_several_requests(server: Recording) -> None:
    assert len(embed(server, *(f"text {number}" for number in range(AT_ONCE + 1)))) == AT_ONCE + 1
    assert [len(asked["input"]) for asked in server.asked] == [AT_ONCE, 1]


def test_vectors_in_base64_are_read_too(server: Recording) -> None:
    plain = embed(server, "one")
    server.in_base64 = True
    assert np.allclose(embed(server, "one"), plain, atol=1e-6)


def test_an_empty_text_is_not_sent(server: Recording) -> None:
    rows = embed(server, "", "one", "  ")
    assert server.asked[0]["input"] == ["one"]
    assert [bool(row.any()) for row in rows] == [False, True, False]


@pytest.mark.parametrize(
    "answer",
    [b"no json", b"[]", b'{"data": [{"index": 0, "embedding": []}]}', b'{"data": [{"index": 0}]}', b'{"data": []}'],
)
def test_another_answer_is_an_error_that_shows_neither_text_nor_key(server: Recording, answer: bytes) -> None:
    server.answer = answer
    with pytest.raises(EndpointFailed, match="small") as caught:
        embed(server, "a secret text")
    assert KEY not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_refusal_is_told_with_its_status(server: Recording) -> None:
    server.status = 401
    with pytest.raises(EndpointFailed, match="401"):
        embed(server, "one")


def test_an_endless_answer_is_not_read_to_its_end(server: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "MOST_BYTES", 100)
    server.answer = b"x" * 1_000
    with pytest.raises(EndpointFailed, match="longer than"):
        embed(server, "one")


def test_nobody_listening_is_an_error_of_ours() -> None:
    with pytest.raises(EndpointFailed, match="cannot be reached"):
        asyncio.run(EndpointEmbedder("small", base_url="http://127.0.0.1:9/v1", seconds=2).embed(["one"]))


def test_endpoint_and_key_come_from_the_environment(server: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder = embedder_of("openai:small")
    asyncio.run(embedder.embed(["one"]))
    assert server.keys == [f"Bearer {KEY}"]
    assert embedder.id == f"openai:small@{server.url}"


def test_the_key_is_in_no_log_and_no_representation(server: Recording, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    embed(server, "one")
    assert KEY not in caplog.text
    assert KEY not in repr(EndpointEmbedder("small", base_url=server.url, key=KEY))


def test_without_a_model_it_says_what_to_write() -> None:
    with pytest.raises(SkillweaveError, match="openai:MODEL"):
        embedder_of("openai")


def test_user_and_password_of_an_address_stand_in_no_message_and_no_id() -> None:
    embedder = EndpointEmbedder("small", base_url="http://anna:s3cretpw@127.0.0.1:9/v1?key=hidden")
    with pytest.raises(EndpointFailed) as failure:
        asyncio.run(embedder.embed(["one"]))
    told = f"{failure.value!r} {failure.value.__cause__!r} {embedder!r} {embedder.id}"
    assert "s3cretpw" not in told
    assert "hidden" not in told
    assert embedder.id != EndpointEmbedder("small", base_url="http://127.0.0.1:9/v1").id


def test_a_text_without_a_word_has_zeros_of_the_model_s_dimension(server: Recording) -> None:
    assert embed(server, " ").shape == embed(server, "one").shape
