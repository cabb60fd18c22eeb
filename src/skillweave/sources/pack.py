"""Skills in one YAML or JSON file, in any spelling, with its agents, events, rules and graph (spec 1.2)."""

import asyncio
import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import cast

from skillweave.diagnostics import Diagnostic, Location, has_errors
from skillweave.errors import ArtifactNotFound, InvalidGraph, InvalidSkill, SourceUnavailable
from skillweave.events.event import EventType, name_problem
from skillweave.formats.codes import GRAPH
from skillweave.formats.identity import MAX_ID, id_of
from skillweave.formats.spelling import read_any
from skillweave.formats.task_rules import read_task_rules
from skillweave.frontmatter.codes import NOT_UTF8, Code
from skillweave.frontmatter.documents import Document, read_json, read_yaml
from skillweave.frontmatter.yaml_text import Keys, resolved
from skillweave.frozen import as_json
from skillweave.registry.codes import NO_SKILLS
from skillweave.registry.definitions import Defined, lift_contents
from skillweave.registry.source import Loaded
from skillweave.skill import EMPTY, FrozenJson, Json, Skill, freeze_mapping
from skillweave.sources import codes
from skillweave.sources.agents import CHECKPOINT_KEYS, read_agents
from skillweave.sources.agents import KEY as AGENTS
from skillweave.sources.files import Refused
from skillweave.sources.names import expanded, shown
from skillweave.sources.pack_files import PackFiles
from skillweave.sources.phrases import FILE, Phrases, phrases_in, unread_phrases

READ_KEYS = ("pack", "include", "skills", "checkpoints", "agents", "graph", "events", "task_rules", "context")
PART_KEYS = ("skills",)
"""What stands in a file that a pack includes."""
_ARTIFACT_KEYS = ("artifacts", "tier3_artifact_refs")


@dataclass(frozen=True, slots=True)
class PackMemory:
    """A pack's metadata, and the digests of its files by path (empty: its own file; None: unreadable)."""

    digests: Mapping[str, str | None]
    metadata: Mapping[str, object] = field(default_factory=dict)


class Pack:
    """The skills and other parts of a pack file and of what it includes; `name` is used in origins and namespaces."""

    def __init__(self, path: str | os.PathLike[str], *, name: str | None = None) -> None:
        self._path = expanded(Path(path))
        self._absolute = os.path.abspath(self._path)  # noqa: PTH100 - the file stays the named one when the cwd changes
        self._place = shown(self._path.as_posix())
        self._name = shown(name or self._path.stem or self._place)
        self._files: tuple[Path, ...] = (Path(self._absolute),)
        self._newest: dict[tuple[str, str], Defined] = {}
        self._defined: dict[tuple[str, str], Defined] = {}

    @property
    def name(self) -> str:
        """What origins call this source."""
        return self._name

    @property
    def watched(self) -> tuple[Path, ...]:
        """The pack's own file, and after a load those that it names."""
        return self._files

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """The skills in order, then those of included files; only changes are parsed. Raises SourceUnavailable."""
        return await asyncio.to_thread(self._load, previous)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The content that the pack has for an artifact; raises ArtifactNotFound."""
        defined = self._defined.get((skill.id, skill.digest))
        if defined is None:
            raise ArtifactNotFound(skill.id, artifact, f"the skill is not one of pack '{self._place}'")
        return await defined.read(skill, artifact)

    def _load(self, previous: Loaded | None) -> Loaded:
        if previous is not None and isinstance(memory := previous.memory, PackMemory):
            held = all((skill.id, skill.digest) in self._defined for skill in previous.skills)
            if held and PackFiles(self._absolute).unchanged_since(memory.digests):
                return previous
        files = PackFiles(self._absolute)
        try:
            data = files.read_main()
        except Refused as refused:
            why = f"is not read: {refused.why}; {refused.fix}"
            if refused.code is codes.VANISHED:
                why = "does not exist; create it, or name another one"
            raise SourceUnavailable(f"pack '{self._place}' {why}") from None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            return Loaded((), (_not_utf8(data, error, self._place),), PackMemory(files.digests))
        document = _reader_of(self._place)(text, path=self._place)
        defined, loaded = _read_pack(document, self._place, self._name, files)
        phrases = _phrases_beside(files, self._place)
        told = (*loaded.diagnostics, *phrases.findings)
        loaded = replace(loaded, skills=phrases.given_to(loaded.skills), diagnostics=told)
        self._files = files.paths()
        self._hold(defined, has_errors(loaded.diagnostics))
        return loaded

    def _hold(self, defined: Sequence[Defined], broken: bool) -> None:  # noqa: FBT001
        """Keeps what was read, and skills of before that it did not replace: the registry may still use them."""
        before = self._newest
        read = {(one.skill.id, one.skill.digest): one for one in reversed(defined)}
        ids = {one.skill.id for one in defined}
        kept = {key: one for key, one in before.items() if key[0] not in ids} if broken else {}
        self._newest = {**kept, **read}
        self._defined = {**before, **self._newest}


def _phrases_beside(files: PackFiles, place: str) -> Phrases:
    """The phrases in the file beside the pack, none where there is none."""
    try:
        return phrases_in(files.read(FILE), posixpath.join(posixpath.dirname(place), FILE))
    except Refused as refused:
        return Phrases() if refused.code is codes.VANISHED else unread_phrases(refused, FILE)


def _reader_of(path: str) -> Callable[..., Document]:
    return read_json if path.lower().endswith(".json") else read_yaml


def _not_utf8(data: bytes, error: UnicodeDecodeError, path: str) -> Diagnostic:
    line = data.count(b"\n", 0, error.start) + 1
    message = f"byte {error.start} is not UTF-8 text; an encoding is never guessed"
    return NOT_UTF8.found(Location(path, line), message, "save the file as UTF-8")


def _read_pack(document: Document, path: str, source: str, files: PackFiles) -> tuple[tuple[Defined, ...], Loaded]:
    """The pack in a YAML or JSON document; each bad skill is a finding with its place, and the others load."""
    data = document.data
    if data is None:
        return (), Loaded((), document.diagnostics, PackMemory(files.digests))
    reading = _Reading(data, document.lines, path, source, files)
    reading.findings += document.diagnostics
    reading.check_keys()
    reading.checkpoints = reading.named_checkpoints()
    defined = (*reading.definitions(), *reading.included())
    graph = reading.graph() if "graph" in data else None
    agents = read_agents(reading.agents_data(), document.lines, path=path)
    reading.findings += agents.diagnostics
    if not defined and graph is None and not agents.agents and not has_errors(reading.findings):
        fix = "list skills under `skills:`, or name another pack"
        reading.report(NO_SKILLS, (), f"pack '{path}' holds no skill", fix)
    events = reading.event_types()
    rules = read_task_rules(data, document.lines, path=path, source=f"pack {source}")
    context = reading.context() if "context" in data else None
    metadata = data.get("pack")
    return defined, Loaded(
        tuple(one.skill for one in defined),
        (*reading.findings, *rules.diagnostics),
        PackMemory(files.digests, metadata if isinstance(metadata, dict) else {}),
        events,
        rules.rules,
        graph,
        graph_location=None if graph is None else reading.location(("graph",)),
        agents=agents.agents,
        context=context,
    )


@dataclass(slots=True)
class _Reading:
    """One pass over a file of a pack, with its findings; `checkpoints` are those that it describes once, by name."""

    data: Mapping[str, object]
    lines: Mapping[Keys, int]
    path: str
    source: str
    files: PackFiles
    checkpoints: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)

    def location(self, at: Keys) -> Location:
        return Location(self.path, self.lines.get(at))

    def report(self, code: Code, at: Keys, message: str, fix: str, skill: str | None = None) -> None:
        self.findings.append(replace(code.found(self.location(at), message, fix), skill=skill))

    def check_keys(self, known: Sequence[str] = READ_KEYS) -> None:
        where = "a pack" if known is READ_KEYS else "a file that a pack includes"
        for key in self.data:
            if key not in known:
                fix = f"use one of {', '.join(known)}, or remove it"
                self.report(codes.UNKNOWN_PACK_KEY, (key,), f"{key[:60]!r} means nothing at the top of {where}", fix)
        if not isinstance(self.data.get("pack", {}), dict):
            fix = "write `pack:` as keys and values"
            self.report(codes.UNKNOWN_PACK_KEY, ("pack",), "`pack` is not a mapping", fix)

    def named_checkpoints(self) -> Mapping[str, Mapping[str, object]]:
        value = self.data.get("checkpoints")
        if value is None or value == "":
            return {}
        if not isinstance(value, dict):
            fix = "write each as its name, with `asks:`, `reviewer:` and so on below it"
            self.report(codes.BAD_CHECKPOINT, ("checkpoints",), "`checkpoints` is not a mapping", fix)
            return {}
        found: dict[str, Mapping[str, object]] = {}
        for name, entry in value.items():
            if isinstance(entry, dict) and "name" not in entry:
                found[str(name)] = {"name": str(name), **entry}
            else:
                fix = "write keys and values such as `asks:` below its name; the name itself stands only there"
                message = f"checkpoint {str(name)[:60]!r} is not described by keys and values"
                self.report(codes.BAD_CHECKPOINT, ("checkpoints", str(name)), message, fix)
        return found

    def with_checkpoints(self, entry: Mapping[str, object]) -> Mapping[str, object]:
        """The skill or agent with what the pack says of the checkpoints that it only names."""
        filled = {
            key: [self.checkpoints.get(one, one) if isinstance(one, str) else one for one in named]
            for key in CHECKPOINT_KEYS
            if isinstance(named := entry.get(key), list)
        }
        return {**entry, **filled} if filled and self.checkpoints else entry

    def agents_data(self) -> Mapping[str, object]:
        """The pack's data with the checkpoints of its agents filled in."""
        agents = self.data.get(AGENTS)
        if not isinstance(agents, list):
            return self.data
        return {**self.data, AGENTS: [self.with_checkpoints(one) if isinstance(one, dict) else one for one in agents]}

    def included(self) -> Iterator[Defined]:
        names = self.data.get("include") or []
        if not isinstance(names, list):
            fix = "write the files as a list, each with `- `"
            self.report(codes.PACK_FILE, ("include",), "`include` is not a list", fix)
            return
        for index, name in enumerate(names):
            at = ("include", index)
            if not isinstance(name, str) or name in names[:index]:
                what = f"entry {index + 1} of `include` is {_noun(name)}, which is no file or is there already"
                self.report(codes.PACK_FILE, at, what, "name each file once, by its path below the pack's folder")
                continue
            # A finding about the file itself, so that skills that were read of it before stay in use.
            place = Location(posixpath.join(posixpath.dirname(self.path), shown(name)))
            text = self._text_of(name, place)
            if text is not None:
                yield from self._part(name, text, place.path)

    def _part(self, name: str, text: str, path: str) -> Iterator[Defined]:
        document = _reader_of(name)(text, path=path)
        self.findings += document.diagnostics
        if document.data is None:
            return
        part = _Reading(document.data, document.lines, path, self.source, self.files, self.checkpoints, self.findings)
        part.check_keys(PART_KEYS)
        yield from part.definitions()

    def _text_of(self, name: str, place: Location) -> str | None:
        try:
            return self.files.read(name).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            why, fix = f"byte {error.start} is not UTF-8 text", "save it as UTF-8"
        except Refused as refused:
            why = "there is no such file" if refused.code is codes.VANISHED else refused.why
            fix = "check its path, which begins in the pack's folder" if refused.code is codes.VANISHED else refused.fix
        self.findings.append(codes.PACK_FILE.found(place, f"{name[:200]!r} is not read: {why}", fix))
        return None

    def definitions(self) -> Iterator[Defined]:
        for entry, at in self._entries():
            mapping, contents = lift_contents(self._with_files(self.with_checkpoints(entry), at))
            read = read_any(mapping, path=self.path, source=self.source, lines=self.lines, at=at)
            if read.skill is None:
                # With the id that the broken entry would have, its last good version is found.
                name = next((entry[key] for key in ("id", "skill_id", "name") if isinstance(entry.get(key), str)), None)
                id_ = None if name is None else id_of(str(name))[:MAX_ID]
                self.findings += (replace(one, skill=one.skill or id_) for one in read.diagnostics)
                continue
            self.findings += read.diagnostics
            try:
                yield Defined(read.skill).with_contents(contents)
            except InvalidSkill as error:
                self.report(codes.NOT_A_DEFINITION, at, str(error), "correct it", read.skill.id)

    def _with_files(self, entry: Mapping[str, object], at: Keys) -> Mapping[str, object]:
        """The skill with the content of those artifacts that are files; one that cannot be read is left out."""
        filled: dict[str, object] = {}
        for key in _ARTIFACT_KEYS:
            artifacts = entry.get(key)
            if isinstance(artifacts, list) and any(isinstance(one, dict) and "file" in one for one in artifacts):
                read = (self._artifact(one, (*at, key, place)) for place, one in enumerate(artifacts))
                filled[key] = [one for one in read if one is not None]
        return {**entry, **filled} if filled else entry

    def _artifact(self, artifact: object, at: Keys) -> object:
        if not isinstance(artifact, dict) or "file" not in artifact:
            return artifact
        name = artifact["file"]
        rest = {key: value for key, value in artifact.items() if key != "file"}
        if not isinstance(name, str) or "content" in artifact:
            message = "has a `file` and a `content`" if isinstance(name, str) else f"has as its `file` {_noun(name)}"
            self.report(codes.PACK_FILE, at, f"the artifact {message}", "keep one of the two, `file` with a path")
            return None
        text = self._text_of(name, self.location(at))
        return None if text is None else {"id": name, **rest, "content": text}

    def _entries(self) -> Iterator[tuple[Mapping[str, object], Keys]]:
        """The entries of `skills:` that are mappings, each with its keys; the others are reported."""
        skills = self.data.get("skills") or []
        if not isinstance(skills, list):
            fix = "write the skills as a list, each with `- `"
            self.report(codes.NOT_A_DEFINITION, ("skills",), "`skills` is not a list", fix)
            return
        for index, entry in enumerate(skills):
            at = ("skills", index)
            if isinstance(entry, dict):
                yield entry, at
            else:
                message = f"entry {index + 1} of `skills` is no skill but {_noun(entry)}"
                self.report(codes.NOT_A_DEFINITION, at, message, "write the skill as keys and values, `id:` first")

    def graph(self) -> Mapping[str, object] | None:
        """The skill graph in its data form; None if there is none or it has a mistake, which costs all of it."""
        # Few packs have a graph, and the modules that read one take long to import.
        from skillweave.graph.data.codec import read_graph, write_graph
        from skillweave.graph.shape import line_of

        value = self.data["graph"]
        if resolved(value) in (None, "", {}):
            return None
        try:
            data = write_graph(read_graph(cast("Mapping[str, object]", value), place="graph"))
        except InvalidGraph as error:
            for one in error.mistakes or (error,):
                location = Location(self.path, line_of(one.place or "graph", self.lines))
                fix = one.fix or "correct it; until then the skills load without the graph"
                self.findings.append(GRAPH.found(location, str(one).removesuffix(f"; {one.fix}"), fix))
            return None
        return freeze_mapping(cast("dict[str, Json]", data))

    def context(self) -> Mapping[str, object] | None:
        """What is said about entity context, in its data form; None where nothing is."""
        # Few packs say anything about it, and the modules that read it take long to import.
        from skillweave.sources.context import read_context

        read = read_context(self.data, self.lines, path=self.path)
        self.findings += read.diagnostics
        return None if read.rules is None else freeze_mapping(read.rules.to_dict())

    def event_types(self) -> Mapping[str, EventType]:
        """The event types by name; with a broken schema no payload passes, without one any object does."""
        value = self.data.get("events")
        if value is None or value == "":
            return MappingProxyType({})
        if not isinstance(value, Mapping):
            fix = "write each event as its name and the JSON Schema of its payload"
            self.report(codes.BAD_EVENT, ("events",), "`events` is not a mapping", fix)
            return MappingProxyType({})
        types = (self._event_type(str(name), declaration) for name, declaration in value.items())
        return MappingProxyType({event_type.name: event_type for event_type in types if event_type is not None})

    def _event_type(self, name: str, declaration: object) -> EventType | None:
        at = ("events", name)
        problem = name_problem(name)
        if problem is not None:
            self.report(codes.BAD_EVENT, at, f"{name[:60]!r} {problem}", "give the event another name")
            return None
        schema = self._schema(name, declaration)
        description = None if schema is None else schema.get("description")
        return EventType(
            name,
            description if isinstance(description, str) else "",
            False if schema is None else schema,
            self.location(at),
        )

    def _schema(self, name: str, declaration: object) -> Mapping[str, FrozenJson] | None:
        typed = resolved(declaration)
        if typed is None:
            return EMPTY
        try:
            schema = as_json(typed)
            problem = "" if isinstance(schema, dict) else "is not a mapping"
        except ValueError as error:
            schema, problem = None, f"holds {error}"
        if isinstance(schema, dict):
            return freeze_mapping(schema)
        fix = "write the JSON Schema of an object, or nothing where any object will do"
        message = f"the schema of event {name!r} {problem}; no payload passes it"
        self.report(codes.BAD_EVENT, ("events", name), message, fix)
        return None


def _noun(entry: object) -> str:
    if entry is None or entry == "":
        return "empty"
    return "a list" if isinstance(entry, list) else f"the value {str(entry)[:60]!r}"
