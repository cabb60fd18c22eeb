"""The text of a new skill: what there is to write under each heading, said by the heading itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from skillweave.formats.skill_md import to_open_skill_md
from skillweave.skill import Skill, SkillText, Triggers, title_of

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
    return _BODY.format(title=title_of(draft.name), examples=examples, files=files).strip()


_BODY = """\
# {title}

Say in two sentences what is done here and what a good result is.

## When to use it

Requests such as these call for it. `skillweave match` shows whether a request does, and the phrases in
`metadata.triggers` above decide it.

{examples}
## When not to use it

Name the requests that look alike and need something else, and say what.

## What has to be known first

List what must be there before the first step: files, facts, permissions. Say what to ask when something is missing.

## How to do it

1. Write each step as an order to the agent, with the command, tool or file that it needs.
2. Say how to tell that the step worked, and what to do when it did not.
3. Put facts that only some requests need into `references/`.

## Result

Show the form of the result: a short example says more than a description.

## Before handing it over

- Name what has to be checked, and how.
- Name what must never be done.
{files}"""

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
