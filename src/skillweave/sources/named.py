"""The Source that a path, a URL, a skill or the name of a pack means."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from skillweave.cachefile import CacheFolder
from skillweave.errors import SkillweaveError
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


SOURCES: Extensions[Callable[..., Source]] = Extensions(
    "sources", "source for", form="{}://", instead="name a folder or a pack file"
)
"""The name is the scheme of a URL, the value a callable that takes the rest of it, and `strictness` by keyword."""
PACKS: Extensions[Callable[[], SkillSource]] = Extensions(
    "packs", "pack", choice="choose from", instead="name a pack file among the skills"
)
"""The value is a function without arguments that gives a path, a skill or a Source."""


def source_of(
    skill: SkillSource,
    strictness: Strictness = Strictness.LENIENT,
    progress: Progress | None = None,
    cache: CacheFolder | None = None,
) -> Source:
    """The Source for whatever names skills; nothing is read yet.

    A plain name is a folder or a pack file; one with a scheme, as in `postgresql://host/skills`, is opened by the
    entry point of that name. `cache` is where a folder keeps what it read. Raises SkillweaveError for a scheme that
    nothing installed can open.
    """
    if isinstance(skill, Skill | Mapping):
        from skillweave.sources.code import InCode

        return InCode(skill)
    if not isinstance(skill, str | os.PathLike):
        return skill
    scheme, separator, rest = skill.partition("://") if isinstance(skill, str) else ("", "", "")
    if separator:
        return SOURCES.make(scheme, lambda opener: opener(rest, strictness=strictness))
    path = Path(skill)
    if path.suffix.lower() in PACK_SUFFIXES and not path.is_dir():
        return open_pack(path, strictness=strictness)
    return Folder(skill, strictness=strictness, progress=progress, cache=cache)


def open_folder(path: str, *, strictness: Strictness) -> Folder:
    """The Source for `folder://path`."""
    return Folder(path, strictness=strictness)


def open_pack(path: str | os.PathLike[str], *, strictness: Strictness) -> "Pack":
    """The Source for `pack://path`, a pack file of any suffix; a pack is always read leniently."""
    from skillweave.sources.pack import Pack

    return Pack(path)


def packs_of(names: Sequence[str]) -> tuple[Source, ...]:
    """The Sources of several packs, each once; raises SkillweaveError like `pack_of`, and for one text."""
    if isinstance(names, str):
        raise SkillweaveError(f"packs are a list of names, not the one text {names[:100]!r}; write [{names[:100]!r}]")
    return tuple(pack_of(name) for name in dict.fromkeys(names))


def pack_of(name: str) -> Source:
    """The Source of the pack of that name; nothing is read yet.

    Raises SkillweaveError when no installed package brings such a pack, or when its package cannot be loaded.
    """
    return source_of(PACKS.make(name, lambda pack: pack()))


def pack_names() -> tuple[str, ...]:
    """The names of all packs that are installed, sorted."""
    return PACKS.names()
