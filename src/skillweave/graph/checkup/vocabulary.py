"""Whether routes wait for tools and statuses that there are."""

from collections.abc import Collection, Iterator, Sequence

from skillweave.graph.checked import Problem
from skillweave.graph.checkup.codes import problem
from skillweave.graph.checkup.declarations import Declaration
from skillweave.graph.checkup.parts import OnTool, Part
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.terms import Expression
from skillweave.graph.checkup.tools import Names, Toolbox, all_names
from skillweave.graph.checkup.wording import named, opening, way
from skillweave.graph.declared import ANY, STATUSES, Route
from skillweave.graph.guards import FieldTest, Op

_A_SKILL = "a skill"


def check_vocabulary(subject: Subject) -> Iterator[Problem]:
    """unknown-tool and unknown-status of each route in the order of declaration; then statuses in other conditions."""
    toolbox = Toolbox(subject)
    boxes: dict[str, tuple[Names, ...] | None] = {}
    for route, declaration in zip(subject.declared.routes, subject.routes, strict=True):
        if route.from_ not in boxes:
            boxes[route.from_] = toolbox.at(route.from_)
        yield from _tools(subject, route, declaration.parts, boxes[route.from_])
        yield from _statuses(subject, declaration)
    for declaration in (*subject.entries, *subject.decisions):
        yield from _statuses(subject, declaration)


def _tools(subject: Subject, route: Route, parts: Sequence[Part], boxes: Collection[Names] | None) -> Iterator[Problem]:
    if boxes is None:
        return
    whose = _A_SKILL if route.from_ == ANY else named(route.from_)
    wanted: dict[str, None] = {}
    for part in parts:
        if isinstance(part, OnTool):
            expression = Expression(part.regex)
            if not any(names.might_match(expression) for names in boxes):
                wait = f"{opening(way(route))} waits for tools with {named(part.regex.source)} in their name"
                message = f"{wait}, which {_nobody(subject, whose)}."
                fix = f"Correct the expression, or add the tool to those of {whose} or to the known tools."
                yield problem("unknown-tool", message, fix, from_=route.from_, to=route.to)
        elif isinstance(part, FieldTest):
            wanted.update(dict.fromkeys(_tools_in(part)))
    for tool in wanted:
        if not any(tool in names for names in boxes):
            message = f"{opening(way(route))} waits for the tool {named(tool)}, which {_nobody(subject, whose)}."
            near = subject.guesses.of(tool, all_names(boxes), f"tools of {whose}")
            fix = f"Write {named(near)}." if near else f"Add it to the tools of {whose} or to the known tools."
            yield problem("unknown-tool", message, fix, from_=route.from_, to=route.to)


def _nobody(subject: Subject, whose: str) -> str:
    if subject.known_tools is not None:
        return f"neither {whose} nor the host has"
    return "no skill has" if whose == _A_SKILL else f"{whose} does not have"


def _tools_in(test: FieldTest) -> Iterator[str]:
    """The tools that a comparison waits for by name."""
    if test.field == "tool_name" and test.op in (Op.EQ, Op.IN):
        values = test.value if isinstance(test.value, tuple) else (test.value,)
        yield from (value for value in values if isinstance(value, str))


def _statuses(subject: Subject, declaration: Declaration) -> Iterator[Problem]:
    """The statuses of `on_status` and of comparisons; one that only waits for such is unsatisfiable instead."""
    source = declaration.source
    wanted = dict.fromkeys(source.on_status if isinstance(source, Route) else ())
    for part in declaration.parts:
        if isinstance(part, FieldTest) and part.field == "status" and not _waits_in_vain(part):
            values = part.value if isinstance(part.value, tuple) else (part.value,)
            wanted.update(dict.fromkeys(value for value in values if isinstance(value, str)))
    for status in wanted:
        if status not in STATUSES:
            message = f"{opening(declaration.called)} names the status {named(status)}, which no tool result has."
            near = subject.guesses.of(status, STATUSES, "statuses")
            fix = f"Write {named(near)}." if near else f"Write one of {', '.join(STATUSES)}."
            yield problem("unknown-status", message, fix, **declaration.spot)


def _waits_in_vain(test: FieldTest) -> bool:
    values = test.value if isinstance(test.value, tuple) else (test.value,)
    return test.op in (Op.EQ, Op.IN) and not any(value in STATUSES for value in values)
