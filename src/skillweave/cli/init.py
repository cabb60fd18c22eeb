"""`skillweave init`: a new skill."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import options
from skillweave.cli.arguments.skills import DEFAULT_FOLDER
from skillweave.cli.output.page import Answer, Ink, Page

if TYPE_CHECKING:
    from skillweave.cli.scaffold import Draft, NewSkill

_NEW = "The new skill"


EXAMPLES = {
    "init": """
skillweave init invoice-checking
skillweave init invoice-checking --trigger invoice --trigger "credit note"
skillweave init release --in .agents/skills --with references,scripts
"""
}


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
    from skillweave.cli.scaffold import (
        draft_of,
        files_of,
        require_description,
        require_name,
        require_parts,
        require_phrases,
        write_folder,
    )

    draft = draft_of(
        require_name(name), require_description(description), require_phrases(trigger or ()), require_parts(parts)
    )
    files = files_of(draft)
    write_folder(Path(folder) / name, files)
    shown = _Shown(draft, Path(folder), tuple(sorted(files)))
    return Answer(shown.value, shown.text, notes=tuple(shown.notes()))


@dataclass(frozen=True, slots=True)
class _Shown:
    draft: "Draft"
    parent: Path
    files: tuple[str, ...]

    def value(self) -> "NewSkill":
        from skillweave.cli.scaffold import NewSkill

        files = tuple(str(self.folder / file) for file in self.files)
        draft = self.draft
        return NewSkill(draft.name, str(self.folder), files, draft.phrases, draft.examples, self.commands)

    def text(self, page: Page) -> str:
        first, *others = (page.entry("", str(self.folder / file)) for file in self.files)
        written = page.paint("written", Ink.GOOD) + first.removeprefix(" " * len("written"))
        following = "\n".join(f"  {command}" for command in self.commands)
        return "\n".join([written, *others, "", f"Write what its headings ask for, then:\n{following}"])

    def notes(self) -> Iterator[str]:
        """What may be a surprise: a skill inside another skill's folder belongs to that one."""
        from skillweave.sources.tree import SKILL_FILES

        for folder in self.folder.absolute().parents:
            if any((folder / name).is_file() for name in SKILL_FILES):
                yield f"{self.folder} stands inside the skill {folder} and belongs to it; move it beside that skill"
                return

    @property
    def folder(self) -> Path:
        return self.parent / self.draft.name

    @property
    def commands(self) -> tuple[str, ...]:
        return (
            f"skillweave check --strict --skills {quote(str(self.folder))}",
            f"skillweave match --skills {quote(str(self.parent))} {quote(self.draft.examples[0])}",
            f"skillweave show --skills {quote(str(self.parent))} {self.draft.name}",
        )
