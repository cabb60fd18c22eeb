"""An Agent Plugin of any source's skills, which strict clients take whole (Agent Plugins 1.0)."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillweave import Diagnostic, Severity, Skill, SkillweaveError
from skillweave.errors import ArtifactNotFound
from skillweave.registry import Package, Packaged, Snapshot
from skillweave.skills import Strictness, read_skill_md, to_strict_skill_md
from skillweave.values import Portable, read_front_matter
from skillweave_mcp.entries import SKILL_FILE

SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
_MOST_NAME = 64


@dataclass(frozen=True, slots=True)
class Exported(Portable):
    """What was written: the skills by the names that they have there, those that were rewritten, and what is missing.

    A skill is rewritten where the open format has no place for something in it: that stands under its `metadata` then.
    """

    folder: str
    skills: tuple[str, ...]
    rewritten: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


async def export_plugin(snapshot: Snapshot, folder: Path) -> Exported:
    """Writes the selectable skills to a new plugin at `folder`, which is called like it.

    Raises SkillweaveError for a folder that is not empty or cannot be written.
    """
    await asyncio.to_thread(_require_new, folder)
    written: dict[str, bool] = {}
    findings: list[Diagnostic] = []
    for skill in snapshot.active():
        try:
            files = await _files(snapshot, skill)
        except (ArtifactNotFound, _NotWhole) as error:
            findings.append(_left_out(skill, str(error)))
            continue
        name, as_it_is = _named(skill, files)
        if name in written:
            findings.append(_left_out(skill, f"another skill is called {name!r} there"))
            continue
        definition = files[SKILL_FILE] if as_it_is else to_strict_skill_md(skill).encode()
        await asyncio.to_thread(_write, folder / "skills" / name, {**files, SKILL_FILE: definition})
        written[name] = not as_it_is
    manifest = {"$schema": SCHEMA, "name": _plugin_name(folder)}
    await asyncio.to_thread(_write, folder, {"plugin.json": f"{json.dumps(manifest, indent=2)}\n".encode()})
    rewritten = tuple(sorted(name for name, changed in written.items() if changed))
    return Exported(str(folder), tuple(sorted(written)), rewritten, tuple(findings))


class _NotWhole(Exception):
    """A folder whose files cannot all be handed on."""


async def _files(snapshot: Snapshot, skill: Skill) -> dict[str, bytes]:
    """All files of the skill; of one that is no folder its artifacts, and no SKILL.md."""
    offer = snapshot.offers[skill.id]
    if isinstance(offer.reader, Packaged):
        package: Package | None = (await offer.reader.packages([offer.given], {})).get(offer.given.id)
        if package is not None:
            if package.manifest is None:
                raise _NotWhole(package.findings[0].message)
            paths = [one.path for one in package.manifest.files]
            return {path: await offer.reader.read_file(offer.given, path) for path in paths}
    return {ref.id: await offer.reader.read(offer.given, ref.id) for ref in offer.given.artifacts}


def _named(skill: Skill, files: Mapping[str, bytes]) -> tuple[str, bool]:
    """The skill's name in the plugin, and whether its SKILL.md may stay as it is."""
    stated = str(skill.spelling or skill.id)
    data = files.get(SKILL_FILE)
    if data is not None:
        read = read_skill_md(data, path=skill.id, folder=stated, source="", strictness=Strictness.STRICT)
        if read.skill is not None:
            return stated, True
    front = read_front_matter(to_strict_skill_md(skill).encode(), path=skill.id).fields or {}
    return str(front["name"]), False


def _plugin_name(folder: Path) -> str:
    name = re.sub("[^a-z0-9.]+", "-", folder.resolve().name.lower())
    return re.sub(r"-{2,}|\.{2,}", "-", name)[:_MOST_NAME].strip("-.") or "plugin"


def _require_new(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SkillweaveError(f"'{folder}' is there already and is not empty; name a new folder for the plugin")


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    try:
        for path, data in files.items():
            target = folder.joinpath(*path.split("/"))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    except OSError as error:
        raise SkillweaveError(f"'{folder}' cannot be written: {error.strerror}; check its rights") from None


def _left_out(skill: Skill, why: str) -> Diagnostic:
    message = f"skill {skill.id!r} is not in the plugin: {why}"
    place = skill.origin.location if skill.origin else None
    fix = f"correct {place}, or export without it" if place else "correct the skill, or export without it"
    return Diagnostic("plugin-left-out", Severity.WARNING, message, fix, skill.id)
