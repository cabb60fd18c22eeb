"""Writing back into a SKILL.md what reading it repairs in memory, and nothing else: every other byte stays."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from skillweave.diagnostics import Severity
from skillweave.formats import codes
from skillweave.formats.fields import SkillRead
from skillweave.formats.near_keys import right_key
from skillweave.formats.open_spec import join_tools, name_fault
from skillweave.formats.skill_md import ALLOWED_TOOLS, read_skill_md, to_skill_md
from skillweave.frontmatter.codes import NO_FRONT_MATTER, REPAIRED
from skillweave.frontmatter.documents import FrontMatter, quote_value, read_front_matter
from skillweave.frontmatter.yaml_text import write_yaml
from skillweave.skill import Skill

_FENCE = re.compile(r"---[ \t]*")
_BOM = "\ufeff"
_OTHER_BREAK = re.compile("[\r\x85\u2028\u2029]")
"""Where YAML begins a new line and an editor may not: lines after it have other numbers in what was read."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A file as it should be, and in a few words what was changed; the same bytes and no words where nothing was."""

    data: bytes
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Edit:
    """A changed text; `renames` where the skill gets another id by it, `reveals` where a field is read from then on."""

    text: str
    change: str
    renames: bool = False
    reveals: bool = False


def mend_skill_md(data: bytes, *, folder: str, rename: bool = True) -> Mended:
    """The bytes of a SKILL.md in that folder with repairs written down, but none that makes it say something else."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Mended(data)
    changes: list[str] = []
    naming = (_name,) if rename else ()
    mends = (_plain_text, _with_front_matter, _plain_fences, _quoted, _keys, *naming, _tools)

    def edits() -> Iterator[_Edit]:
        for mend in mends:
            yield from _sound(mend(text, folder), text, folder)

    # From the first one again after each edit: one may make room for another that was unsound before.
    while (edit := next(edits(), None)) is not None:
        text = edit.text
        changes.append(edit.change)
    return Mended(text.encode(), tuple(changes)) if changes else Mended(data)


def _sound(edits: Iterator[_Edit], text: str, folder: str) -> Iterator[_Edit]:
    """The edits that change something, and after which the file still says the same."""
    before = _read(text, folder)
    for edit in edits:
        if edit.text == text:
            continue
        after = _read(edit.text, folder)
        if _errors(after) > _errors(before) or (after.skill is None and before.skill is not None):
            continue
        if edit.reveals or before.skill is None or _told(before.skill, edit) == _told(after.skill, edit):
            yield edit


def _told(skill: Skill | None, edit: _Edit) -> Skill | None:
    """What a skill says, without what the edit is meant to change."""
    if skill is None:
        return None
    skill = replace(skill, digest="")
    return replace(skill, id="x", name="", spelling=None) if edit.renames else skill


def _errors(read: SkillRead) -> int:
    return sum(found.severity is Severity.ERROR for found in read.diagnostics)


def _read(text: str, folder: str) -> SkillRead:
    return read_skill_md(text.encode(), path="", folder=folder, source="")


def _front(text: str) -> FrontMatter:
    return read_front_matter(text.encode(), path="")


def _plain_text(text: str, _: str) -> Iterator[_Edit]:
    yield _Edit(text.removeprefix(_BOM), "the byte order mark is gone")
    yield _Edit(text.replace("\r\n", "\n"), "lines end in LF")


def _with_front_matter(text: str, folder: str) -> Iterator[_Edit]:
    if any(found.code == NO_FRONT_MATTER.name for found in _front(text).diagnostics):
        skill = _read(text, folder).skill
        if skill is not None:
            yield _Edit(to_skill_md(skill), "front matter from the folder's name, the heading and the first paragraph")


def _plain_fences(text: str, _: str) -> Iterator[_Edit]:
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    fences = _fences(lines)
    if fences is None:
        return
    for number in fences:
        lines[number] = "---"
    yield _Edit("\n".join(lines[first:]), "the fences are lines of `---` alone, the first at the start of the file")


def _quoted(text: str, _: str) -> Iterator[_Edit]:
    lines = text.split("\n")
    fences = _fences(lines)
    if fences is None:
        return
    first, last = fences[0] + 1, fences[1]
    for found in _front(text).diagnostics:
        if found.code == REPAIRED.name and found.line is not None:
            quoted = quote_value("\n".join(lines[first:last]), found.line - first)
            if quoted is not None:
                whole = [*lines[:first], quoted.text, *lines[last:]]
                yield _Edit("\n".join(whole), f"the value of `{quoted.key}` is in quotes")


def _keys(text: str, folder: str) -> Iterator[_Edit]:
    front = _front(text)
    misspelled = [found for found in _read(text, folder).diagnostics if found.code == codes.MISSPELLED_KEY.name]
    for key in front.fields or ():
        line, meant = front.lines.get((key,)), right_key(key, front.fields or ())
        if meant is None or line is None or line not in (found.line for found in misspelled):
            continue
        lines = text.split("\n")
        if _fences(lines) is None:
            return
        written = lines[line - 1]
        if written.startswith(f"{key}:"):
            lines[line - 1] = f"{meant}{written.removeprefix(key)}"
            yield _Edit("\n".join(lines), f"the key `{key}` is `{meant}` now", reveals=True)


def _name(text: str, folder: str) -> Iterator[_Edit]:
    front = _front(text)
    if front.fields is None or name_fault(folder) is not None or not folder:
        return
    found = {one.code for one in _read(text, folder).diagnostics}
    if "name" in front.fields and codes.NAME_DIFFERS.name in found:
        stated = str(front.fields["name"])
        change = f"the name is {folder!r} like its folder, and was {stated!r}"
        yield from _with_value(text, front, "name", folder, change)
    elif "name" not in front.fields:
        lines = text.split("\n")
        fences = _fences(lines)
        if fences is not None:
            lines.insert(fences[0] + 1, write_yaml({"name": folder}).rstrip("\n"))
            yield _Edit("\n".join(lines), f"the name is {folder!r} like its folder")


def _tools(text: str, folder: str) -> Iterator[_Edit]:
    read, front = _read(text, folder), _front(text)
    respelled = any(found.code == codes.TOOLS_RESPELLED.name for found in read.diagnostics)
    if respelled and read.skill is not None and read.skill.tools is not None:
        tools = join_tools(read.skill.tools.preapproved)
        if tools is not None:
            yield from _with_value(text, front, ALLOWED_TOOLS, tools, f"`{ALLOWED_TOOLS}` is one text with spaces")


def _with_value(text: str, front: FrontMatter, key: str, value: str, change: str) -> Iterator[_Edit]:
    """The text with another value at a key at the top; nothing where a comment stands in the old one."""
    lines = text.split("\n")
    fences = _fences(lines)
    line = front.lines.get((key,))
    if line is None or fences is None:
        return
    others = [other - 1 for keys, other in front.lines.items() if len(keys) == 1 and other > line]
    end = min([*others, fences[1]])
    while not lines[end - 1].strip():
        end -= 1
    if any("#" in old for old in lines[line - 1 : end]):
        return
    lines[line - 1 : end] = [write_yaml({key: value}).rstrip("\n")]
    yield _Edit("\n".join(lines), change, renames=key == "name")


def _fences(lines: list[str]) -> tuple[int, int] | None:
    """Where the two fences stand, counted from 0; None without front matter, and where its lines cannot be counted."""
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None or not _FENCE.fullmatch(lines[first]):
        return None
    last = next((number for number in range(first + 1, len(lines)) if _FENCE.fullmatch(lines[number])), None)
    if last is None or any(map(_OTHER_BREAK.search, lines[first:last])):
        return None
    return first, last
