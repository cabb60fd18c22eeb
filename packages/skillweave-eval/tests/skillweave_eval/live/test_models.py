"""Models behind an HTTP endpoint, in both wire formats, at a real server."""

from collections.abc import Iterator

import pytest
from tests.skillweave_eval.live.recording_server import Model, serving

from skillweave.errors import SkillweaveError
from skillweave_eval import Caller, Endpoint, ModelFailed, Usage, Wire, endpoint_of


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def url(model: Model) -> Iterator[str]:
    with serving(model) as address:
        yield address


def endpoint(url: str, wire: Wire = Wire.OPENAI, key: str | None = "sk-verysecretkey") -> Endpoint:
    return Endpoint("local", "m1", wire, url, key)


async def asked(of: Endpoint, system: str = "Be kind.", text: str = "Tea?") -> tuple[str, Usage]:
    async with Caller(longest_wait=0.01) as caller:
        reply = await caller.ask(of, system, text)
    return reply.text, reply.usage


async def test_the_openai_format_is_spoken(model: Model, url: str) -> None:
    assert await asked(endpoint(f"{url}/v1")) == ("With care.", Usage(1, 100, 10, 40))
    (request,) = model.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer sk-verysecretkey"
    assert request.body == {
        "model": "m1",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Tea?"}],
        "max_tokens": 4096,
    }


async def test_the_anthropic_format_is_spoken(model: Model, url: str) -> None:
    assert await asked(endpoint(url, Wire.ANTHROPIC)) == ("With care.", Usage(1, 100, 10, 40))
    (request,) = model.requests
    assert request.path == "/v1/messages"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == ("sk-verysecretkey", "2023-06-01")
    assert request.body == {
        "model": "m1",
        "max_tokens": 4096,
        "system": "Be kind.",
        "messages": [{"role": "user", "content": "Tea?"}],
    }


@pytest.mark.parametrize("wire", list(Wire))
async def test_without_a_system_text_none_is_sent(model: Model, url: str, wire: Wire) -> None:
    await asked(endpoint(url, wire), system="")
    assert model.requests[0].system == ""


async def test_without_a_key_no_header_carries_one(model: Model, url: str) -> None:
    await asked(endpoint(url, key=None))
    assert not {"authorization", "x-api-key"} & model.requests[0].headers.keys()


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
async def test_what_may_succeed_later_is_asked_again(model: Model, url: str, status: int) -> None:
    model.failures += [(status, {"retry-after": "0"}), (status, {})]
    assert (await asked(endpoint(url)))[0] == "With care."
    assert len(model.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_what_cannot_succeed_is_not_asked_again(model: Model, url: str, status: int) -> None:
    model.failures.append((status, {}))
    with pytest.raises(ModelFailed, match=f"HTTP {status}: not now"):
        await asked(endpoint(url))
    assert len(model.requests) == 1


async def test_after_some_attempts_it_ends(model: Model, url: str) -> None:
    model.failures += [(503, {})] * 20
    with pytest.raises(ModelFailed, match="HTTP 503"):
        await asked(endpoint(url))
    assert len(model.requests) == 5


async def test_no_key_stands_in_an_error_nor_in_the_endpoint(model: Model, url: str) -> None:
    model.failures.append((401, {}))
    with pytest.raises(ModelFailed) as raised:
        await asked(endpoint(url))
    assert "secret" not in str(raised.value) + repr(endpoint(url))
    assert "check its key" in str(raised.value)


async def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(ModelFailed, match=r"local:m1 gave no answer: ConnectError at http://127\.0\.0\.1:9"):
        await asked(endpoint("http://127.0.0.1:9"))


async def test_an_answer_of_another_form_is_told(model: Model, url: str) -> None:
    model.body = {"output": "tea"}
    for wire in Wire:
        with pytest.raises(ModelFailed, match=f"another form than the {wire.value} one"):
            await asked(endpoint(url, wire))


def test_known_providers_have_an_address_and_a_variable_for_the_key() -> None:
    environment = {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b"}
    openai = endpoint_of("openai:gpt-5", environment=environment)
    anthropic = endpoint_of("Anthropic: claude ", environment=environment)
    assert (openai.wire, openai.url, openai.key) == (Wire.OPENAI, "https://api.openai.com/v1", "a")
    assert (anthropic.wire, anthropic.model, anthropic.key) == (Wire.ANTHROPIC, "claude", "b")


def test_an_address_comes_from_the_option_before_the_variable() -> None:
    environment = {"OPENAI_API_KEY": "a", "OPENAI_BASE_URL": "http://here/v1/"}
    assert endpoint_of("openai:m", environment=environment).url == "http://here/v1"
    assert endpoint_of("openai:m", base_url="http://there", environment=environment).url == "http://there"


def test_a_model_on_this_machine_needs_no_key() -> None:
    assert endpoint_of("ollama:llama3.2", environment={}).key is None
    assert endpoint_of("openai:m", base_url="http://localhost:1", environment={}).key is None


def test_another_provider_takes_its_own_variables() -> None:
    environment = {"MY_HOST_BASE_URL": "http://here", "MY_HOST_API_KEY": "k"}
    found = endpoint_of("my-host:m", wire=Wire.ANTHROPIC, environment=environment)
    assert (found.url, found.key, found.wire) == ("http://here", "k", Wire.ANTHROPIC)


@pytest.mark.parametrize(
    ("named", "told"),
    [("gpt-5", "names no model"), (":m", "names no model"), ("openai:m", "set OPENAI_API_KEY"), ("x:m", "X_BASE_URL")],
)
def test_a_model_that_cannot_be_asked_says_what_is_missing(named: str, told: str) -> None:
    with pytest.raises(SkillweaveError, match=told):
        endpoint_of(named, environment={})
