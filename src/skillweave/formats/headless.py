"""A SKILL.md without front matter: its heading and first paragraph say what front matter would (spec 1.2)."""

import re
from dataclasses import replace

from skillweave.diagnostics import Location
from skillweave.formats.codes import FRONT_MATTER_GUESSED
from skillweave.formats.native import EXTENSION
from skillweave.formats.open_spec import MAX_DESCRIPTION
from skillweave.frontmatter.codes import NO_FRONT_MATTER
from skillweave.frontmatter.documents import FrontMatter
from skillweave.frontmatter.yaml_text import Tree

_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>\S.*?)[ \t#]*")
_NO_PROSE = re.compile(r"[#|<>`~=]|---|\*\*\*|[-*+][ \t]|[0-9]+[.)][ \t]|[ ]{4}|\t")
"""How lines begin that are not a sentence: headings, tables, quotations, code, rules and lists."""
_LABEL = re.compile(r"description[ \t]*:[ \t]*", re.IGNORECASE)


def with_guessed_fields(front: FrontMatter, path: str, folder: str) -> FrontMatter:
    """The file with fields guessed from folder, heading and first paragraph, and a warning; unchanged if it cannot."""
    if not front.diagnostics or front.diagnostics[-1].code != NO_FRONT_MATTER.name:
        return front
    heading, _, rest = front.body.partition("\n")
    title = _HEADING.fullmatch(heading)
    paragraph = _first_paragraph(rest)
    if title is None or not paragraph:
        return front
    message = "the file has no front matter; its first paragraph is taken as the description"
    fix = "write it between two lines `---`: `name:`, and `description:` with what it does and when to use it"
    guessed = FRONT_MATTER_GUESSED.found(Location(path, 1), message, fix)
    name = folder if folder.strip() else title["title"]
    fields: dict[str, Tree] = {"name": name, "description": paragraph, EXTENSION: {"name": title["title"]}}
    return replace(front, fields=fields, diagnostics=(*front.diagnostics[:-1], guessed))


def _first_paragraph(text: str) -> str:
    """The first paragraph in one line, cut after a sentence where it is longer than a description may be."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() and not _NO_PROSE.match(line):
            lines.append(line.strip())
        elif lines:
            break
    paragraph = " ".join(" ".join(lines).split())
    paragraph = paragraph[label.end() :] if (label := _LABEL.match(paragraph)) else paragraph
    if len(paragraph) <= MAX_DESCRIPTION:
        return paragraph
    shortened = paragraph[:MAX_DESCRIPTION]
    sentences, stop, _ = shortened.rpartition(". ")
    return f"{sentences}." if stop else shortened.rsplit(" ", 1)[0]
