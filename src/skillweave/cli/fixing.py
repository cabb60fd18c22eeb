"""`check --fix`: the files that can be mended without thinking, as a diff or written back, each whole or not at all."""

import difflib
import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from skillweave.cli.output.skills import FileFixed
from skillweave.formats.mending import Mended, mend_skill_md
from skillweave.frontmatter.codes import MAX_FILE_BYTES
from skillweave.registry import Snapshot
from skillweave.sources.files import Refused, is_inside, read_plain
from skillweave.sources.tree import SKILL_FILES


def fix_files(
    snapshot: Snapshot, roots: Sequence[str], *, write: bool
) -> tuple[tuple[FileFixed, ...], tuple[str, ...]]:
    """The files of these folders that can be mended, written back where `write` says so; and why some were not."""
    fixed: list[FileFixed] = []
    notes: list[str] = []
    named = _named_by_others(snapshot)
    for path in _skill_files(snapshot):
        place = Path(path)
        if not _is_own(place, roots):
            continue
        try:
            data = read_plain(path, MAX_FILE_BYTES).data
        except Refused:
            continue  # loading said why
        mended = mend_skill_md(data, folder=place.absolute().parent.name, rename=path not in named)
        if not mended.changes:
            continue
        if write and (why := _written(place, data, mended)):
            notes.append(f"{path} is not fixed: {why}")
            continue
        old, new = (content.decode("utf-8").split("\n") for content in (data, mended.data))
        diff = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="")
        fixed.append(FileFixed(path, mended.changes, "".join(f"{line}\n" for line in diff)))
    return tuple(fixed), tuple(notes)


def _named_by_others(snapshot: Snapshot) -> frozenset[str]:
    """The files of skills whose ids stand in relations, in task rules or in a skill graph: their names must stay."""
    names = {rule.skill for skill in snapshot.values() for rule in skill.relations}
    names |= {name for rule in snapshot.task_rules for name in rule.skills}
    if snapshot.graph is not None:
        names |= set(snapshot)
    return frozenset(skill.origin.location for skill in snapshot.values() if skill.id in names and skill.origin)


def _skill_files(snapshot: Snapshot) -> list[str]:
    loaded = (skill.origin.location for skill in (*snapshot.values(), *snapshot.shadowed) if skill.origin)
    skipped = (found.location.path for found in snapshot.diagnostics if found.location)
    return sorted({path for path in (*loaded, *skipped) if Path(path).name in SKILL_FILES})


def _is_own(path: Path, roots: Iterable[str]) -> bool:
    """Whether the file stands in one of the folders, reached by no link on the way there."""
    for root in roots:
        folder = Path(root).expanduser()
        folder = folder.parent if folder.name in SKILL_FILES else folder
        real, wanted = os.path.realpath(path), os.path.realpath(folder)
        if is_inside(real, wanted) and os.path.relpath(path, folder) == os.path.relpath(real, wanted):
            return True
    return False


def _written(path: Path, before: bytes, mended: Mended) -> str:
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        mode = stat.S_IMODE(path.lstat().st_mode)
        with beside.open("xb") as file:
            file.write(mended.data)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        if read_plain(str(path), MAX_FILE_BYTES).data != before:
            return "it was changed meanwhile; run the command again"
        beside.replace(path)
    except Refused as refused:
        return f"{refused.why}; {refused.fix}"
    except OSError as error:
        return f"{error.strerror or error}; check that it is yours"
    finally:
        beside.unlink(missing_ok=True)
    return ""
