"""The script that answers in a provider's place talks to the providers' own clients, and says what it was sent."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anthropic import Anthropic
from openai import OpenAI

from docs.tools.provider import scripted_provider
from docs.tools.run import run_page

BLOCK = "=== Skill Activated: Invoice Checking ===\nCheck it."
TOOL = {"type": "function", "function": {"name": "search_ledger", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with scripted_provider() as found:
        yield found


def test_a_client_of_openai_is_told_which_skills_it_sent(address: str) -> None:
    client = OpenAI(base_url=f"{address}/v1", api_key="none")
    messages = [{"role": "user", "content": "Hi"}, {"role": "system", "content": BLOCK}]
    reply = client.chat.completions.create(model="m", messages=messages)  # type: ignore[arg-type]
    assert reply.choices[0].message.content == "I have messages: 2, skills: Invoice Checking"


def test_a_client_of_anthropic_is_told_which_skills_it_sent(address: str) -> None:
    client = Anthropic(base_url=address, api_key="none")
    parts = [{"type": "text", "text": "Hi"}, {"type": "text", "text": BLOCK}]
    reply = client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": parts}])  # type: ignore[typeddict-item]
    assert reply.content[0].type == "text"
    assert reply.content[0].text == "I have messages: 1, skills: Invoice Checking"


def test_the_script_calls_its_tool_once_where_that_is_offered(address: str) -> None:
    client = OpenAI(base_url=f"{address}/v1", api_key="none")
    messages = [{"role": "user", "content": "Hi"}]
    first = client.chat.completions.create(model="m", messages=messages, tools=[TOOL])  # type: ignore[call-overload]
    result = {"role": "tool", "tool_call_id": "call-1", "content": "none"}
    called = [*messages, first.choices[0].message.model_dump(exclude_none=True), result]
    second = client.chat.completions.create(model="m", messages=called, tools=[TOOL])  # type: ignore[call-overload]
    assert [call.function.name for call in first.choices[0].message.tool_calls] == ["search_ledger"]
    assert second.choices[0].message.content == "I have messages: 3, skills: none, tools: search_ledger"


@pytest.mark.parametrize("made", ["OpenAI()", 'OpenAI(base_url="http://localhost:8080/v1", api_key="none")'])
def test_a_client_in_a_page_reaches_the_script(tmp_path: Path, made: str) -> None:
    page = tmp_path / "page.md"
    call = 'client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])'
    code = f"from openai import OpenAI\nclient = {made}\nprint({call}.choices[0].message.content)\n"
    page.write_text(f'```python\n{code}```\n\n```text title="Output"\nI have messages: 1, skills: none\n```\n')
    assert run_page(page) == []
