"""A rule on arguments is judged on those that the tool has, in every framework, whatever the model adds to them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillweave import Placement, Settings
from skillweave_testing.hosts import HostedAgent, Says, Script, tool_call
from skillweave_testing.hosts.play import Workshop, plain_weaver_in
from tests.adapters.hosts.agent_framework_agent import FrameworkAgent
from tests.adapters.hosts.langchain_agent import LangChainAgent
from tests.adapters.hosts.langgraph_agent import LangGraphAgent
from tests.adapters.hosts.openai_agents_agent import OpenAiAgent
from tests.adapters.hosts.pydantic_ai_agent import PydanticAgent

CAREFUL: dict[str, Any] = {
    "id": "careful",
    "description": "How to search the ledger.",
    "triggers": ["ledger"],
    "text": {"instructions": "Leave what is secret alone."},
    "tools": {"forbidden": ["search(secret:*)"]},
}


def langchain(*given: Any) -> HostedAgent:
    return LangChainAgent(*given, Placement.HISTORY)


HOSTS: dict[str, Callable[..., HostedAgent]] = {
    "langchain": langchain,
    "langgraph": LangGraphAgent,
    "openai_agents": lambda *given: OpenAiAgent(*given, Placement.HISTORY),
    "agent_framework": FrameworkAgent,
    "pydantic_ai": lambda *given: PydanticAgent(*given, Placement.HISTORY),
}


@pytest.mark.parametrize("made", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize(
    ("arguments", "runs"), [({"text": "Brandt"}, True), ({"text": "secret", "command": "ls"}, False)]
)
async def test_an_argument_that_the_tool_does_not_have_opens_no_rule(
    made: Callable[..., HostedAgent], arguments: dict[str, str], runs: bool, tmp_path: Path
) -> None:
    workshop = Workshop()
    script = Script(Says(asks=(tool_call("search", **arguments),)), "Done.")
    weaver = plain_weaver_in(tmp_path, [CAREFUL], Settings())
    await made(weaver, script, workshop, tmp_path).say("Search the ledger.")
    assert workshop.ran == (["search(Brandt)"] if runs else [])
