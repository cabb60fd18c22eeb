"""Agents as sources describe them: which skills each has, who must approve what, and its budgets."""

from typing import Annotated

from fastapi import Path

from skillweave.access import Scope
from skillweave.api.pages import page
from skillweave.api.skills import AgentPage
from skillweave.errors import AgentNotFound
from skillweave.registry import Agent
from skillweave_server.calls import Call
from skillweave_server.endpoints import After, Endpoints, Limit

AGENTS = Endpoints("agents")

AgentId = Annotated[str, Path(min_length=1, max_length=100, description="The id of the agent.")]


@AGENTS.at("GET", "/agents", scope=Scope.READ, answers=AgentPage)
async def list_agents(call: Call, after: After = "", limit: Limit = 20) -> AgentPage:
    """The agents by their ids."""
    found = (await call.weaver().snapshot()).agents
    behind = [found[agent_id] for agent_id in sorted(found) if agent_id > after]
    return page(AgentPage, behind, limit, lambda agent: agent.id)


@AGENTS.at("GET", "/agents/{agent}", scope=Scope.READ, answers=Agent, problems=(404,))
async def get_agent(call: Call, agent: AgentId) -> Agent:
    """The agent as it is described now."""
    found = (await call.weaver().snapshot()).agents
    if agent not in found:
        raise AgentNotFound(agent, found)
    return found[agent]
