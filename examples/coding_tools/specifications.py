"""`specKit`: specifications whose acceptance criteria are numbered and each have an example."""

import re
from collections.abc import Iterator

from .scratch import Refused, Scratch

FOLDER = "specs"

FORM = """# Title

## Purpose
What it is for.

## Acceptance criteria
1. What must hold.
   Example: input -> result"""
"""What a specification looks like."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_CRITERIA = re.compile(r"^## Acceptance criteria[ \t]*$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_CRITERION = re.compile(r"^(\d{1,3})\.[ \t]+(?=\S)", re.MULTILINE)
_EXAMPLE = re.compile(r"^[ \t]+Example:[ \t]*\S.*->[ \t]*\S", re.MULTILINE)


class Specifications:
    """The specifications of one workspace, each a Markdown file `specs/{name}.md`."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch

    def write(self, name: str, text: str) -> str:
        """Store a specification; raises Refused with all that is wrong with it."""
        problems = list(problems_of(text))
        if problems:
            raise Refused(f"the specification is not stored: {'; '.join(problems)}. It has this form:\n\n{FORM}")
        path = _path(name)
        self._scratch.write(path, text)
        return f"stored {path}, {len(criteria_of(text))} acceptance criteria"

    def read(self, name: str) -> str:
        """A stored specification; raises Refused for one that is not there, naming those that are."""
        path = _path(name)
        if not self._scratch.place(path).is_file():
            raise Refused(f"there is no specification {name!r}; {self.list()}")
        return self._scratch.read(path)

    def list(self) -> str:
        """The names of all specifications."""
        stored = [path for path in self._scratch.files() if path.startswith(f"{FOLDER}/") and path.endswith(".md")]
        names = [path.removeprefix(f"{FOLDER}/").removesuffix(".md") for path in stored]
        return f"specifications: {', '.join(names) or 'none yet'}"


def problems_of(text: str) -> Iterator[str]:
    """All that keeps a text from being a specification, in words."""
    if not re.search(r"^## Purpose[ \t]*\n+[^#\s]", text, re.MULTILINE):
        yield "under the heading `## Purpose` nothing says what it is for"
    criteria = criteria_of(text)
    if not criteria:
        yield "under the heading `## Acceptance criteria` there is no line that starts with `1.`"
    for place, (number, wording) in enumerate(criteria, start=1):
        if number != place:
            yield f"criterion {place} has the number {number}; number them from 1 without a gap"
        if not _EXAMPLE.search(wording):
            yield f"criterion {number} has no example; add an indented line `Example: input -> result` below it"


def criteria_of(text: str) -> list[tuple[int, str]]:
    """Each acceptance criterion with its number."""
    section = _CRITERIA.search(text)
    if section is None:
        return []
    _, *pieces = _CRITERION.split(section[1])
    return [(int(number), wording) for number, wording in zip(pieces[::2], pieces[1::2], strict=True)]


def _path(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise Refused(f"{name[:60]!r} is no name of a specification; use a-z, 0-9 and `-`, such as `login`")
    return f"{FOLDER}/{name}.md"
