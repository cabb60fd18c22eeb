"""Agents as rows of their table, and back."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy import Text, cast, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave import Diagnostic
from skillweave.errors import AgentNotFound, InvalidData, InvalidSkill, InvalidValue
from skillweave.registry import Agent, Change
from skillweave_stores.sql.documents import storable
from skillweave_stores.sql.rows import RowReader, damaged, parsed
from skillweave_stores.sql.tables import AgentRow
from skillweave_stores.sql.writing import count_change, moment_of, upsert

_TEXTS = ("name", "agent_type", "model")
_DOCUMENTS = ("skills", "checkpoints", "budgets")


async def read_agents(connection: AsyncConnection, tenant: str) -> list[Mapping[str, Any]]:
    """The columns of all agents, sorted by id, their documents as text."""
    table = AgentRow.__table__.c
    columns = (
        table.id,
        *(table[name] for name in _TEXTS),
        *(cast(table[name], Text).label(name) for name in _DOCUMENTS),
    )
    rows = await connection.execute(select(*columns).where(table.tenant == tenant).order_by(table.id))
    return [dict(row) for row in rows.mappings()]


def agents_of(
    rows: Sequence[Mapping[str, Any]], reader: RowReader
) -> tuple[Mapping[str, Agent], tuple[Diagnostic, ...]]:
    """The agents that the rows hold, by id, and a finding for each row that holds none."""
    agents: dict[str, Agent] = {}
    findings: list[Diagnostic] = []
    for row in rows:
        try:
            data = {**row, **{name: parsed(name, row[name]) for name in _DOCUMENTS}}
            agents[row["id"]] = Agent.from_dict(data)
        except (InvalidData, InvalidSkill, InvalidValue) as error:
            findings.append(damaged(reader.path("agents", row["id"]), str(error)))
    return MappingProxyType(agents), tuple(findings)


def checked(agent: Agent) -> dict[str, Any]:
    """The columns of an agent. Raises InvalidValue for what a database does not keep."""
    try:
        columns: dict[str, Any] = storable(agent.to_dict())
    except (InvalidSkill, InvalidData) as error:
        raise InvalidValue(f"agent {agent.id!r} cannot be stored: {error}") from None
    return columns


async def put_agents(
    connection: AsyncConnection, reader: RowReader, columns: Sequence[Mapping[str, Any]]
) -> tuple[Change, ...]:
    """Store these agents, of two with one id the later; the tenant has to be locked."""
    rows = await read_agents(connection, reader.tenant)
    there = dict(agents_of(rows, reader)[0])
    ids = {row["id"] for row in rows}
    changes: list[Change] = []
    changed: dict[str, Mapping[str, Any]] = {}
    for one in columns:
        agent = Agent.from_dict(one)
        if there.get(agent.id) == agent:
            changes.append(Change.UNCHANGED)
            continue
        changes.append(Change.UPDATED if agent.id in ids else Change.INSERTED)
        there[agent.id], changed[agent.id] = agent, one
        ids.add(agent.id)
    if changed:
        moment = await moment_of(connection)
        await upsert(connection, AgentRow, reader.tenant, list(changed.values()), moment)
        await count_change(connection, reader.tenant, moment)
    return tuple(changes)


async def remove_agent(connection: AsyncConnection, reader: RowReader, agent_id: str) -> Agent:
    """Take an agent away; the tenant has to be locked. Raises AgentNotFound."""
    there, _ = agents_of(await read_agents(connection, reader.tenant), reader)
    if agent_id not in there:
        raise AgentNotFound(agent_id, there)
    await connection.execute(delete(AgentRow).where(AgentRow.tenant == reader.tenant, AgentRow.id == agent_id))
    await count_change(connection, reader.tenant, await moment_of(connection))
    return there[agent_id]
