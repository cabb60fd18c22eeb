"""The graph that a command works on, and the moment or script that it is asked about, from files or arguments."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from skillweave.cli.arguments.reading import read_file
from skillweave.cli.arguments.turn import decoded
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillweave.diagnostics import Diagnostic
    from skillweave.errors import InvalidGraph
    from skillweave.frontmatter.documents import Document
    from skillweave.frontmatter.yaml_text import Keys
    from skillweave.graph.checked import Checkup
    from skillweave.graph.graph import SkillGraph
    from skillweave.graph.move import MoveContext
    from skillweave.graph.simulate import Step
    from skillweave.registry import Snapshot, Source


T = TypeVar("T")
_BEGINNING = re.compile(r"\A((?:[ \t]*(?:#.*)?\r?\n)*)---[ \t]*\r?\n")
"""What may stand before a YAML document, and the line that begins it."""
_LIST = re.compile(r"(?:[ \t]*(?:#.*)?\r?\n)*[ \t]*(\[|-(?=[ \t\r\n]))")


@dataclass(frozen=True, slots=True)
class Named:
    """A text and what messages call it; `as_json` for one that is JSON by its name or place."""

    text: str
    name: str
    as_json: bool


def read_named(path: str, what: str) -> Named:
    """The text of a file; raises Mistake for what is no regular file or no UTF-8."""
    data = read_file(path, what, "a YAML or JSON file")
    return Named(decoded(data, f"{what} {path!r}"), path, as_json=Path(path).suffix.lower() == ".json")


def document_in(named: Named, what: str, first_line: int = 1) -> "Document":
    """The mapping in the text; raises Mistake with the line for what cannot be read."""
    from skillweave.diagnostics import Severity
    from skillweave.frontmatter.documents import read_json, read_yaml

    if named.as_json:
        document = read_json(named.text, path=named.name)
    else:
        document = read_yaml(named.text, path=named.name, first_line=first_line)
    if document.data is None:
        found = next(found for found in document.diagnostics if found.severity is Severity.ERROR)
        raise Mistake(f"{what} cannot be read: {one_line(found)}")
    return document


def one_line(found: "Diagnostic") -> str:
    """A finding in one line, with its place."""
    place = f"{found.location}: " if found.location else ""
    return f"{place}{found.message}; {found.fix}"


def notes_of(diagnostics: "Sequence[Diagnostic]") -> tuple[str, ...]:
    """What a user should hear although the command went on: repairs of a file, a message that is too long."""
    return tuple(map(one_line, diagnostics))


@dataclass(frozen=True, slots=True)
class Opened:
    """A graph, the file or pack that it came from, its skills where it is a pack's, and notes for the user."""

    graph: "SkillGraph"
    name: str
    snapshot: "Snapshot | None" = None
    notes: tuple[str, ...] = ()

    def checkup(self) -> "Checkup":
        """What is wrong with the wiring; in a pack skills that it does not hold are unknown."""
        if self.snapshot is None:
            return self.graph.checkup()
        from skillweave.graph.findings import checkup_among

        return checkup_among(self.graph, self.snapshot)

    @property
    def skills(self) -> int:
        """How many skills the graph has; in a pack those that it only names do not count."""
        listed = self.graph.declared.skills
        return len(listed) if self.snapshot is None else sum(one.id in self.snapshot for one in listed)

    def notes_with_errors(self) -> tuple[str, ...]:
        """The notes, and one more where the graph has errors, so that nobody trusts an answer of it unwarned."""
        errors = sum(problem.level.value == "error" for problem in self.checkup().problems)
        if not errors:
            return self.notes
        return (
            *self.notes,
            f"the graph has {counted(errors, 'error')}; `skillweave graph check {self.name}` says which",
        )


async def open_graph(file: str) -> Opened:
    """The graph of a file or of an installed pack; raises Mistake or InvalidGraph naming the place."""
    if _is_name(file):
        return await _of_pack(_installed(file), file)
    document = document_in(read_named(file, "graph"), "the graph")
    data = document.data or {}
    if "graph" in data:
        from skillweave.sources.pack import Pack

        return await _of_pack(Pack(file), file)
    if "pack" in data:
        raise Mistake(f"pack {file!r} holds no graph; write one under `graph:`, or name another file")
    return Opened(_read(document, file), file, notes=notes_of(document.diagnostics))


def context_of(given: str | None) -> "tuple[MoveContext, tuple[str, ...]]":
    """The moment of `--ctx`, JSON or `@FILE`, with notes about its text; raises Mistake or InvalidGraph."""
    from skillweave.graph.data.context import read_context

    if given is not None and given.startswith("@"):
        named = read_named(given.removeprefix("@"), "context")
    else:
        named = Named("{}" if given is None else given, "--ctx", as_json=True)
    return _shaped(read_context, named, document_in(named, "the context"))


def script_steps(path: str) -> "tuple[Sequence[Step], tuple[str, ...]]":
    """The steps of a script, a list or `steps:` with one, with notes; raises Mistake or InvalidGraph."""
    from skillweave.graph.simulate import read_script

    named = read_named(path, "script")
    return _shaped(read_script, named, _script(named))


def _shaped(
    read: "Callable[[Mapping[str, Any]], T]", named: Named, document: "Document"
) -> "tuple[T, tuple[str, ...]]":
    """What is read of the document, with notes about its text; raises InvalidGraph with file and line."""
    from skillweave.errors import InvalidGraph

    try:
        return read(document.data or {}), notes_of(document.diagnostics)
    except InvalidGraph as error:
        raise InvalidGraph(_located(error, named.name, document.lines)) from None


def _script(named: Named) -> "Document":
    named = replace(named, text=_BEGINNING.sub(r"\1\n", named.text, count=1))
    begin = _LIST.match(named.text)
    if begin is None:
        return document_in(named, "the script")
    # Files are mappings everywhere else, but a script is a list in the first place.
    if named.as_json:
        return document_in(replace(named, text=f'{{"steps": {named.text}}}'), "the script")
    before, after = ("{steps:\n", "\n}") if begin[1] == "[" else ("steps:\n", "")
    return document_in(replace(named, text=f"{before}{named.text}{after}"), "the script", first_line=0)


def _is_name(file: str) -> bool:
    """Whether it can only be the name of a pack: it does not look like a file, and no such file is there."""
    from skillweave.sources.named import pack_names
    from skillweave.sources.names import PACK_SUFFIXES

    path = Path(file)
    if path.name != file or path.suffix.lower() in PACK_SUFFIXES:
        return False
    return file in pack_names() if path.is_dir() else not os.path.lexists(file)


def _installed(name: str) -> "Source":
    from skillweave.sources.named import pack_names, pack_of

    known = pack_names()
    if name not in known:
        packs = ", ".join(known) or "none"
        raise Mistake(f"there is no file {name[:100]!r}, and no installed pack of that name; the packs are: {packs}")
    return pack_of(name)


async def _of_pack(source: "Source", name: str) -> Opened:
    from skillweave.cli.arguments.skills import load
    from skillweave.cli.output.notes import loading_notes
    from skillweave.errors import InvalidGraph
    from skillweave.formats.codes import GRAPH as BROKEN
    from skillweave.graph.graph import Check, SkillGraph
    from skillweave.sources.named import pack_of

    snapshot = (await load([source])).snapshot
    if snapshot.graph is None:
        broken = [one_line(found) for found in snapshot.diagnostics if found.code == BROKEN.name]
        if broken:
            raise InvalidGraph(_together(broken))
        raise Mistake(f"pack {name!r} holds no graph; `skillweave check` looks at its skills")
    graph = SkillGraph.from_dict(snapshot.graph, check=Check.OFF)
    beside = await _beside(graph, snapshot, name)
    if beside:
        snapshot = (await load([source, *map(pack_of, beside)])).snapshot
    notes = tuple(f"skills of the installed pack {one!r} are counted too, as the graph wires them" for one in beside)
    return Opened(graph.with_skills(snapshot.skills), name, snapshot, (*loading_notes(snapshot), *notes))


async def _beside(graph: "SkillGraph", snapshot: "Snapshot", name: str) -> Sequence[str]:
    """The other installed packs that bring skills which the graph wires and its own pack does not have."""
    from skillweave.cli.arguments.skills import load
    from skillweave.sources.named import pack_names, pack_of

    missing = {one.id for one in graph.declared.skills}.difference(snapshot.skills)
    found = []
    for other in pack_names() if missing else ():
        if other != name:
            brings = (await load([pack_of(other)])).snapshot
            if brings.graph is None and not missing.isdisjoint(brings.skills):
                found.append(other)
    return found


def _read(document: "Document", name: str) -> "SkillGraph":
    from skillweave.errors import InvalidGraph
    from skillweave.graph.graph import Check, SkillGraph

    try:
        return SkillGraph.from_dict(document.data or {}, check=Check.OFF)
    except InvalidGraph as error:
        told = [_located(one, name, document.lines) for one in error.mistakes or (error,)]
        raise InvalidGraph(_together(told)) from None


def _located(error: "InvalidGraph", name: str, lines: "Mapping[Keys, int]") -> str:
    from skillweave.diagnostics import Location
    from skillweave.graph.shape import line_of

    return f"{Location(name, line_of(error.place, lines))}: {error}"


def _together(told: Sequence[str]) -> str:
    if len(told) == 1:
        return told[0]
    return f"{len(told)} mistakes: " + " ".join(f"({number}) {one}" for number, one in enumerate(told, start=1))
