"""The skill graph that a source brings, and what the checkup finds when the loaded skills are its skills."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from skillweave.diagnostics import Diagnostic, Severity
from skillweave.errors import InvalidGraph, nearest_names
from skillweave.formats.codes import GRAPH
from skillweave.graph.checked import Checkup, Level, Problem
from skillweave.graph.graph import Check, SkillGraph
from skillweave.registry import Snapshot

MOST_GUESSES = 5
"""For so many unknown skills the nearest known ones are looked up, which is slow for long names."""
_SEVERITIES = {Level.ERROR: Severity.ERROR, Level.WARNING: Severity.WARNING}


def graph_in(snapshot: Snapshot) -> SkillGraph | None:
    """The graph that a source brings, not checked; None if there is none or `graph_findings` calls it broken."""
    try:
        return None if snapshot.graph is None else _read(snapshot.graph)
    except InvalidGraph:
        return None


def graph_findings(snapshot: Snapshot, graph: SkillGraph | None = None) -> tuple[Diagnostic, ...]:
    """What the checkup finds with the loaded skills; `graph` is the host's own, in place of the source's."""
    return tuple(_findings(snapshot, graph))


def _findings(snapshot: Snapshot, given: SkillGraph | None) -> Iterator[Diagnostic]:
    location = snapshot.graph_location if given is None else None
    try:
        graph = _read(snapshot.graph) if given is None and snapshot.graph is not None else given
    except InvalidGraph as error:
        fix = "correct it; until then the skills are used without the graph"
        yield Diagnostic(GRAPH.name, GRAPH.severity, str(error), fix, location=location)
        return
    if graph is None:
        return
    fixes = _Fixes(snapshot)
    for problem in checkup_among(graph, snapshot).problems:
        message, severity = problem.message.removesuffix("."), _SEVERITIES[problem.level]
        yield Diagnostic(problem.code, severity, message, fixes.of(problem), problem.skill, location)
    for skill_id in graph.compiled.wired:
        skill = snapshot.skills.get(skill_id)
        if skill is not None and not skill.status.selectable:
            yield Diagnostic(
                "inactive-skill",
                Severity.WARNING,
                f"the skill graph leads to {skill_id!r}, which is {skill.status.value}, so that nothing is given there",
                "make the skill active, or take it out of the graph",
                skill_id,
                location,
            )


def _read(data: Mapping[str, object]) -> SkillGraph:
    return SkillGraph.from_dict(data, check=Check.OFF)


def checkup_among(graph: SkillGraph, snapshot: Snapshot, known_tools: Collection[str] | None = None) -> Checkup:
    """The report with the loaded skills as the only known ones, whatever skills the graph lists."""
    from skillweave.graph.checkup import checkup  # not needed to move

    declared = graph.with_skills(snapshot.skills).declared
    loaded = tuple(skill for skill in declared.skills if skill.id in snapshot)
    return checkup(replace(declared, skills=loaded, listed=True), known_tools)


class _Fixes:
    """The remedy of each problem; for a skill that is not loaded, the nearest of those that are."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[str, str] = {}

    def of(self, problem: Problem) -> str:
        if problem.code != "unknown-skill" or problem.skill is None:
            return problem.fix
        if problem.skill not in self._known:
            near = nearest_names(problem.skill, self._snapshot) if len(self._known) < MOST_GUESSES else ()
            guess = f"did you mean {near[0]!r}? else " if near else ""
            self._known[problem.skill] = f"{guess}load a skill of that id, or take it out of the graph"
        return self._known[problem.skill]
