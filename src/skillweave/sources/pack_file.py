"""What stands in a pack file: its skills, its metadata, and parts that are carried unread (spec 1.2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from skillweave.diagnostics import Diagnostic, Location, has_errors
from skillweave.errors import InvalidSkill
from skillweave.events.event import EventType
from skillweave.formats.identity import MAX_ID, id_of
from skillweave.formats.spelling import read_any
from skillweave.formats.task_rules import read_task_rules
from skillweave.frontmatter import Document, Keys
from skillweave.frontmatter.codes import Code
from skillweave.registry.shelf import Defined, lift_contents
from skillweave.sources import codes
from skillweave.sources.pack_events import read_event_types
from skillweave.task import TaskRule

READ_KEYS = ("pack", "skills", "graph", "events", "task_rules")
UNREAD_KEYS = ("agents", "checkpoints")


@dataclass(frozen=True, slots=True)
class PackFile:
    """A pack, read: skills with the content of their artifacts, all findings, and the parts by key.

    `graph` is its skill graph in the data form, and `graph_location` where that stands; None without one.
    """

    defined: tuple[Defined, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    unread: Mapping[str, object] = field(default_factory=dict)
    events: Mapping[str, EventType] = field(default_factory=dict)
    task_rules: tuple[TaskRule, ...] = ()
    graph: Mapping[str, object] | None = None
    graph_location: Location | None = None


def read_pack(document: Document, *, path: str, source: str) -> PackFile:
    """The pack in a YAML or JSON document; each bad skill is a finding with its place, and the others load."""
    if document.data is None:
        return PackFile(findings=document.diagnostics)
    reading = _Reading(document.data, document.lines, path, source)
    reading.findings += document.diagnostics
    reading.check_keys()
    defined = tuple(reading.definitions())
    graph, about_graph = _graph(document, path)
    reading.findings += about_graph
    if not defined and graph is None and not has_errors(reading.findings):
        fix = "list skills under `skills:`, or name another pack"
        reading.report(codes.NO_SKILLS, (), f"pack '{path}' holds no skill", fix)
    events, about_events = read_event_types(document.data.get("events"), path=path, lines=document.lines)
    reading.findings += about_events
    rules = read_task_rules(document.data, document.lines, path=path, source=f"pack {source}")
    reading.findings += rules.diagnostics
    metadata = document.data.get("pack")
    return PackFile(
        defined,
        tuple(reading.findings),
        metadata if isinstance(metadata, dict) else {},
        {key: value for key, value in document.data.items() if key in UNREAD_KEYS},
        events=events,
        task_rules=rules.rules,
        graph=graph,
        graph_location=None if graph is None else Location(path, document.lines.get(("graph",))),
    )


def _graph(document: Document, path: str) -> tuple[Mapping[str, object] | None, tuple[Diagnostic, ...]]:
    if document.data is None or "graph" not in document.data:
        return None, ()
    from skillweave.sources.pack_graph import read_pack_graph  # few packs have one, and it takes much to read it

    return read_pack_graph(document.data["graph"], path=path, lines=document.lines)


@dataclass(slots=True)
class _Reading:
    data: Mapping[str, object]
    lines: Mapping[Keys, int]
    path: str
    source: str
    findings: list[Diagnostic] = field(default_factory=list)

    def report(self, code: Code, at: Keys, message: str, fix: str, skill: str | None = None) -> None:
        finding = code.found(Location(self.path, self.lines.get(at)), message, fix)
        self.findings.append(replace(finding, skill=skill))

    def check_keys(self) -> None:
        for key in self.data:
            name = repr(key[:60])
            if key in UNREAD_KEYS:
                message = f"{name} is kept with the pack, but nothing reads it yet"
                self.report(codes.UNREAD_PACK_KEY, (key,), message, "nothing is to be done")
            elif key not in READ_KEYS:
                fix = f"use one of {', '.join((*READ_KEYS, *UNREAD_KEYS))}, or remove it"
                self.report(codes.UNKNOWN_PACK_KEY, (key,), f"{name} means nothing at the top of a pack", fix)
        if not isinstance(self.data.get("pack", {}), dict):
            self.report(codes.UNKNOWN_PACK_KEY, ("pack",), "`pack` is no mapping", "write `pack:` as keys and values")

    def definitions(self) -> Iterator[Defined]:
        for entry, at in self._entries():
            mapping, contents = lift_contents(entry)
            read = read_any(mapping, path=self.path, source=self.source, lines=self.lines, at=at)
            if read.skill is None:
                self.findings += (_named(finding, entry) for finding in read.diagnostics)
                continue
            self.findings += read.diagnostics
            try:
                yield Defined(read.skill).holding(contents)
            except InvalidSkill as error:
                self.report(codes.NOT_A_DEFINITION, at, str(error), "correct it", read.skill.id)

    def _entries(self) -> Iterator[tuple[Mapping[str, object], Keys]]:
        """The entries of `skills:` that are mappings, each with its keys; the others are reported."""
        skills = self.data.get("skills") or []
        if not isinstance(skills, list):
            fix = "write the skills as a list, each with `- `"
            self.report(codes.NOT_A_DEFINITION, ("skills",), "`skills` is no list", fix)
            return
        for index, entry in enumerate(skills):
            at = ("skills", index)
            if isinstance(entry, dict):
                yield entry, at
            else:
                message = f"entry {index + 1} of `skills` is no skill but {_noun(entry)}"
                self.report(codes.NOT_A_DEFINITION, at, message, "write the skill as keys and values, `id:` first")


def _named(finding: Diagnostic, entry: Mapping[str, object]) -> Diagnostic:
    """The finding with the id that the broken entry would have, so that its last good version is found."""
    name = next((entry[key] for key in ("id", "skill_id", "name") if isinstance(entry.get(key), str)), None)
    return finding if finding.skill or name is None else replace(finding, skill=id_of(str(name))[:MAX_ID])


def _noun(entry: object) -> str:
    if entry is None or entry == "":
        return "empty"
    return "a list" if isinstance(entry, list) else f"the value {str(entry)[:60]!r}"
