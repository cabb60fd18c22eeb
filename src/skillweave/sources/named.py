"""The Source that something stands for: a path, a definition, or a Source itself."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from skillweave.formats.skill_md import Strictness
from skillweave.registry import Source
from skillweave.skill import Json, Skill
from skillweave.sources.code import InCode
from skillweave.sources.folder import Folder
from skillweave.sources.pack import SUFFIXES, Pack

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many files were looked at, and how many there are."""
SkillSource: TypeAlias = str | os.PathLike[str] | Source | Skill | Mapping[str, Json]
"""A folder, a SKILL.md, a pack file, a Source, or a skill itself."""


def source_of(skill: SkillSource, strictness: Strictness, progress: Progress | None = None) -> Source:
    """The Source for whatever names skills; nothing is read yet."""
    if isinstance(skill, Skill | Mapping):
        return InCode(skill)
    if not isinstance(skill, str | os.PathLike):
        return skill
    path = Path(skill)
    if path.suffix.lower() in SUFFIXES and not path.is_dir():
        return Pack(path)
    return Folder(skill, strictness=strictness, progress=progress)
