"""The Source that a path, a URL, a skill or the name of a pack means."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from skillweave.cachefile import CacheFolder
from skillweave.checking import Checked, shown
from skillweave.errors import InvalidValue
from skillweave.extensions import Extensions
from skillweave.formats.strictness import Strictness
from skillweave.registry import Source
from skillweave.skill import Json, Skill
from skillweave.sources.folder import Folder
from skillweave.sources.names import PACK_SUFFIXES

if TYPE_CHECKING:
    from skillweave.sources.pack import Pack

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many files were looked at, and how many there are."""
SkillSource: TypeAlias = str | os.PathLike[str] | Source | Skill | Mapping[str, Json]
"""A folder, a SKILL.md, a pack file, the URL of a source, a Source, or a skill itself."""


_COMMAND = re.compile(r"(mcp\+stdio)(:)(?://)?(.*)", re.DOTALL)
"""The one scheme behind which a command stands in place of an address."""

SOURCES: Extensions[Callable[..., Source]] = Extensions(
    "sources",
    "source for",
    form="{}://",
    instead="name a folder or a pack file",
    built_in={
        "folder": "skillweave.sources.named:open_folder",
        "pack": "skillweave.sources.named:open_pack",
    },
    satellites={
        **dict.fromkeys(("postgres", "postgresql", "sqlite"), "skillweave-stores"),
        "trusted": "skillweave-trust",
        **dict.fromkeys(("mcp+http", "mcp+https", "mcp+stdio"), "skillweave-mcp"),
    },
)
"""The name is the scheme of a URL, the value a callable that takes the rest of it, and `strictness` by keyword."""
PACKS: Extensions[Callable[[], SkillSource]] = Extensions(
    "packs",
    "pack",
    choice="choose from",
    instead="name a pack file among the skills",
    built_in={
        "coding": "skillweave.packs:coding",
        "coding-pipeline": "skillweave.packs:coding_pipeline",
        "support-triage": "skillweave.packs:support_triage",
    },
    satellites=dict.fromkeys(("texas-rrc", "texas-rrc-rule37"), "skillweave-texas-rrc"),
)
"""The value is a function without arguments that gives a path, a skill or a Source."""


def source_of(
    skill: SkillSource,
    strictness: Strictness = Strictness.LENIENT,
    progress: Progress | None = None,
    cache: CacheFolder | None = None,
) -> Source:
    """The unread Source for a path, a URL whose scheme an entry point opens, or a skill. Raises InvalidValue."""
    if isinstance(skill, Skill | Mapping):
        from skillweave.sources.code import InCode

        return InCode(skill)
    if not isinstance(skill, str | os.PathLike):
        return skill if callable(getattr(skill, "load", None)) else _refused(skill)
    if not os.fspath(skill):
        raise InvalidValue("the path of the skills is empty; give a folder or a file, or '.' for the current folder")
    scheme, separator, rest = skill.partition("://") if isinstance(skill, str) else ("", "", "")
    if isinstance(skill, str) and (command := _COMMAND.fullmatch(skill)):
        scheme, separator, rest = command.groups()
    if separator:
        return SOURCES.make(scheme, lambda opener: opener(rest, strictness=strictness))
    path = Path(skill)
    if path.suffix.lower() in PACK_SUFFIXES and not path.is_dir():
        return open_pack(path, strictness=strictness)
    return Folder(skill, strictness=strictness, progress=progress, cache=cache)


def _refused(skill: object) -> NoReturn:
    several = isinstance(skill, Iterable) and not isinstance(skill, bytes)
    wanted = "several by themselves: open(*skills)" if several else "a folder, a file, a Source, a Skill or a mapping"
    raise InvalidValue(f"skills are given as {shown(skill)}; give {wanted}")


def open_folder(path: str, *, strictness: Strictness) -> Folder:
    """The Source for `folder://path`."""
    return Folder(path, strictness=strictness)


def open_pack(path: str | os.PathLike[str], *, strictness: Strictness) -> "Pack":
    """The Source for `pack://path`, a pack file of any suffix; a pack is always read leniently."""
    from skillweave.sources.pack import Pack

    return Pack(path)


def packs_of(names: Sequence[str]) -> tuple[Source, ...]:
    """The Sources of several packs, each once; raises SkillweaveError like `pack_of`, InvalidValue for one text."""
    several = Checked("skillweave.open").texts("packs", names, "coding")
    return tuple(pack_of(name) for name in dict.fromkeys(several))


def pack_of(name: str) -> Source:
    """The Source of the pack of that name, not read yet. Raises SkillweaveError if no package brings it."""
    return source_of(PACKS.make(name, lambda pack: pack()))


def pack_names() -> tuple[str, ...]:
    """The names of all packs that are installed, sorted."""
    return PACKS.names()
