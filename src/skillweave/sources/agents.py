"""`agents:` of a pack: who has which skills, who must approve what, and what a run may cost (spec 1.2 and 1.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from skillweave.diagnostics import Diagnostic
from skillweave.formats import codes
from skillweave.formats.fields import Fields, Findings
from skillweave.formats.native import read_checkpoints
from skillweave.formats.task_rules import read_skill_ids
from skillweave.frontmatter.yaml_text import Keys
from skillweave.registry.agents import Agent
from skillweave.skill import Checkpoint, is_skill_id

KEY = "agents"
MOST_AGENTS = 1000
MOST_CHECKPOINTS = 100
"""Of one agent; each stands in the text of each of its skills."""
CHECKPOINT_KEYS = ("checkpoints", "hitl_checkpoints")


@dataclass(frozen=True, slots=True)
class AgentsRead:
    """The agents that can be used, by id, and what is wrong with the others."""

    agents: Mapping[str, Agent]
    diagnostics: tuple[Diagnostic, ...] = ()


def read_agents(data: Mapping[str, object], lines: Mapping[Keys, int], *, path: str) -> AgentsRead:
    """The agents in a pack's data. One with a mistake is left out as a whole, as is the second of two with one id."""
    findings = Findings(path, lines)
    entries = Fields(data, findings).entries(KEY) or []
    if len(entries) > MOST_AGENTS:
        told = f"`{KEY}` has {len(entries):,} agents; those after the first {MOST_AGENTS:,} are left out"
        findings.report(codes.AGENT, (KEY, MOST_AGENTS), told, "make two packs, or keep agents in a database")
    agents: dict[str, Agent] = {}
    found = findings.found
    for index, item in enumerate(entries[:MOST_AGENTS]):
        own = Findings(path, lines)
        entry = Fields(data, own).entry(item, KEY, index)
        agent = None if entry is None else _agent(entry)
        if agent is not None and agent.id in agents:
            told = f"agent {agent.id!r} is described twice; the first description counts"
            own.report(codes.AGENT, (KEY, index), told, "give one of the two another id, or remove it")
        elif agent is not None:
            agents[agent.id] = agent
        found += own.costing(codes.AGENT, "the agent")
    return AgentsRead(MappingProxyType(agents), tuple(found))


def _agent(entry: Fields) -> Agent | None:
    agent_id = entry.text("id") or ""
    if not is_skill_id(agent_id):
        what = f"is {agent_id[:60]!r}, which can be no agent's id" if agent_id else "is missing or empty"
        entry.report(codes.AGENT, "id", what, "write 1 to 100 ASCII letters, digits, `_` or `-`")
    texts = {key: entry.text(key) or "" for key in ("name", "agent_type", "model")}
    if entry.absent("skills"):
        fix = "list the ids of its skills; an agent without any has `skills: []`"
        entry.report(codes.AGENT, "skills", "is missing", fix)
    skills = read_skill_ids(entry, "skills", codes.AGENT)
    checkpoints, budgets = _checkpoints(entry), _budgets(entry)
    entry.report_unknown()
    if entry.findings.has_errors():
        return None
    return Agent(agent_id, skills=skills, checkpoints=checkpoints, budgets=budgets, **texts)


def _checkpoints(entry: Fields) -> tuple[Checkpoint, ...]:
    found = tuple(one for key in CHECKPOINT_KEYS for one in read_checkpoints(entry, key) or ())
    if len(found) > MOST_CHECKPOINTS:
        told = f"has {len(found):,} checkpoints, more than {MOST_CHECKPOINTS}"
        entry.report(codes.AGENT, "checkpoints", told, "ask at fewer points")
    return found


def _budgets(entry: Fields) -> Mapping[str, float]:
    inner = entry.mapping("budgets")
    if inner is None:
        return {}
    budgets: dict[str, float] = {}
    for name, value in (entry.typed_data("budgets") or {}).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            inner.report(codes.AGENT, name, "is no number from 0 on", "write a number, as `tokens_per_execution: 4000`")
        else:
            budgets[name] = value
    return budgets
