"""LangChain's own selector of tools beside skills: its model is asked about what the person said."""

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import LLMToolSelectorMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda

from examples.scripted.langchain import ScriptedChatModel
from skillweave import Placement
from skillweave.adapters.langchain import SkillMiddleware
from skillweave_testing.hosts import Script
from skillweave_testing.hosts.play import INVOICES, Workshop, weaver_in
from tests.adapters.hosts.langchain_agent import as_langchain


class Selecting(ScriptedChatModel):
    """Selects `search`, and keeps what it was asked about."""

    asked: list[str]

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[Any, Any]:
        def selected(messages: list[Any]) -> dict[str, list[str]]:
            self.asked.append(messages[-1].text)
            return {"tools": ["search"]}

        return RunnableLambda(selected)


@pytest.mark.parametrize("options", [{"placement": Placement.CALL}, {"speaker": "system"}], ids=["call", "system"])
def test_the_selector_is_asked_about_the_persons_request(tmp_path: Path, options: dict[str, Any]) -> None:
    script, selecting = Script(), Selecting(script=Script(), asked=[])
    middleware = [LLMToolSelectorMiddleware(model=selecting), SkillMiddleware(weaver_in(tmp_path), **options)]
    tools = [as_langchain(one) for one in Workshop().tools]
    agent: Any = create_agent(ScriptedChatModel(script=script), tools, middleware=middleware)
    agent.invoke({"messages": [HumanMessage("Is this invoice right?")], "conversation_id": "c"})
    assert selecting.asked == ["Is this invoice right?"]
    assert (script.last.system + "".join(script.last.messages)).count(INVOICES) == 1
    assert script.last.tools == ("search",)
