"""Small graphs for the tests of the checkup, and what is found in them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from skillweave.graph import (
    ANY,
    By,
    Declared,
    Entry,
    FieldTest,
    GraphSkill,
    Guard,
    Keywords,
    MoveContext,
    Op,
    Problem,
    Route,
    SkillGraph,
)
from skillweave.graph.checkup import checkup
from skillweave.graph.checkup.terms import Terms, bounds_of, parts_of_route, terms_of
from skillweave.graph.compiled import wired_ids
from skillweave.graph.guards import Scales
from tests.graph import strategies as some

RISK: Scales = {"risk": ("low", "medium", "high", "critical")}


def graph(*parts: Entry | Route, skills: Sequence[GraphSkill | str] | None = None, **rest: Any) -> Declared:
    """A graph of these entries and routes; its skills are those that they name, where no others are given."""
    declared = Declared(
        entries=tuple(part for part in parts if isinstance(part, Entry)),
        routes=tuple(part for part in parts if isinstance(part, Route)),
        **rest,
    )
    listed = dict.fromkeys(wired_ids(declared)) if skills is None else skills
    made = tuple(GraphSkill(one) if isinstance(one, str) else one for one in listed)
    return Declared(**{**{name: getattr(declared, name) for name in Declared.__slots__}, "skills": made})


def guard(**fields: Mapping[str, Any]) -> Guard:
    """The guard of a data form: `guard(risk={"gte": "high"})`."""
    return Guard(
        tuple(
            FieldTest(name, Op(op), tuple(value) if isinstance(value, list) else value)
            for name, tests in fields.items()
            for op, value in tests.items()
        )
    )


def words(*found: str) -> Keywords:
    return Keywords(found)


def codes(declared: Declared, known_tools: Collection[str] | None = None) -> list[str]:
    """The codes of all problems, in their order."""
    return [problem.code for problem in checkup(declared, known_tools).problems]


def problems(declared: Declared, code: str, known_tools: Collection[str] | None = None) -> list[Problem]:
    """The problems of one code."""
    return [problem for problem in checkup(declared, known_tools).problems if problem.code == code]


def only(declared: Declared, code: str, known_tools: Collection[str] | None = None) -> Problem:
    """The one problem of that code."""
    (problem,) = problems(declared, code, known_tools)
    return problem


def terms_of_route(route: Route, scales: Scales) -> Terms:
    """What a route asks for."""
    return terms_of(parts_of_route(route), scales, bounds_of(route))


def fires(route: Route, moment: MoveContext, scales: Scales) -> bool:
    """Whether the route, alone in its graph, leads on at that moment."""
    at = "elsewhere" if route.from_ == ANY else route.from_
    declared = graph(Entry(at), route, scales=scales)
    moving = SkillGraph.of(declared, check="off")
    return moving.explain(replace(moment, current=at, picks=())).by is By.ROUTE


valid_results = st.builds(lambda result, status: replace(result, status=status), some.results, some.statuses)
valid_moments = st.builds(
    lambda moment, results: replace(moment, tools=tuple(results), picks=()),
    some.moments_of(some.plain_ids),
    st.lists(valid_results, max_size=2),
)
"""Moments as hosts may bring them about: every status is one of the seven."""


def id_of(value: object) -> str:
    """The value as a test's id: without addresses in memory, which differ from one worker to another."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))
