"""`context:` of a pack: what is shown of an entity, to which skills, and how it is recognised (spec 6.2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from skillweave.diagnostics import Diagnostic
from skillweave.errors import InvalidContext, InvalidValue
from skillweave.formats import codes
from skillweave.formats.fields import Fields, Findings
from skillweave.frontmatter.yaml_text import Keys
from skillweave.knowledge.entity import Direction
from skillweave.knowledge.recognise import Recogniser
from skillweave.knowledge.rules import (
    MOST_PARTS,
    MOST_PATTERNS,
    MOST_SECTIONS,
    ROWS,
    ContextRules,
    Hop,
    IdPattern,
    SectionPart,
    SectionRule,
    nearest_fix,
)
from skillweave.skill import freeze_mapping

KEY = "context"
KEYS = ("entity_keys", "aliases", "locations", "recognise", "sections", "tags", "otherwise")
PART_KEYS = ("of", "title", "path", "where", "each", "last", "order", "limit", "render")
HOP_KEYS = ("via", "direction", "labels")
PATTERN_KEYS = ("pattern", "as")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContextRead:
    """What of `context:` can be used, None where there is none, and what is wrong with the rest."""

    rules: ContextRules | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def read_context(data: Mapping[str, object], lines: Mapping[Keys, int], *, path: str) -> ContextRead:
    """The rules in a pack's data; a section or pattern with a mistake is left out whole, everything else stays."""
    findings = Findings(path, lines)
    fields = Fields(data, findings).mapping(KEY)
    if fields is None:
        return ContextRead(None, findings.outcome(None).diagnostics)
    reading = _Reading(fields, findings, lines, path)
    sections, broken = reading.sections()
    names = tuple(section.name for section in sections)
    rules = ContextRules(
        sections=sections,
        tags=reading.texts_by_key("tags", lambda inner, key: _known(inner, key, names, broken)),
        otherwise=_known(fields, "otherwise", names, broken),
        entity_keys=fields.names("entity_keys") or (),
        aliases=reading.texts_by_key("aliases", lambda inner, key: inner.names(key) or ()),
        locations=reading.texts_by_key("locations", lambda inner, key: inner.names(key) or ()),
        recognise=reading.patterns(),
    )
    for key in fields.rest():
        fields.report(codes.UNKNOWN_KEY, key, "means nothing in `context`", nearest_fix(key, KEYS))
    return ContextRead(rules, (*findings.outcome(None).diagnostics, *reading.found))


class _Reading:
    """One pass over `context:`, which gathers what is found wrong inside sections and patterns."""

    def __init__(self, fields: Fields, findings: Findings, lines: Mapping[Keys, int], path: str) -> None:
        self.fields = fields
        self.found: list[Diagnostic] = []
        self._findings = findings
        self._lines = lines
        self._path = path

    def sections(self) -> tuple[tuple[SectionRule, ...], frozenset[str]]:
        inner = self.fields.mapping("sections")
        names = tuple(self._keys("sections"))
        if inner is not None and len(names) > MOST_SECTIONS:
            told = f"has {len(names):,} sections; those after the first {MOST_SECTIONS} are left out"
            self.fields.report(codes.CONTEXT, "sections", told, "make fewer, with more parts each")
        read = [self._section(name) for name in names[:MOST_SECTIONS]] if inner is not None else []
        used = tuple(section for section in read if section is not None)
        return used, frozenset(names) - {section.name for section in used}

    def patterns(self) -> tuple[IdPattern, ...]:
        entries = self.fields.entries("recognise") or []
        if len(entries) > MOST_PATTERNS:
            told = f"has {len(entries):,} patterns; those after the first {MOST_PATTERNS} are left out"
            self.fields.report(codes.CONTEXT, "recognise", told, "write fewer patterns, each for more spellings")
        found = (self._apart("the pattern", self._pattern, "recognise", n) for n in range(len(entries[:MOST_PATTERNS])))
        return tuple(one for one in found if one is not None)

    def texts_by_key(self, key: str, read: Callable[[Fields, str], tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        inner = self.fields.mapping(key)
        return {} if inner is None else {name: read(inner, name) for name in self._keys(key)}

    def _keys(self, key: str) -> Iterator[str]:
        value = self.fields.peek(key)
        yield from map(str, value) if isinstance(value, Mapping) else ()

    def _section(self, name: str) -> SectionRule | None:
        def read(fields: Fields, keys: Keys) -> SectionRule | None:
            inner = fields.mapping("sections")
            parts = None if inner is None else _parts(inner, name, keys)
            return None if parts is None else _made(inner, name, lambda: SectionRule(name, parts))

        return self._apart(f"the section {name[:60]!r}", read, "sections", name)

    def _pattern(self, fields: Fields, keys: Keys) -> IdPattern | None:
        index = keys[-1]
        entries = fields.entries("recognise") or []
        entry = fields.entry(entries[index], "recognise", index) if isinstance(index, int) else None
        if entry is None:
            return None
        pattern, spelled = entry.text("pattern"), entry.text("as") or ""
        _report_unknown(entry, PATTERN_KEYS)
        if not pattern:
            entry.report(codes.CONTEXT, "pattern", "is missing or empty", "write a regular expression")
        if entry.findings.has_errors() or not pattern:
            return None
        one = IdPattern(pattern, spelled)
        return one if _made(entry, "pattern", lambda: Recogniser((one,))) is not None else None

    def _apart(self, what: str, read: Callable[[Fields, Keys], T | None], *at: str | int) -> T | None:
        """What is read with findings of its own; None where one of them is an error, which costs the whole of it."""
        own = Findings(self._path, self._lines)
        given = {key: self.fields.peek(key) for key in KEYS if key in self.fields}
        fields = Fields({KEY: given}, own).mapping(KEY)
        made = None if fields is None else read(fields, (KEY, *at))
        self.found += own.costing(codes.CONTEXT, what)
        return None if own.has_errors() else made


def _known(fields: Fields, key: str, names: Sequence[str], broken: frozenset[str]) -> tuple[str, ...]:
    listed = fields.names(key) or ()
    for name in listed:
        if name not in names and name not in broken:
            fields.report(codes.CONTEXT, key, f"names {name[:60]!r}, which is no section", nearest_fix(name, names))
    return tuple(dict.fromkeys(name for name in listed if name in names))


def _parts(inner: Fields, name: str, keys: Keys) -> tuple[SectionPart, ...] | None:
    value = inner.take(name)
    items = value if isinstance(value, list | tuple) else [value]
    if len(items) > MOST_PARTS:
        inner.report(codes.CONTEXT, name, f"has {len(items)} parts", f"write at most {MOST_PARTS}")
        return None
    parts = []
    for index, item in enumerate(items):
        at = (*keys, index) if isinstance(value, list | tuple) else keys
        if not isinstance(item, Mapping):
            fix = "write a part as keys and values, such as `render: 'Ship: {name}'`"
            given = "a list" if isinstance(item, list) else repr(str(item)[:60])
            noun = "nothing" if item is None or item == "" else given
            inner.report(codes.CONTEXT, name, f"has {noun} where a part is expected", fix)
            continue
        part = _part(Fields(item, inner.findings, at))
        parts += [] if part is None else [part]
    return tuple(parts) if len(parts) == len(items) else None


def _part(entry: Fields) -> SectionPart | None:
    rendered = _lines(entry, "render")
    if not rendered:
        entry.report(codes.CONTEXT, "render", "is missing or empty", "write the line of a row, such as 'Ship: {name}'")
    hops = [_hop(entry.entry(item, "path", number)) for number, item in enumerate(entry.entries("path") or ())]
    last, limit = entry.whole("last"), entry.whole("limit")
    for key, number in (("last", last), ("limit", limit)):
        if number is not None and number < 1:
            entry.report(codes.CONTEXT, key, f"is {number}", "write a whole number from 1 on")
    of, title, where = _lines(entry, "of"), entry.text("title") or "", entry.typed_data("where") or {}
    each, order = entry.text("each") or "", entry.text("order") or ""
    _report_unknown(entry, PART_KEYS)
    if entry.findings.has_errors():
        return None
    path, most = tuple(hop for hop in hops if hop is not None), ROWS if limit is None else limit
    return _made(
        entry, "render", lambda: SectionPart(rendered, of, title, path, freeze_mapping(where), each, last, order, most)
    )


def _lines(entry: Fields, key: str) -> tuple[str, ...]:
    if isinstance(entry.peek(key), list | tuple):
        return entry.names(key) or ()
    text = entry.text(key)
    return () if text is None else (text,)


def _hop(entry: Fields | None) -> Hop | None:
    if entry is None:
        return None
    via, direction, labels = entry.text("via"), entry.choice("direction", Direction), _lines(entry, "labels")
    if not via:
        entry.report(codes.CONTEXT, "via", "is missing or empty", "name the relation, such as `via: OWNED_BY`")
    _report_unknown(entry, HOP_KEYS)
    if entry.findings.has_errors() or not via:
        return None
    return _made(entry, "via", lambda: Hop(via, direction or Direction.OUT, labels))


def _report_unknown(entry: Fields, known: Sequence[str]) -> None:
    """A key that means nothing is an error here: it may be a comparison or a limit that is misspelled."""
    for key in entry.rest():
        entry.report(codes.CONTEXT, key, "means nothing here", nearest_fix(key, known))


def _made(entry: Fields | None, key: str, make: Callable[[], T]) -> T | None:
    try:
        return make()
    except InvalidContext as error:
        at, what, fix = error.key, error.what, error.fix
    except InvalidValue as error:
        at, what, fix = key, f"is refused: {error}", "correct it"
    if entry is not None:
        entry.report(codes.CONTEXT, at, what, fix)
    return None
