"""`skillweave init`: a new skill; its name checked, its text made, its folder written whole or not at all."""

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated
from unicodedata import combining, normalize

import typer

from skillweave.checks.unedited import BODY
from skillweave.cli import options
from skillweave.cli.arguments.skills import DEFAULT_FOLDER
from skillweave.cli.failure import Mistake
from skillweave.cli.output.page import Answer, Ink, Page, below
from skillweave.codec import Portable
from skillweave.formats.identity import id_of
from skillweave.formats.open_spec import MAX_DESCRIPTION, MAX_NAME
from skillweave.formats.skill_md import to_open_skill_md
from skillweave.skill import Skill, SkillText, Triggers, title_of
from skillweave.sources.tree import SKILL_FILES
from skillweave.text.search import fold

_NEW = "The new skill"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
MAX_PHRASE = 200
_SCRIPT = '''\
"""Say here what this program checks for the skill "{title}"."""

import argparse

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", help="the file to look at")
print(f"nothing is checked in {{parser.parse_args().file}} yet")
'''
PARTS: Mapping[str, tuple[str, str, str]] = {
    "references": (
        "details.md",
        "Facts that are needed at some steps only; they are given with the skill while they fit.",
        "# {title}: details\n\nWrite what is needed at some steps only: tables, rules, exceptions.\n",
    ),
    "scripts": (
        "check.py",
        "A program that the agent may run; it is listed, and its text is not given.",
        _SCRIPT,
    ),
    "assets": (
        "template.md",
        "A form to fill in, or another file to copy.",
        "# {title}\n\n- What was asked for:\n- What was done:\n- What is left to do:\n",
    ),
}
"""The folders of the open format: the file that a new skill gets in each, what it is for, and its text."""
EXAMPLES = {
    "init": """
skillweave init invoice-checking
skillweave init invoice-checking --trigger invoice --trigger "credit note"
skillweave init release --in .agents/skills --with references,scripts
"""
}


@dataclass(frozen=True, slots=True)
class NewSkill(Portable):
    """The skill that `init` wrote, requests that call for it, and commands to go on with."""

    skill_id: str
    folder: str
    files: tuple[str, ...]
    triggers: tuple[str, ...]
    examples: tuple[str, ...]
    next: tuple[str, ...]

    def text(self, page: Page) -> str:
        """The files, and the commands to go on with."""
        first, *others = self.files
        written = [page.entry("written", first, Ink.GOOD), *(page.entry("", file) for file in others)]
        return below(written, "Write what its headings ask for, then:", *(f"  {command}" for command in self.next))


def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The skill's name, which its folder gets too.")],
    folder: options.FolderOfSkills = DEFAULT_FOLDER,
    parts: Annotated[
        str | None,
        options.option(
            _NEW, "--with NAMES", "Folders to begin with, separated by commas: references, scripts, assets."
        ),
    ] = None,
    description: Annotated[
        str | None,
        options.option(_NEW, "--description TEXT", "What it does and when to use it, in 1 to 1,024 characters."),
    ] = None,
    trigger: Annotated[
        list[str] | None,
        options.option(
            _NEW, "--trigger PHRASE", "Words of a request that call for it. Repeatable. Default: the words of its name."
        ),
    ] = None,
) -> Answer:
    """Begin a new skill, which passes its own check.

    Writes a folder with a SKILL.md whose headings say what to write, within what the open Agent Skills format allows.
    Nothing that is there is changed.
    """
    words = require_name(name).replace("-", " ")
    made = f"Does {words}, as the instructions below say. Use it when a request is about {words}."
    stated = _description(description) or made
    phrases = _phrases(trigger or ()) or (words,)
    examples = (f"Please help me with this: {phrases[0]}", f"I have a question about {phrases[-1]}")
    files = _files(name, stated, phrases, examples, _parts(parts))
    target = Path(folder) / name
    write_folder(target, files)
    commands = (
        f"skillweave check --strict --skills {quote(str(target))}",
        f"skillweave match --skills {quote(folder)} {quote(examples[0])}",
        f"skillweave show --skills {quote(folder)} {name}",
    )
    paths = tuple(str(target / file) for file in sorted(files))
    shown = NewSkill(name, str(target), paths, phrases, examples, commands)
    return Answer(lambda: shown, shown.text, notes=tuple(_notes(target)))


def require_name(name: str) -> str:
    """The name itself; raises Mistake with the rule that it breaks and the name that it was meant to be."""
    if _NAME.fullmatch(name) and len(name) <= MAX_NAME:
        return name
    *above, last = re.split(r"[/\\]", name.rstrip("/\\"))
    where = f" --in {'/'.join(above)}" if above else ""
    raise Mistake(
        f"{name[:100]!r} cannot be the name of a skill: use lowercase letters a to z, digits and single hyphens "
        f"between them, {MAX_NAME} characters at most; try {repaired(last)}{where}"
    )


def repaired(name: str) -> str:
    """The nearest name that is allowed: `My_Skill` as `my-skill`, `Café` as `cafe`."""
    plain = "".join(letter for letter in normalize("NFKD", name.strip()) if not combining(letter))
    if not any(map(str.isalnum, plain)):
        return "my-skill"
    words = re.split(r"[_-]+", id_of(plain).lower())
    return "-".join(word for word in words if word)[:MAX_NAME].rstrip("-")


def _description(text: str | None) -> str | None:
    """The description on one line; raises BadParameter for one that the open specification does not allow."""
    line = None if text is None else " ".join(text.split())
    if line is not None and not 1 <= len(line) <= MAX_DESCRIPTION:
        message = f"a description has 1 to {MAX_DESCRIPTION} characters, this one has {len(line)}"
        raise typer.BadParameter(message, param_hint="'--description'")
    return line


def _phrases(phrases: Sequence[str]) -> tuple[str, ...]:
    """The phrases, once each; raises BadParameter for one that cannot be a trigger."""
    for phrase in phrases:
        if "," in phrase or not any(map(str.isalnum, fold(phrase))) or len(phrase) > MAX_PHRASE:
            message = (
                f"{phrase[:60]!r} cannot be a trigger; give words without a comma, {MAX_PHRASE} characters at most, "
                "and --trigger again for each further phrase"
            )
            raise typer.BadParameter(message, param_hint="'--trigger'")
    return tuple(dict.fromkeys(" ".join(phrase.split()) for phrase in phrases))


def _parts(names: str | None) -> tuple[str, ...]:
    named = {name.strip() for name in (names or "").split(",") if name.strip()}
    for part in sorted(named - PARTS.keys()):
        raise typer.BadParameter(f"{part[:60]!r} is none of {', '.join(PARTS)}", param_hint="'--with'")
    return tuple(part for part in PARTS if part in named)


def _files(
    name: str, description: str, phrases: tuple[str, ...], examples: Sequence[str], parts: Sequence[str]
) -> dict[str, str]:
    title = title_of(name)
    listed = "".join(f"- `{part}/{PARTS[part][0]}`: {PARTS[part][1]}\n" for part in parts)
    body = BODY.format(
        title=title,
        examples="".join(f"- {example}\n" for example in examples),
        files=f"\n## Files of this skill\n\n{listed}" if listed else "",
    )
    text, triggers = SkillText(instructions=body.strip()), Triggers(keywords=phrases)
    skill = Skill(id=name, name=title, description=description, triggers=triggers, text=text)
    files = {f"{part}/{PARTS[part][0]}": PARTS[part][2].format(title=title) for part in parts}
    return {**files, "SKILL.md": to_open_skill_md(skill)}


def write_folder(target: Path, files: Mapping[str, str]) -> None:
    """Writes the files into a new folder, all or nothing. Raises Mistake if something has its name already."""
    _require_free(target)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
        for path, text in files.items():
            (beside / path).parent.mkdir(parents=True, exist_ok=True)
            (beside / path).write_bytes(text.encode())
        _require_free(target)
        beside.rename(target)
    except OSError as error:
        raise Mistake(
            f"{target} cannot be written: {error.strerror or error}; name a folder that is yours with --in"
        ) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _require_free(target: Path) -> None:
    if os.path.lexists(target):
        raise Mistake(f"{target} is there already and stays as it is; choose another name, or another folder with --in")


def _notes(folder: Path) -> Iterator[str]:
    """What may be a surprise: a skill inside another skill's folder belongs to that one."""
    for above in folder.absolute().parents:
        if any((above / name).is_file() for name in SKILL_FILES):
            yield f"{folder} stands inside the skill {above} and belongs to it; move it beside that skill"
            return
