"""All that `skillweave check` and the service's check say about a set of skills."""

from skillweave.checks.findings import relation_findings, text_findings
from skillweave.checks.lines import Lines, with_lines
from skillweave.contracts.check import check_event_types
from skillweave.contracts.output import check_contracts
from skillweave.diagnostics import Diagnostic
from skillweave.graph.findings import graph_findings
from skillweave.graph.graph import SkillGraph
from skillweave.knowledge.findings import context_findings, entity_rules_in
from skillweave.registry import Snapshot
from skillweave.select.index import compile_triggers
from skillweave.select.task import check_task_rules
from skillweave.text.search import MatchMode


def check_skills(snapshot: Snapshot, graph: SkillGraph | None = None) -> tuple[Diagnostic, ...]:
    """Every finding about the skills and the graph, the host's or a pack's; files are read again for lines."""
    _, about_triggers = compile_triggers(snapshot.active(), MatchMode.WORD)
    about_rules = check_task_rules(snapshot.task_rules, snapshot)
    about_events = check_event_types(snapshot)
    about_contracts = check_contracts(snapshot.values())
    lines = Lines()
    about_skills = with_lines((*about_triggers, *about_contracts), snapshot, lines)
    about_texts = (
        found
        for skill in snapshot.values()
        for found in (*text_findings(skill, lines), *relation_findings(skill, snapshot, lines))
    )
    about_parts = (*about_skills, *about_texts, *about_rules, *about_events)
    about_context = context_findings(snapshot, entity_rules_in(snapshot), entities=False)
    return (*snapshot.diagnostics, *about_parts, *graph_findings(snapshot, graph), *about_context)
