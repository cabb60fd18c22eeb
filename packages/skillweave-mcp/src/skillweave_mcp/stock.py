"""The files of a weaver's skills, read only as far as they changed: from snapshot to shelf."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from skillweave import Diagnostic, Skill, Weaver
from skillweave.errors import ArtifactNotFound
from skillweave.manifest import Manifest, ManifestFile, sha256_of
from skillweave.registry import Package, Packaged, Reader, Snapshot
from skillweave.skills import to_strict_skill_md
from skillweave_mcp.entries import SKILL_FILE, Served, Shelf, serve, shelve

FRESH_SECONDS = 1.0
"""How long a shelf counts as new: the files are looked at again by whoever asks after it."""


@dataclass(frozen=True, slots=True)
class _Stocked:
    """What became of one skill, and from what: it is made again only where one of these is another."""

    skill: Skill
    package: Package
    served: Served | Diagnostic


@dataclass(slots=True)
class Stock:
    """The shelf of one weaver; for one event loop."""

    weaver: Weaver
    _stocked: dict[str, _Stocked] = field(default_factory=dict)
    _shelf: Shelf = field(default_factory=Shelf)
    _snapshot: Snapshot | None = None
    _until: float = 0.0
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def shelf(self) -> Shelf:
        """Returns what is served now; one look a second at most, for all who ask. Raises SourceUnavailable."""
        async with self._looking:
            loop = asyncio.get_running_loop()
            if loop.time() < self._until:
                return self._shelf
            snapshot = await self.weaver.skills.snapshot()
            packages = await _packages(snapshot, self._stocked)
            stocked = {one: await self._stock(snapshot, one, package) for one, package in packages.items()}
            if snapshot is not self._snapshot or any(stocked[one] is not self._stocked.get(one) for one in stocked):
                self._shelf = shelve([one.served for one in stocked.values()])
                self._stocked, self._snapshot = stocked, snapshot
            self._until = loop.time() + FRESH_SECONDS
            return self._shelf

    async def refresh(self) -> bool:
        """Reads the sources again; returns whether anything that is served is different."""
        before = self._shelf
        await self.weaver.skills.refresh()
        self._until = 0.0
        return await self.shelf() is not before

    async def read(self, served: Served, path: str) -> bytes | None:
        """Returns the bytes of a file as they are now, None where the skill has no such file."""
        listed = served.manifest.file(path)
        if listed is None:
            return None
        snapshot = await self.weaver.skills.snapshot()
        offer = snapshot.offers.get(served.skill.id)
        stocked = self._stocked.get(served.skill.id)
        if offer is None or stocked is None or offer.skill != served.skill:
            return None
        try:
            data = await _content(offer.reader, offer.given, path, stocked.package)
        except ArtifactNotFound:
            self._until = 0.0
            return None
        if sha256_of(data) != listed.sha256:
            self._until = 0.0  # whoever asks next gets the entry that fits
        return data

    async def _stock(self, snapshot: Snapshot, skill_id: str, package: Package) -> _Stocked:
        known, offer = self._stocked.get(skill_id), snapshot.offers[skill_id]
        if known is not None and known.skill == offer.skill and known.package.manifest == package.manifest:
            return known if known.package.memory is package.memory else replace(known, package=package)
        if package.manifest is None:
            return _Stocked(offer.skill, package, package.findings[0])
        try:
            data = await _content(offer.reader, offer.given, SKILL_FILE, package)
        except ArtifactNotFound:
            data = b""  # gone, or called skill.md: the finding says so
        return _Stocked(offer.skill, package, serve(offer.skill, data, package.manifest))


_COMPOSED = object()
"""The memory of packages that are written here, of skills that are no folders of files."""


async def _content(reader: Reader, given: Skill, path: str, package: Package) -> bytes:
    """A file of the skill; raises ArtifactNotFound."""
    if package.memory is not _COMPOSED and isinstance(reader, Packaged):
        return await reader.read_file(given, path)
    return to_strict_skill_md(given).encode() if path == SKILL_FILE else await reader.read(given, path)


async def _packages(snapshot: Snapshot, stocked: Mapping[str, _Stocked]) -> dict[str, Package]:
    """The files of every selectable skill by id: from its source where it has them, else as they are written here."""
    asked: dict[int, tuple[Packaged, list[str]]] = {}
    for skill in snapshot.active():
        reader = snapshot.offers[skill.id].reader
        if isinstance(reader, Packaged):
            asked.setdefault(id(reader), (reader, []))[1].append(skill.id)
    found: dict[str, Package] = {}
    for packaged, ids in asked.values():
        given = [snapshot.offers[one].given for one in ids]
        known = {
            snapshot.offers[one].given.id: stocked[one].package
            for one in ids
            if one in stocked and stocked[one].package.memory is not _COMPOSED
        }
        answered = await packaged.packages(given, known)
        found |= {one: answered[it.id] for one, it in zip(ids, given, strict=True) if it.id in answered}
    return {skill.id: found.get(skill.id) or await _composed(snapshot, skill, stocked) for skill in snapshot.active()}


async def _composed(snapshot: Snapshot, skill: Skill, stocked: Mapping[str, _Stocked]) -> Package:
    """The files of a skill from a pack, a database or code: a SKILL.md that says the same, and its artifacts."""
    known = stocked.get(skill.id)
    if known is not None and known.skill == skill and known.package.memory is _COMPOSED:
        return known.package
    offer = snapshot.offers[skill.id]
    data = to_strict_skill_md(offer.given).encode()
    files = [ManifestFile(SKILL_FILE, sha256_of(data), len(data))]
    for ref in offer.given.artifacts:
        if ref.content_hash is not None:
            files.append(ManifestFile(ref.id, ref.content_hash, ref.size))
        else:
            content = await offer.reader.read(offer.given, ref.id)
            files.append(ManifestFile(ref.id, sha256_of(content), len(content)))
    return Package(Manifest(tuple(files)), (), _COMPOSED)
