"""Models behind an HTTP endpoint, in both wire formats, at a real server."""

import time
from collections.abc import Iterator

import pytest
from tests.skillweave_eval.live.judging_model import Model

from skillweave.errors import SkillweaveError
from skillweave_eval.live import models
from skillweave_eval.live.models import ModelFailed, Usage
from tests.recording.server import RecordingServer


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with RecordingServer(Model()) as server:
        yield server


SOON = {"retry-after-ms": "1"}


def model(server: RecordingServer, key: str = "sk-verysecretkey", timeout: float = 60) -> models.Model:
    return models.Model("local:m1", base_url=server.openai, environment={"LOCAL_API_KEY": key}, timeout=timeout)


async def asked(of: models.Model, system: str = "Be kind.", text: str = "Tea?") -> tuple[str, Usage]:
    async with of:
        reply = await of.ask(system, text)
    return reply.text, reply.usage


async def test_the_openai_format_is_spoken(server: RecordingServer) -> None:
    assert await asked(model(server)) == ("With care.", Usage(1, 100, 10, 40))
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-verysecretkey"
    assert request.data == {
        "model": "m1",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Tea?"}],
        "max_tokens": 4096,
    }


async def test_without_a_system_text_none_is_sent(server: RecordingServer) -> None:
    await asked(model(server), system="")
    assert server.script.last.system == ""


async def test_a_server_without_a_key_of_its_own_gets_no_other_from_the_environment(
    server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "sk-verysecretkey")
    await asked(model(server, key=""))
    assert "secret" not in str(server.requests[0].headers)


async def test_an_answer_that_takes_too_long_is_not_asked_for_twice(server: RecordingServer) -> None:
    server.script.answer = lambda _: time.sleep(2.0) or "Late."  # type: ignore[attr-defined,func-returns-value]
    with pytest.raises(ModelFailed, match="nothing came within"):
        await asked(model(server, timeout=1.0))
    assert len(server.requests) == 1


async def test_nothing_follows_to_where_a_server_points(server: RecordingServer) -> None:
    server.failures.append((302, {"location": f"{server.openai}/elsewhere"}))
    with pytest.raises(ModelFailed, match="HTTP 302"):
        await asked(model(server))
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
async def test_what_may_succeed_later_is_asked_again(server: RecordingServer, status: int) -> None:
    server.failures += [(status, SOON), (status, SOON)]
    assert (await asked(model(server)))[0] == "With care."
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_what_cannot_succeed_is_not_asked_again(server: RecordingServer, status: int) -> None:
    server.failures.append((status, {}))
    with pytest.raises(ModelFailed, match=f"HTTP {status}: not now"):
        await asked(model(server))
    assert len(server.requests) == 1


async def test_after_some_attempts_it_ends(server: RecordingServer) -> None:
    server.failures += [(503, SOON)] * 20
    with pytest.raises(ModelFailed, match="HTTP 503"):
        await asked(model(server))
    assert len(server.requests) == 5


async def test_no_key_stands_in_an_error_nor_in_the_endpoint(server: RecordingServer) -> None:
    server.failures.append((401, {}))
    with pytest.raises(ModelFailed) as raised:
        await asked(model(server))
    assert "secret" not in str(raised.value) + repr(model(server))
    assert "check its key" in str(raised.value)


async def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "RETRIES", 0)
    with pytest.raises(ModelFailed, match=r"local:m1 gave no answer: ConnectError at http://127\.0\.0\.1:9"):
        await asked(models.Model("local:m1", base_url="http://127.0.0.1:9"))


async def test_an_answer_of_another_form_is_told(server: RecordingServer) -> None:
    server.answer = {"output": "tea"}
    with pytest.raises(ModelFailed, match="another form than OpenAI's"):
        await asked(model(server))


def test_known_providers_have_an_address_and_a_variable_for_the_key() -> None:
    environment = {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b"}
    openai = models.Model("openai:gpt-5", environment=environment)
    anthropic = models.Model("Anthropic: claude ", environment=environment)
    assert (openai.url, openai._key) == ("https://api.openai.com/v1", "a")
    assert (anthropic.named, anthropic.url, anthropic._key) == ("anthropic:claude", "https://api.anthropic.com/v1", "b")


def test_an_address_comes_from_the_option_before_the_variable() -> None:
    environment = {"OPENAI_API_KEY": "a", "OPENAI_BASE_URL": "http://here/v1/"}
    assert models.Model("openai:m", environment=environment).url == "http://here/v1"
    assert models.Model("openai:m", base_url="http://there", environment=environment).url == "http://there"


def test_a_model_on_this_machine_needs_no_key() -> None:
    assert models.Model("ollama:llama3.2", environment={})._key == ""
    assert models.Model("openai:m", base_url="http://localhost:1", environment={})._key == ""


def test_another_provider_takes_its_own_variables() -> None:
    environment = {"MY_HOST_BASE_URL": "http://here", "MY_HOST_API_KEY": "k"}
    found = models.Model("my-host:m", environment=environment)
    assert (found.url, found._key) == ("http://here", "k")


@pytest.mark.parametrize(
    ("named", "told"),
    [("gpt-5", "names no model"), (":m", "names no model"), ("openai:m", "set OPENAI_API_KEY"), ("x:m", "X_BASE_URL")],
)
def test_a_model_that_cannot_be_asked_says_what_is_missing(named: str, told: str) -> None:
    with pytest.raises(SkillweaveError, match=told):
        models.Model(named, environment={})
