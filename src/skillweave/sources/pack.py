"""Skills in one YAML or JSON file, in any spelling (spec 1.2)."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillweave.diagnostics import Location, has_errors
from skillweave.errors import ArtifactNotFound, SourceUnavailable
from skillweave.formats.identity import digest_of_bytes
from skillweave.frontmatter import read_json, read_yaml
from skillweave.frontmatter.codes import NOT_UTF8
from skillweave.registry.shelf import Defined
from skillweave.registry.source import Loaded
from skillweave.skill import Skill
from skillweave.sources import codes
from skillweave.sources.names import expanded, shown
from skillweave.sources.pack_file import PackFile, read_pack
from skillweave.sources.reading import Refused, read_real

SUFFIXES = (".yaml", ".yml", ".json")
"""What the name of a pack ends in."""
MAX_PACK_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PackMemory:
    """What a pack holds beside its skills: its metadata (`pack`), and what is carried unread, by key."""

    digest: str
    metadata: Mapping[str, object] = field(default_factory=dict)
    unread: Mapping[str, object] = field(default_factory=dict)


class Pack:
    """The skills of a pack file: `pack:` metadata, `skills:`, and parts that other components read.

    `name` is what origins and namespaces call it; by default the file's name without its suffix.
    """

    def __init__(self, path: str | os.PathLike[str], *, name: str | None = None) -> None:
        self._path = expanded(Path(path))
        self._absolute = os.path.abspath(self._path)  # noqa: PTH100 - the file stays the named one when the cwd changes
        self._place = shown(self._path.as_posix())
        self._name = shown(name or self._path.stem or self._place)
        self._newest: dict[tuple[str, str], Defined] = {}
        self._defined: dict[tuple[str, str], Defined] = {}

    @property
    def name(self) -> str:
        """What origins call this source."""
        return self._name

    @property
    def watched(self) -> tuple[Path, ...]:
        """The file."""
        return (Path(self._absolute),)

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """The skills in the file's order; a file with the same content as before is not parsed again.

        Raises SourceUnavailable when the file is missing, is no file, cannot be read, or has more than 16 MiB.
        """
        return await asyncio.to_thread(self._load, previous)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The content that the pack has for an artifact; raises ArtifactNotFound."""
        defined = self._defined.get((skill.id, skill.digest))
        if defined is None:
            raise ArtifactNotFound(skill.id, artifact, f"the skill is not one of pack '{self._place}'")
        return await defined.read(skill, artifact)

    def _load(self, previous: Loaded | None) -> Loaded:
        data = self._bytes()
        digest = digest_of_bytes(data)
        memory = previous.memory if previous is not None else None
        if (
            previous is not None
            and isinstance(memory, PackMemory)
            and memory.digest == digest
            and self._holds(previous)
        ):
            return previous
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            message = f"byte {error.start} is no UTF-8 text; an encoding is never guessed"
            bad = NOT_UTF8.found(Location(self._place, line), message, "save the file as UTF-8")
            return Loaded((), (bad,), PackMemory(digest))
        reader = read_json if self._path.suffix.lower() == ".json" else read_yaml
        pack = read_pack(reader(text, path=self._place), path=self._place, source=self._name)
        self._hold(pack)
        memory = PackMemory(digest, pack.metadata, pack.unread)
        skills = tuple(one.skill for one in pack.defined)
        return Loaded(
            skills, pack.findings, memory, pack.events, pack.task_rules, pack.graph, graph_location=pack.graph_location
        )

    def _holds(self, loaded: Loaded) -> bool:
        return all((skill.id, skill.digest) in self._defined for skill in loaded.skills)

    def _hold(self, pack: PackFile) -> None:
        """Keep what was read, after an error also what it does not replace, and what stood there before.

        Until the registry has the answer, and when it never takes it, the skills of before are those in use.
        """
        before = self._newest
        read = {(one.skill.id, one.skill.digest): one for one in reversed(pack.defined)}
        ids = {one.skill.id for one in pack.defined}
        kept = {key: one for key, one in before.items() if key[0] not in ids} if has_errors(pack.findings) else {}
        self._newest = {**kept, **read}
        self._defined = {**before, **self._newest}

    def _bytes(self) -> bytes:
        try:
            return read_real(self._absolute, MAX_PACK_BYTES).data
        except Refused as refused:
            if refused.code is codes.VANISHED:
                raise SourceUnavailable(
                    f"pack '{self._place}' does not exist; create it, or name another one"
                ) from None
            raise SourceUnavailable(f"pack '{self._place}' is not read: {refused.why}; {refused.fix}") from None
