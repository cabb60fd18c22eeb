"""Moving in a skill graph and checking one (spec 11): growing sizes, beside a walk over every entry and every edge."""

import json
import random
from collections.abc import AsyncIterator, Callable, Sequence

from made import NOUNS, VERBS, made_message, made_words
from results import Effort, Row, Target, figure
from timing import awaited, interleaved, plain

from skillweave.dialogue import ToolResult
from skillweave.graph import Declared, Entry, GraphSkill, MoveContext, Route, SkillGraph
from skillweave.graph.conditions import Guarded, Keywords
from skillweave.graph.guards import FieldTest, Guard, Op
from skillweave.registry import Registry
from skillweave.settings import Settings
from skillweave.skill import Skill, SkillText, ToolRules, Triggers
from skillweave.stores.memory import MemoryStore
from skillweave.weaver import Weaver

TOOLS = tuple(f"{verb}_{noun}" for verb in VERBS[:20] for noun in NOUNS[:20])
ROUTES_PER_SKILL = 5
MOVE_LIMIT, CHECK_LIMIT = 20e-6, 1.0


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """`next_skill` at the start and with a cursor, `checkup`, building, and a whole turn with and without a graph."""
    sizes = (100, 1_000) if effort is Effort.QUICK else (100, 1_000, 10_000)
    samples = 9 if effort is Effort.QUICK else 31
    for size in sizes:
        declared = make_graph(size)
        graph = SkillGraph.of(declared, check="off")
        async for row in _moves(graph, declared, size, samples):
            yield row
        checks = await interleaved({"checkup": plain(graph.checkup)}, samples=3)
        target = Target("<1 s", checks["checkup"].median < CHECK_LIMIT) if size == 1_000 else None
        yield Row("graph: checkup", _size(size), figure(checks["checkup"]), target=target)
        builds = await interleaved({"build": plain(lambda: SkillGraph.of(declared, check="off"))}, samples=3)  # noqa: B023
        yield Row("graph: build without check", _size(size), figure(builds["build"]))
    for size in (100, 1_000):
        async for row in _turns(size, samples):
            yield row


def make_graph(size: int) -> Declared:
    """One skill in ten is an entry with keywords of its own; each has five routes on tools, statuses and guards."""
    rnd = random.Random(7)
    ids = [f"{word}-{number}" for number, word in enumerate(made_words(size, 7))]
    skills = tuple(GraphSkill(one, f"{rnd.choice(VERBS)} a {rnd.choice(NOUNS)}", _tools(rnd)) for one in ids)
    words = made_words(size * 2, 9)
    entries = tuple(Entry(one, Keywords((words[n], f"{words[n]} {rnd.choice(NOUNS)}"))) for n, one in enumerate(ids))
    routes = tuple(route for number, skill in enumerate(skills) for route in _routes(skill, number, ids, rnd))
    return Declared(skills, entries, routes)


def _tools(rnd: random.Random) -> tuple[str, ...]:
    return tuple(rnd.sample(TOOLS, 6))


def _routes(skill: GraphSkill, number: int, ids: Sequence[str], rnd: random.Random) -> list[Route]:
    tools = skill.tools or ()
    targets = [ids[(number + 1 + step) % len(ids)] for step in rnd.sample(range(len(ids) - 1), ROUTES_PER_SKILL)]
    high = Guard((FieldTest("amount", Op.GTE, 100),))
    return [
        Route(skill.id, targets[0], on_tool=tools[0]),
        Route(skill.id, targets[1], on_tool=tools[1], on_status=("failure", "denied")),
        Route(skill.id, targets[2], on_tool=tools[2], guard=high),
        Route(skill.id, targets[3], Guarded(Guard((FieldTest("iteration", Op.GT, 8),)))),
        Route(skill.id, targets[4]),
    ]


async def _moves(graph: SkillGraph, declared: Declared, size: int, samples: int) -> AsyncIterator[Row]:
    current = declared.skills[size // 2]
    tools = current.tools or ("",)
    rnd = random.Random(3)
    keyword = declared.entries[size - 1].condition
    assert isinstance(keyword, Keywords)
    message = made_message(rnd, [keyword.words[0]], 200)
    results = (ToolResult(tools[5], "{}"), ToolResult(tools[2], '{"amount": 250, "currency": "EUR"}'))
    moments = {
        "cursor set, two tool results": MoveContext(message, 3, current=current.id, tools=results),
        "cursor set, nothing fires": MoveContext(message, 2, current=current.id),
        "cold, the last entry's keyword": MoveContext(message),
        "cold, nothing matches": MoveContext(made_message(rnd, [], 200)),
    }
    for name, moment in moments.items():
        _check(graph, declared, moment)
        contenders = {"skillweave": _ask(graph, moment), "walk": _walked(declared, moment)}
        times = await interleaved({who: plain(call) for who, call in contenders.items()}, samples=samples)
        ours, theirs = times["skillweave"], times["walk"]
        target = Target("<20 µs", ours.median < MOVE_LIMIT) if size == 1_000 else None
        case = f"{name}, {_size(size)}"
        yield Row("graph: next_skill", case, figure(ours), "walk over all", figure(theirs), target=target)


def _ask(graph: SkillGraph, moment: MoveContext) -> Callable[[], object]:
    return lambda: graph.next_skill(moment)


def _walked(declared: Declared, moment: MoveContext) -> Callable[[], object]:
    return lambda: walk(declared, moment)


def walk(declared: Declared, moment: MoveContext) -> str | None:
    """The few lines that one would write at first: every entry, or every edge for every result, in order."""
    said = moment.user.lower()
    if moment.current is None:
        for entry in declared.entries:
            if isinstance(entry.condition, Keywords) and any(word in said for word in entry.condition.words):
                return entry.skill
        return None
    for result in moment.tools or (None,):
        for route in declared.routes:
            if route.from_ == moment.current and _fires(route, moment, result):
                return route.to
    return moment.current


def _fires(route: Route, moment: MoveContext, result: ToolResult | None) -> bool:
    if not route.is_deterministic or (route.condition is not None and moment.iteration <= 8):
        return False
    if result is None:
        return route.condition is not None
    if route.on_tool not in (None, result.tool) or (route.on_status and result.status not in route.on_status):
        return False
    return route.guard is None or json.loads(result.content).get("amount", 0) >= 100


def _check(graph: SkillGraph, declared: Declared, moment: MoveContext) -> None:
    if graph.next_skill(moment) != walk(declared, moment):
        raise SystemExit(f"the two disagree: {graph.next_skill(moment)} and {walk(declared, moment)}")


async def _turns(size: int, samples: int) -> AsyncIterator[Row]:
    """A follow-up turn of a conversation: in a graph where the cursor stays, and without a graph."""
    declared = make_graph(size)
    graph = SkillGraph.of(declared, check="off")
    weavers = {"skillweave": _weaver(declared, graph), "no graph": _weaver(declared, None)}
    keyword = declared.entries[size // 2].condition
    assert isinstance(keyword, Keywords)
    begin = made_message(random.Random(1), [keyword.words[0]], 200)
    follow = made_message(random.Random(2), [], 200)
    for weaver in weavers.values():
        given = await weaver.weave(begin, conversation="c")
        if declared.entries[size // 2].skill not in given.skills:
            raise SystemExit("the entry was not given")
    batches = {name: awaited(_follow_up(weaver, follow)) for name, weaver in weavers.items()}
    times = await interleaved(batches, samples=samples)
    case = f"follow-up, {_size(size)}"
    yield Row("graph: a whole turn", case, figure(times["skillweave"]), "no graph", figure(times["no graph"]))


def _follow_up(weaver: Weaver, message: str) -> Callable[[], object]:
    return lambda: weaver.weave(message, conversation="c")


def _weaver(declared: Declared, graph: SkillGraph | None) -> Weaver:
    registry = Registry()
    for known, entry in zip(declared.skills, declared.entries, strict=True):
        words = entry.condition.words if isinstance(entry.condition, Keywords) else ()
        registry.register(
            Skill(
                known.id,
                known.id,
                known.description,
                triggers=Triggers(keywords=words),
                text=SkillText(instructions="Do it well. " * 100),
                tools=ToolRules(allowed=known.tools),
                digest=known.id,
            )
        )
    return Weaver(registry, MemoryStore(), Settings(), graph=graph)


def _size(size: int) -> str:
    return f"{size:,} skills and {size * ROUTES_PER_SKILL:,} routes"
