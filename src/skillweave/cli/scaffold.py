"""A new skill: its name checked, its text made, its folder written whole or not at all."""

import os
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from unicodedata import combining, normalize

import typer

from skillweave.checks.unedited import BODY
from skillweave.cli.failure import Mistake
from skillweave.codec import Portable
from skillweave.formats.identity import id_of
from skillweave.formats.open_spec import MAX_DESCRIPTION, MAX_NAME
from skillweave.formats.skill_md import to_open_skill_md
from skillweave.skill import Skill, SkillText, Triggers, title_of
from skillweave.text.search import fold

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_BREAKS = re.compile(r"[_-]+")


def require_name(name: str) -> str:
    """The name itself; raises Mistake with the rule that it breaks and the name that it was meant to be."""
    if _NAME.fullmatch(name) and len(name) <= MAX_NAME:
        return name
    raise Mistake(
        f"{name[:100]!r} cannot be the name of a skill: use lowercase letters a to z, digits and single hyphens "
        f"between them, {MAX_NAME} characters at most; {_advice(name)}"
    )


def repaired(name: str) -> str:
    """The nearest name that is allowed: `My_Skill` as `my-skill`, `Café` as `cafe`."""
    plain = "".join(letter for letter in normalize("NFKD", name.strip()) if not combining(letter))
    if not any(map(str.isalnum, plain)):
        return "my-skill"
    words = _BREAKS.split(id_of(plain).lower())
    return "-".join(word for word in words if word)[:MAX_NAME].rstrip("-")


def _advice(name: str) -> str:
    if re.search(r"[/\\]", name):
        *above, last = re.split(r"[/\\]", name.rstrip("/\\"))
        return f"try {repaired(last)} --in {'/'.join(above) or '/'}" if last else "give the folder with --in"
    return f"try {repaired(name)}"


PARTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "references": (
            "details.md",
            "Facts that are needed at some steps only; they are given with the skill while they fit.",
        ),
        "scripts": ("check.py", "A program that the agent may run; it is listed, and its text is not given."),
        "assets": ("template.md", "A form to fill in, or another file to copy."),
    }
)
"""The folders of the open format, each with the file that a new skill gets in it and what it is for."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A skill to be written: its name, description, the phrases that call for it, and the folders it has."""

    name: str
    description: str
    phrases: tuple[str, ...]
    parts: tuple[str, ...] = ()

    @property
    def examples(self) -> tuple[str, ...]:
        """Requests that the skill is chosen for as it stands."""
        first, last = self.phrases[0], self.phrases[-1]
        return (f"Please help me with this: {first}", f"I have a question about {last}")


def draft_of(name: str, description: str | None, phrases: Sequence[str], parts: Sequence[str]) -> Draft:
    """The draft, with a description and phrases made from the name where none are given."""
    words = name.replace("-", " ")
    stated = description or f"Does {words}, as the instructions below say. Use it when a request is about {words}."
    return Draft(name, stated, tuple(phrases) or (words,), tuple(part for part in PARTS if part in parts))


def files_of(draft: Draft) -> dict[str, str]:
    """The files of the skill's folder by their paths, SKILL.md last; raises InvalidSkill for unwritable text."""
    skill = Skill(
        id=draft.name,
        name=title_of(draft.name),
        description=draft.description,
        triggers=Triggers(keywords=draft.phrases),
        text=SkillText(instructions=_body(draft)),
    )
    files = {f"{part}/{PARTS[part][0]}": _FILES[part].format(title=title_of(draft.name)) for part in draft.parts}
    return {**files, "SKILL.md": to_open_skill_md(skill)}


def _body(draft: Draft) -> str:
    parts = "".join(f"- `{part}/{PARTS[part][0]}`: {PARTS[part][1]}\n" for part in draft.parts)
    files = f"\n## Files of this skill\n\n{parts}" if parts else ""
    examples = "".join(f"- {example}\n" for example in draft.examples)
    return BODY.format(title=title_of(draft.name), examples=examples, files=files).strip()


_FILES: Mapping[str, str] = MappingProxyType(
    {
        "references": "# {title}: details\n\nWrite what is needed at some steps only: tables, rules, exceptions.\n",
        "scripts": '''\
"""Say here what this program checks for the skill "{title}"."""

import argparse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="the file to look at")
    arguments = parser.parse_args()
    print(f"nothing is checked in {{arguments.file}} yet")


if __name__ == "__main__":
    main()
''',
        "assets": "# {title}\n\n- What was asked for:\n- What was done:\n- What is left to do:\n",
    }
)


MAX_PHRASE = 200


def require_description(text: str | None) -> str | None:
    """The description on one line; raises BadParameter for one that the open specification does not allow."""
    if text is None:
        return None
    line = " ".join(text.split())
    if not 1 <= len(line) <= MAX_DESCRIPTION:
        raise typer.BadParameter(
            f"a description has 1 to {MAX_DESCRIPTION} characters, this one has {len(line)}",
            param_hint="'--description'",
        )
    return line


def require_phrases(phrases: Sequence[str]) -> tuple[str, ...]:
    """The phrases, once each; raises BadParameter for one that cannot be a trigger."""
    for phrase in phrases:
        if "," in phrase or not any(map(str.isalnum, fold(phrase))) or len(phrase) > MAX_PHRASE:
            raise typer.BadParameter(
                f"{phrase[:60]!r} cannot be a trigger; give words without a comma, {MAX_PHRASE} characters at most, "
                "and --trigger again for each further phrase",
                param_hint="'--trigger'",
            )
    return tuple(dict.fromkeys(" ".join(phrase.split()) for phrase in phrases))


def require_parts(names: str | None) -> tuple[str, ...]:
    """The folders that a list separated by commas names; raises BadParameter for one that the format does not know."""
    parts = tuple(name.strip() for name in (names or "").split(",") if name.strip())
    for part in parts:
        if part not in PARTS:
            raise typer.BadParameter(f"{part[:60]!r} is none of {', '.join(PARTS)}", param_hint="'--with'")
    return parts


def write_folder(target: Path, files: Mapping[str, str]) -> None:
    """Write the files, by their paths below the new folder; raises Mistake where something has its name already.

    They are written into a folder beside it, which then takes the name: whoever looks sees all of it or nothing.
    """
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


@dataclass(frozen=True, slots=True)
class NewSkill(Portable):
    """The skill that `init` wrote, requests that call for it, and commands to go on with."""

    skill_id: str
    folder: str
    files: tuple[str, ...]
    triggers: tuple[str, ...]
    examples: tuple[str, ...]
    next: tuple[str, ...]
