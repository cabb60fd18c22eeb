"""What a folder source remembers of a load, in the process and on disk, so that the next reads only what changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from skillweave.cachefile import CacheFolder, code_key, key_of
from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.packed import Unpackable, pack, unpack
from skillweave.registry.source import Loaded
from skillweave.skill import (
    ArtifactRef,
    Checkpoint,
    CheckpointScope,
    Origin,
    OutputContract,
    Relation,
    RelationKind,
    RuleList,
    Skill,
    SkillText,
    Status,
    ToolRules,
    Triggers,
)
from skillweave.sources.files import Mark, changed_among
from skillweave.sources.tree import NONE, Artifacts, LeftOut, Listing


@dataclass(frozen=True, slots=True)
class Unit:
    """What one skill folder gave; `mark` is that of its skill file at `path`, None where it has to be read again."""

    path: str
    mark: Mark | None
    skill: Skill | None
    findings: tuple[Diagnostic, ...] = ()
    artifacts: Artifacts = NONE


@dataclass(frozen=True, slots=True)
class Memory:
    """What was seen at the last load; `probes` are the marks that can be trusted, `complete` if all can.

    `findings` are those about the folders, not about a unit.
    """

    root: str = ""
    listings: Mapping[str, Listing] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)
    probes: tuple[tuple[str, Mark], ...] = ()
    complete: bool = False
    sizes: tuple[tuple[str, int], ...] = ()
    findings: tuple[Diagnostic, ...] = ()

    def changed(self, root: str) -> set[str] | None:
        """The paths that are not as they were; None when this is the memory of another folder."""
        return changed_among(self.probes) if root == self.root else None

    def loaded(self) -> Loaded:
        """What the source answers, with this memory for its next load."""
        units = self.units.values()
        findings = (*(finding for unit in units for finding in unit.findings), *self.findings)
        return Loaded(tuple(unit.skill for unit in units if unit.skill is not None), findings, self)


def memory_of(
    root: str, listings: Mapping[str, Listing], units: Mapping[str, Unit], findings: tuple[Diagnostic, ...]
) -> Memory:
    """The memory of one load."""
    marks = [(path, listing.mark) for path, listing in listings.items()]
    marks += [(unit.path, unit.mark) for unit in units.values()]
    probes = tuple((path, mark) for path, mark in marks if mark is not None)
    sizes = tuple(size for unit in units.values() for size in unit.artifacts.sizes)
    return Memory(root, listings, units, probes, len(probes) == len(marks), sizes, findings)


KIND = "folder"
_CODE = (
    "cachefile",
    "packed",
    "skill",
    "frozen",
    "diagnostics",
    "formats",
    "frontmatter",
    "sources",
    "registry/source",
)
"""What decides how skill files are read and kept."""
CLASSES = (
    *(Skill, Triggers, SkillText, OutputContract, ToolRules, Relation, Checkpoint, ArtifactRef, Origin),
    *(Status, RelationKind, RuleList, CheckpointScope, Severity, Diagnostic, Location),
    *(Unit, Artifacts, LeftOut, Listing),
)
_LENGTH = 8
_ELSEWHERE = Listing(None)


def kept_memory(cache: CacheFolder, *reading: str) -> Memory | None:
    """The memory that was kept last of a folder that is read in this way; None where there is none."""
    content = cache.read(KIND, _key(reading))
    if content is None:
        return None
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    try:
        # Any other value than was packed fails below, or holds for no file.
        root, listings, units, findings = unpack(content[_LENGTH:end], content[end:], CLASSES)
        # An artifact's listing is the very one of its folder: that it still is, is how a change shows.
        return memory_of(root, listings, {name: _relinked(unit, listings) for name, unit in units}, findings)
    except (Unpackable, LookupError, TypeError, ValueError, AttributeError):
        return None


def keep_memory(cache: CacheFolder, memory: Memory, *reading: str) -> None:
    """Keep the memory of a folder, in place of what was kept of it."""
    units = tuple((name, _unlinked(unit)) for name, unit in memory.units.items())
    try:
        data, texts = pack((memory.root, memory.listings, units, memory.findings), CLASSES)
    except (Unpackable, ValueError):
        return
    cache.write(KIND, _key(reading), (len(data).to_bytes(_LENGTH, "little"), data, texts))


def _key(reading: tuple[str, ...]) -> bytes:
    return key_of(code_key(*_CODE), *reading)


def _unlinked(unit: Unit) -> Unit:
    """The unit without the listings of its artifacts' folders, which the memory has already."""
    listings = tuple((path, _ELSEWHERE) for path, _ in unit.artifacts.listings)
    return replace(unit, artifacts=replace(unit.artifacts, listings=listings)) if listings else unit


def _relinked(unit: Unit, listings: Mapping[str, Listing]) -> Unit:
    artifacts = unit.artifacts
    if not artifacts.listings:
        return replace(unit, artifacts=NONE) if artifacts == NONE else unit
    return replace(
        unit, artifacts=replace(artifacts, listings=tuple((path, listings[path]) for path, _ in artifacts.listings))
    )
