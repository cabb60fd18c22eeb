"""Assemble tier 3.5: walk the graph as the sections say, all at once and bounded, and render the finds (spec 6.2)."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from skillweave.checking import Checked
from skillweave.errors import StoreUnavailable
from skillweave.knowledge.context import EntityContext, Section
from skillweave.knowledge.entity import MOST_NEIGHBOURS, Entity, EntityGraph, KnowsNames
from skillweave.knowledge.recognise import names_in
from skillweave.knowledge.rendering import FieldName, Found, Row, plain_line, render_line, template_of
from skillweave.knowledge.rules import (
    MOST_ROWS,
    ContextRules,
    Hop,
    SectionPart,
    SectionRule,
    list_field,
    sort_field,
    where_of,
)
from skillweave.knowledge.together import Patience, Together
from skillweave.redaction import error_in_words

SECONDS = 0.2
"""How long the sections of an entity may take together."""
LAST_ROUNDS = 20
"""Rounds of the event loop after the deadline: where the loop itself was held up, what is there is not lost."""
MOST_FOLLOWED = 100
"""Nodes from which one hop goes on; from others of a wider way it does not."""
MOST_ITEMS = 10_000
"""Items of lists that a part looks at, in all its nodes together: some tenths of a second, in which nothing else goes
on."""

Count: TypeAlias = Callable[[str], int]
"""The tokens of a text."""
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
_Line: TypeAlias = tuple[str, tuple[str, ...]]
"""A line, and the ids of the nodes that it came from."""


async def assemble(
    graph: EntityGraph,
    rules: ContextRules,
    entity: str,
    domain_tags: Iterable[str],
    *,
    budget: int | None = None,
    count: Count | None = None,
    seconds: float = SECONDS,
) -> EntityContext:
    """What the graph says about an entity, by id or alias, for skills with these tags; nothing without tags.

    A section that fails or takes over `seconds` is omitted; with a `budget` in tokens each is shown if it fits. Raises
    AmbiguousEntity, StoreUnavailable, InvalidValue.
    """
    checked = Checked("assemble")
    tags = checked.texts("domain_tags", list(domain_tags), "mooring")
    if budget is not None and (count is None or checked.whole("budget", budget) < 0):
        checked.refuse("count", count, "what counts tokens too, as the budget is in tokens")
    patience = Patience(seconds, seconds)
    context = await _assembled(Together(graph, patience), rules, entity, tags, patience)
    if budget is None or count is None:
        return context
    sections, over = _within(context.sections, budget, count)
    return replace(context, sections=tuple(sections), omitted=(*context.omitted, *over))


async def _assembled(
    together: Together, rules: ContextRules, entity: str, tags: Sequence[str], patience: Patience
) -> EntityContext:
    clock = asyncio.get_running_loop().time
    unknown, last = rules.unknown_tags(tags), clock() + patience.longest
    patience.waiting += 1
    try:
        node = await _entity(entity, together.graph.entity(entity), patience, last)
        if node is None:
            return EntityContext(entity, (), (f"the graph knows no entity called {entity[:100]!r}",), unknown)
        wanted = rules.sections_for(tags)
        work = {one.name: _read_section(together, one, node) for one in wanted}
        read, late = await _before(last, patience, work)
    except _Late:
        why = f"the entity itself did not come within {patience.told(at_last=clock() >= last)}"
        return EntityContext(entity, (), (why,), unknown)
    finally:
        patience.waiting -= 1
    sections = [read[one.name] for one in wanted if one.name in read and read[one.name].text]
    too_late = f"it did not come within {patience.told(at_last=clock() >= last)}"
    whys = {name: too_late if error is None else error_in_words(error) for name, error in late.items()}
    omitted = tuple(f"section {name!r} is left out: {why}" for name, why in whys.items())
    return EntityContext(node.id, tuple(sections), omitted, unknown)


class GraphContext:
    """The ContextSource made of an entity graph and the rules of a pack.

    The graph may say nothing for `seconds`; one that is at work is waited for as long as `longest`, for the entity and
    for its sections, None for no longer than that.
    """

    def __init__(
        self, graph: EntityGraph, rules: ContextRules, *, seconds: float = SECONDS, longest: float | None = None
    ) -> None:
        self.graph = graph
        self.rules = rules
        self._patience = Patience(seconds, max(seconds, longest or 0))
        self._together: WeakKeyDictionary[asyncio.AbstractEventLoop, Together] = WeakKeyDictionary()

    async def assemble(self, entity: str, domain_tags: Sequence[str]) -> EntityContext:
        """What `assemble` gives for the entity; raises like it."""
        loop = asyncio.get_running_loop()
        together = self._together.setdefault(loop, Together(self.graph, self._patience))
        return await _assembled(together, self.rules, entity, domain_tags, self._patience)

    async def find(self, ref: str) -> Entity | None:
        """The entity of that name; raises AmbiguousEntity, and StoreUnavailable, also after the deadline."""
        return await self._found(ref, self.graph.entity(ref))

    async def find_in(self, text: str) -> Entity | None:
        """The entity whose name stands first in the text, where the graph knows its names; raises like `find`."""
        if not isinstance(self.graph, KnowsNames) or not (names := names_in(text)):
            return None
        return await self._found("", _first_named(self.graph, names))

    async def _found(self, ref: str, question: Awaitable[Entity | None]) -> Entity | None:
        patience, clock = self._patience, asyncio.get_running_loop().time
        last = clock() + patience.longest
        patience.waiting += 1
        try:
            return await _entity(ref, question, patience, last)
        except _Late:
            within = patience.told(at_last=clock() >= last)
            raise StoreUnavailable(f"the entity graph did not answer within {within}") from None
        finally:
            patience.waiting -= 1


async def _first_named(graph: KnowsNames, names: Mapping[str, str]) -> Entity | None:
    known = await graph.known(tuple(names))
    written = next((written for key, written in names.items() if key in known), None)
    return None if written is None else await graph.entity(written)


class _Late(Exception):
    """The graph was waited for long enough."""


async def _entity(ref: str, question: Awaitable[Entity | None], patience: Patience, last: float) -> Entity | None:
    found, late = await _before(last, patience, {ref: question})
    if ref in found:
        patience.answers += 1
        return found[ref]
    raise late[ref] or _Late


async def _before(
    last: float, patience: Patience, work: Mapping[str, Awaitable[T]]
) -> tuple[dict[str, T], dict[str, BaseException | None]]:
    """What came in time, by name; for the rest the error, None for what was late.

    It is waited for no longer than `last` on the loop's clock, nor for a graph that says nothing.
    """
    if not work:
        return {}, {}
    clock = asyncio.get_running_loop().time
    tasks = {name: asyncio.ensure_future(one) for name, one in work.items()}
    waiting, crowded = set(tasks.values()), False
    try:
        while waiting:
            answers, crowded = patience.answers, crowded or patience.waiting > 1
            _, waiting = await asyncio.wait(waiting, timeout=max(0.0, min(patience.silence, last - clock())))
            for _ in range(LAST_ROUNDS if waiting else 0):
                await asyncio.sleep(0)
            waiting = {one for one in waiting if not one.done()}
            at_work = crowded or patience.waiting > 1 or patience.answers > answers
            if clock() >= last or not (at_work and patience.silence):
                break
    finally:
        for task in tasks.values():
            # An error that comes after the deadline has been told as being late.
            task.add_done_callback(lambda one: one.cancelled() or one.exception())
            task.cancel()
    return outcomes(tasks)


def outcomes(tasks: "Mapping[K, asyncio.Future[T]]") -> tuple[dict[K, T], dict[K, BaseException | None]]:
    """What the tasks answered, by their keys, and the error of each that did not, None for one that had not ended."""
    done: dict[K, T] = {}
    failed: dict[K, BaseException | None] = {}
    for key, task in tasks.items():
        if not task.done() or task.cancelled():
            failed[key] = None
        elif (error := task.exception()) is not None:
            failed[key] = error
        else:
            done[key] = task.result()
    return done, failed


def _within(sections: Sequence[Section], budget: int, count: Count) -> tuple[list[Section], list[str]]:
    """The sections that fit, each where it has room, and what the others would have cost."""
    fitting: list[Section] = []
    over: list[str] = []
    for section in sections:
        text = "\n".join((*(one.text for one in fitting), section.text))
        if count(text) <= budget:
            fitting.append(section)
        else:
            cost = count(section.text)
            over.append(f"section {section.name!r} is left out: it has {cost:,} tokens, more than are left")
    return fitting, over


@dataclass(frozen=True, slots=True)
class _Way:
    """The rows at the end of a path; `cut` says that a bound was met, so that there may be more."""

    rows: tuple[Row, ...]
    cut: bool = False


async def _read_section(together: Together, section: SectionRule, entity: Entity) -> Section:
    lines: list[_Line] = []
    shown: set[tuple[str, tuple[str, ...]]] = set()
    title = ""
    parts = [part for part in section.parts if not part.of or entity.label in part.of]
    ways = await asyncio.gather(*(_walk(together, part, entity) for part in parts))
    for part, way in zip(parts, ways, strict=True):
        # The title of a part without rows stands over those of the next part that has no title of its own.
        title = part.title or title
        rows = _lines_of(part, entity, way, shown)
        if rows and title:
            lines.append((plain_line(title), (entity.id,)))
            title = ""
        lines += rows
    return Section(section.name, "\n".join(text for text, _ in lines), tuple(ids for _, ids in lines))


async def _walk(together: Together, part: SectionPart, entity: Entity) -> _Way:
    """The nodes that the path leads to; no way comes back to a node that it has passed."""
    ways: list[tuple[Row, frozenset[str]]] = [(Row(entity), frozenset({entity.id}))]
    cut = False
    for hop in part.path:
        cut = cut or len(ways) > MOST_FOLLOWED
        followed = ways[:MOST_FOLLOWED]
        found = await asyncio.gather(*(_follow(together, hop, row, passed) for row, passed in followed))
        cut = cut or any(more for _, more in found)
        ways = [way for several, _ in found for way in several]
    cut = cut or len(ways) > MOST_ROWS
    return _Way(tuple(row for row, _ in ways[:MOST_ROWS]), cut)


async def _follow(
    together: Together, hop: Hop, row: Row, passed: frozenset[str]
) -> tuple[list[tuple[Row, frozenset[str]]], bool]:
    """The next rows along one hop, and whether there may be more neighbours than were asked for."""
    found = await together.neighbours((row.node.id, hop.via, hop.direction))
    rows = [
        (Row(one.entity, one.edge, row.node), passed | {one.entity.id})
        for one in found
        if one.entity.id not in passed and (not hop.labels or one.entity.label in hop.labels)
    ]
    return rows, len(found) >= MOST_NEIGHBOURS


def _lines_of(part: SectionPart, entity: Entity, way: _Way, shown: set[tuple[str, tuple[str, ...]]]) -> list[_Line]:
    """The lines of a part: its rows, and how many more there are or may be; none where no row says anything."""
    where = where_of(part)
    templates = tuple(map(template_of, part.render))
    names = [name for template in templates for name in template.fields]
    once: dict[tuple[tuple[str, ...], int], Row] = {}
    items, skipped = _with_items(part, way.rows)
    for place, row in items:
        if where.keeps(row):
            # A node that two ways lead to is two rows where a row tells of the way.
            once.setdefault((_ids(row, names), place), row)
    rows, earlier = list(once.values()), 0
    if part.last is not None and len(rows) > part.last:
        earlier, rows = len(rows) - part.last, rows[-part.last :]
    if part.order:
        rows = _sorted(rows, sort_field(part), down=part.order.startswith("-"))
    lines: list[_Line] = []
    left = 0
    written = 0
    for row in rows:
        texts = tuple(text for template in templates if (text := render_line(template, row)) is not None)
        if not texts or (row.node.id, texts) in shown:
            continue
        if written == part.limit:
            left += 1
            continue
        written += 1
        shown.add((row.node.id, texts))
        lines += ((text, _ids(row, names)) for text in texts)
    if lines:
        more = _more(left, earlier, cut=way.cut, skipped=skipped)
    else:
        # To leave it out would say that there is none.
        more = [f"- perhaps some: {_not_seen(cut=way.cut)}"] if way.cut or skipped else []
    return [*lines, *((text, (entity.id,)) for text in more)]


def _more(left: int, earlier: int, *, cut: bool, skipped: bool) -> list[str]:
    """How many rows are not shown; of a way that was cut, and of lists of which items were skipped, at least."""
    lines = [f"- and {'at least ' if skipped else ''}{earlier:,} earlier"] if earlier else []
    if left:
        lines.append(f"- and {'at least ' if cut or skipped else ''}{left:,} more")
    elif cut or (skipped and not earlier):
        lines.append(f"- and perhaps more: {_not_seen(cut=cut)}")
    return lines


def _not_seen(*, cut: bool) -> str:
    return f"not all {'connections' if cut else 'items'} were looked at"


def _with_items(part: SectionPart, rows: Sequence[Row]) -> tuple[Iterable[tuple[int, Row]], bool]:
    """The rows, or one for each item of the list `each`, with its place; and whether items were skipped."""
    name = list_field(part)
    if name is None:
        return ((0, row) for row in rows), False
    found: list[tuple[int, Row]] = []
    skipped = False
    step = 1 if part.last is None else -1
    for row in rows[::step]:
        value = row.find(name)
        items = value if isinstance(value, tuple) else ()
        places = range(len(items))[::step]
        some = places[: MOST_ITEMS - len(found)]
        skipped = skipped or len(some) < len(places)
        found += ((place, replace(row, item=items[place])) for place in some)
    return found[::step], skipped


def _sorted(rows: Sequence[Row], name: FieldName, *, down: bool) -> list[Row]:
    """The rows by a field: numbers before texts, and last, whichever way, those without it."""
    ranked = [(rank, row) for row in rows if (rank := _rank(row.find(name))) is not None]
    others = [row for row in rows if _rank(row.find(name)) is None]
    return [*(row for _, row in sorted(ranked, key=lambda one: one[0], reverse=down)), *others]


def _rank(value: Found) -> tuple[int, float, str] | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return (1, 0.0, value) if isinstance(value, str) else (0, value, "")


def _ids(row: Row, names: Iterable[FieldName]) -> tuple[str, ...]:
    """The nodes that a row's lines came from: of what an edge says, both of its ends."""
    beyond = row.before is not None and any(name.scope in ("edge", "from") for name in names)
    return (row.node.id, row.before.id) if beyond and row.before is not None else (row.node.id,)
