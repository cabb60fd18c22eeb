"""What a pack says about entity context: its sections, which skills show them, how ids are recognised (spec 6.2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.errors import InvalidContext, InvalidGraph, nearest_names
from skillweave.frozen import EMPTY, FrozenDict, FrozenJson, as_json
from skillweave.graph.guards import MISSING, FieldTest, holds, read_guard
from skillweave.knowledge.entity import Direction
from skillweave.knowledge.rendering import (
    LONGEST_TEMPLATE,
    SCOPES,
    FieldName,
    Row,
    field_name,
    template_of,
)
from skillweave.registry import Snapshot
from skillweave.skill import freeze_mapping

MOST_SECTIONS = 100
MOST_PARTS = 20
"""Of one section."""
MOST_HOPS = 4
MOST_LINES = 20
"""Lines that one row is shown in."""
MOST_ROWS = 1000
ROWS = 20
"""Rows of a part that are shown unless it says otherwise."""
MOST_PATTERNS = 100
LONGEST_NAME = 100
"""Characters of a section's name."""
EXISTS = "exists"
"""What a field is asked beside comparisons: whether there is anything in it."""


@dataclass(frozen=True, slots=True)
class Hop(Portable):
    """A step along edges of a relation, to neighbours of these labels, () for any. Raises InvalidValue."""

    via: str
    direction: Direction = Direction.OUT
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked = Checked("Hop")
        if not checked.text("via", self.via).strip():
            checked.refuse("via", self.via, "the name of a relation, such as 'OWNED_BY'")
        object.__setattr__(self, "direction", checked.member("direction", self.direction, Direction))
        object.__setattr__(self, "labels", checked.texts("labels", self.labels, "Ship"))


@dataclass(frozen=True, slots=True)
class SectionPart(Portable):
    """Rows of one kind in a section: where they come from, which count, and the lines that each is shown in.

    `of` are labels of entities, () for any; `path` leads to the nodes. All comparisons of `where` must hold, by field
    (`node.x`, `edge.x`, `from.x`, `item.x`). With `each`, a list of the node, there is a row for each item, with `last`
    for the last so many. `order` sorts by a field, `-field` the other way. `title` stands over them. Raises
    InvalidContext.
    """

    render: tuple[str, ...]
    of: tuple[str, ...] = ()
    title: str = ""
    path: tuple[Hop, ...] = ()
    where: Mapping[str, FrozenJson] = field(default=EMPTY)
    each: str = ""
    last: int | None = None
    order: str = ""
    limit: int = ROWS

    def __post_init__(self) -> None:
        checked, keep = Checked("SectionPart"), object.__setattr__
        keep(self, "render", checked.texts("render", self.render, "Ship: {name}"))
        keep(self, "of", checked.texts("of", self.of, "Ship"))
        keep(self, "path", checked.items("path", self.path, Hop, "Hop('OWNED_BY')"))
        checked.text("title", self.title)
        if self.last is not None:
            checked.whole("last", self.last, 1)
        checked.whole("limit", self.limit, 1)
        keep(self, "where", _as_data(self.where))
        checked.text("each", self.each)
        checked.text("order", self.order)
        self._check_sizes()
        self._check_fields()

    def _check_sizes(self) -> None:
        if not 0 < len(self.render) <= MOST_LINES:
            raise InvalidContext("render", f"has {len(self.render)} lines", f"write 1 to {MOST_LINES}")
        if len(self.path) > MOST_HOPS:
            raise InvalidContext("path", f"has {len(self.path)} hops", f"write at most {MOST_HOPS}")
        braces = not {"{", "}"}.isdisjoint(self.title)
        if braces or len(self.title) > LONGEST_TEMPLATE or len(self.title.splitlines()) > 1:
            fix = f"write one line of at most {LONGEST_TEMPLATE:,} characters, without fields: it stands over the rows"
            raise InvalidContext("title", "is no plain line", fix)
        if self.last is not None and not self.each:
            fix = "add `each`, the list of which the last items are shown"
            raise InvalidContext("last", "stands without `each`", fix)
        if self.limit > MOST_ROWS:
            raise InvalidContext("limit", f"is {self.limit:,}", f"write at most {MOST_ROWS:,}")

    def _check_fields(self) -> None:
        """Every field that is named must be one that a row can have."""
        items = list_field(self)
        if items is not None:
            self._check(items, "each", items=False)
        if self.order:
            self._check(sort_field(self), "order")
        where = where_of(self)
        for name in (*(name for name, _ in where.tests), *(name for name, _ in where.asked)):
            if not name.scope:
                fix = f"write `node.{name}`; a field begins with {_SCOPES}"
                raise InvalidContext("where", f"compares `{name}`, which does not say where it is looked up", fix)
            self._check(name, "where")
        for template in map(template_of, self.render):
            for name in template.fields:
                self._check(name, "render")

    def _check(self, name: FieldName, key: str, *, items: bool = True) -> None:
        if name.scope in ("edge", "from") and not self.path:
            what = f"names `{name}`, and without a `path` there is no edge and no node before"
            raise InvalidContext(key, what, "add `path`, or name a field of the entity")
        if name.scope == "item" and not (self.each and items):
            raise InvalidContext(key, f"names `{name}`, and without `each` there is no item", "add `each`")


@dataclass(frozen=True, slots=True)
class Where:
    """What must hold of a row: comparisons by field, and fields of which there must be something or nothing."""

    tests: tuple[tuple[FieldName, FieldTest], ...]
    asked: tuple[tuple[FieldName, bool], ...]

    def keeps(self, row: Row) -> bool:
        """Whether all of it holds; of a field that is not there no comparison does, whatever it compares."""
        return all(holds(test, row.find(name), EMPTY) for name, test in self.tests) and all(
            (row.find(name) not in (MISSING, None)) is wanted for name, wanted in self.asked
        )


@dataclass(frozen=True, slots=True)
class SectionRule(Portable):
    """A named section of entity context: parts, each with rows of its own, that stand one after the other."""

    name: str
    parts: tuple[SectionPart, ...]

    def __post_init__(self) -> None:
        checked = Checked("SectionRule")
        if not checked.text("name", self.name).strip() or len(self.name) > LONGEST_NAME or not self.name.isprintable():
            fix = f"give it a name of 1 to {LONGEST_NAME} printable characters"
            raise InvalidContext("sections", f"has a section called {self.name[:60]!r}", fix)
        parts = checked.items("parts", self.parts, SectionPart, "SectionPart(render=...)")
        if not 0 < len(parts) <= MOST_PARTS:
            raise InvalidContext("sections", f"has {len(parts)} parts in {self.name!r}", f"write 1 to {MOST_PARTS}")
        object.__setattr__(self, "parts", parts)


@dataclass(frozen=True, slots=True)
class IdPattern(Portable):
    """How an id looks in a text, and how the graph spells it: `{1}`, `{name}` for groups, empty as found."""

    json_keys: ClassVar[tuple[str, ...]] = ("pattern", "spelled as as")

    pattern: str
    spelled: str = ""

    def __post_init__(self) -> None:
        checked = Checked("IdPattern")
        if not checked.text("pattern", self.pattern):
            checked.refuse("pattern", self.pattern, "a regular expression")
        checked.text("as", self.spelled)


@dataclass(frozen=True, slots=True)
class ContextRules(Portable):
    """Everything that a pack's `context:` says: pure data, that `assemble` and a `Recogniser` carry out.

    `tags` are names of sections by the domain tag of skills, `otherwise` those for other tags; where both are silent,
    all show. `entity_keys` of a turn's memory name an entity; `aliases` and `locations` are properties by label. Raises
    InvalidContext.
    """

    sections: tuple[SectionRule, ...] = ()
    tags: Mapping[str, tuple[str, ...]] = field(default=EMPTY)
    otherwise: tuple[str, ...] = ()
    entity_keys: tuple[str, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default=EMPTY)
    locations: Mapping[str, tuple[str, ...]] = field(default=EMPTY)
    recognise: tuple[IdPattern, ...] = ()

    def __post_init__(self) -> None:
        checked, keep = Checked("ContextRules"), object.__setattr__
        keep(self, "sections", checked.items("sections", self.sections, SectionRule, "SectionRule(name, parts)"))
        for name in ("tags", "aliases", "locations"):
            given = checked.mapping(name, getattr(self, name))
            keep(self, name, FrozenDict({key: checked.texts(f"{name}[{key!r}]", given[key]) for key in given}))
        keep(self, "entity_keys", checked.texts("entity_keys", self.entity_keys, "ship"))
        keep(self, "otherwise", checked.texts("otherwise", self.otherwise, "entity"))
        keep(self, "recognise", checked.items("recognise", self.recognise, IdPattern, "IdPattern(pattern)"))
        names = self.names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InvalidContext("sections", f"has two sections called {twice!r}", "give one of them another name")
        for key, named in (("otherwise", self.otherwise), *(("tags", one) for one in self.tags.values())):
            for name in named:
                if name not in names:
                    raise InvalidContext(key, f"names {name[:60]!r}, which is no section", nearest_fix(name, names))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sections, in order."""
        return tuple(section.name for section in self.sections)

    def sections_for(self, domain_tags: Iterable[str]) -> tuple[SectionRule, ...]:
        """The sections that skills with these tags show: the union, in the order of the sections; none without tags."""
        tags = tuple(domain_tags)
        if not self.tags and not self.otherwise:
            return self.sections if tags else ()
        wanted = {name for tag in tags for name in self.tags.get(tag, self.otherwise)}
        return tuple(section for section in self.sections if section.name in wanted)

    def unknown_tags(self, domain_tags: Iterable[str]) -> tuple[str, ...]:
        """The tags that `tags` does not list, once each; none where nothing is listed at all."""
        return tuple(dict.fromkeys(tag for tag in domain_tags if tag not in self.tags)) if self.tags else ()


def where_of(part: SectionPart) -> Where:
    """The part's comparisons, ready to be held against rows; raises InvalidContext."""
    tests: dict[str, object] = {}
    asked: list[tuple[FieldName, bool]] = []
    for name, wanted in part.where.items():
        left = dict(wanted) if isinstance(wanted, Mapping) else wanted
        if isinstance(left, dict) and EXISTS in left:
            there = left.pop(EXISTS)
            if not isinstance(there, bool):
                raise InvalidContext("where", f"asks `exists: {there!r:.60}` of `{name[:60]}`", "write true or false")
            asked.append((field_name(name, "where"), there))
            if not left:
                continue
        tests[name] = left
    if not tests:
        return Where((), tuple(asked))
    try:
        guard = read_guard(tests, "where")
    except InvalidGraph as error:
        what, fix = str(error).removesuffix(f"; {error.fix}"), error.fix or _WHERE
        # `exists` is known here, beside what a guard knows.
        raise InvalidContext("where", f"cannot be read: {what}", fix) from None
    return Where(tuple((field_name(test.field, "where"), test) for test in guard.tests), tuple(asked))


def list_field(part: SectionPart) -> FieldName | None:
    """The list that has a row for each of its items; None without one. Raises InvalidContext."""
    return field_name(part.each, "each") if part.each else None


def sort_field(part: SectionPart) -> FieldName:
    """The field that rows are sorted by; raises InvalidContext."""
    return field_name(part.order.removeprefix("-"), "order")


def context_rules_in(snapshot: Snapshot) -> ContextRules | None:
    """What the sources of a snapshot say about entity context; None where none says anything."""
    return None if snapshot.context is None else ContextRules.from_dict(snapshot.context)


_SCOPES = ", ".join(f"`{scope}.`" for scope in SCOPES)


def nearest_fix(name: str, known: Sequence[str]) -> str:
    """What to write in place of a name that is not known."""
    near = nearest_names(name, known)
    if near:
        return f"did you mean {near[0]!r}? else write one of {', '.join(known)}"
    return f"write one of {', '.join(known)}" if known else "write a section of that name first"


def _as_data(where: object) -> Mapping[str, FrozenJson]:
    try:
        data = as_json(where)
    except ValueError as error:
        raise InvalidContext("where", f"holds {error}", _WHERE) from None
    if not isinstance(data, dict):
        raise InvalidContext("where", "is no mapping", _WHERE)
    return freeze_mapping(data)


_WHERE = "write comparisons such as {node.status: {eq: active}}"
