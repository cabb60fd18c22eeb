"""The texts of outlines and sections, in the manner of the skill blocks (spec 5.1 and 5.3)."""

from collections.abc import Iterable, Iterator

from skillweave.disclose.escape import HEADER_END, OUTLINED, REFERENCE, SECTION, Escaped, Unescaped
from skillweave.disclose.reading import Leaf, Reading
from skillweave.disclose.render import Extras, Rendered, context_section, own_sections, references_section
from skillweave.disclose.sections import Count, Section, entries_of, sections_of
from skillweave.skill import ArtifactRef, Skill

_CONTENTS = "## Sections"
_OUTLINE = ("## Description", _CONTENTS, "## Tools", "## Checkpoints")
"""What an outline shows: what the skill is for, where its text is, and the rules that hold once it is in force."""


def sections_of_skill(skill: Skill, count: Count, arguments: str = "") -> Section:
    """The skill's text as sections; they are escaped when they are shown."""
    parts = [
        ("" if heading == "## Instructions" else heading.removeprefix("## "), content)
        for heading, content in own_sections(skill, Unescaped(skill), arguments)
        if heading not in _OUTLINE
    ]
    return sections_of(skill.name, parts, count)


def sections_of_document(skill: Skill, ref: ArtifactRef, content: str, count: Count) -> Section:
    """A document of the skill as sections; only Markdown has headings."""
    titled = "" if ref.media_type == "text/markdown" else ref.name
    return sections_of(ref.name, [(titled, Unescaped(skill).text(content))], count)


def render_outline(skill: Skill, whole: Section, extras: Extras) -> Rendered:
    """The skill with a table of contents in place of its instructions."""
    escaped = Escaped(skill, extras.arguments)
    lines = [f"{OUTLINED}{escaped.line(skill.name)}{HEADER_END}"]
    if extras.replaces_earlier:
        lines.append(extras.replaces_earlier)
    own = dict(own_sections(skill, escaped, extras.arguments))
    own[_CONTENTS] = "\n".join(_contents(f"The instructions have {whole.tokens:,} tokens.", skill, whole, escaped))
    for heading in _OUTLINE:
        if heading in own:
            lines += [heading, own[heading]]
    lines += references_section(skill, extras, escaped)
    lines += context_section(extras, escaped)
    return Rendered("\n".join(lines), escaped.diagnostics())


def render_section(skill: Skill, section: Section) -> Rendered:
    """A section of the skill's text as it is shown to whom nothing of it was shown before."""
    leaves = tuple(Leaf("", leaf) for leaf in section.leaves())
    return render_reading(skill, Reading(section, leaves, Leaf("", section)), leaves)


def render_reading(skill: Skill, reading: Reading, leaves: Iterable[Leaf]) -> Rendered:
    """These leaves of a section under one header; what is left out because it is there already is named."""
    there = [leaf.section.id for leaf in reading.leaves if leaf.there]
    lines = [_header(skill, reading)]
    if there:
        lines.append(f"Without what you have read before: {', '.join(there)}")
    # A long line is divided at its sentences: what was the middle of a line may begin one now.
    text = Escaped(skill).text("".join(leaf.section.text for leaf in leaves))
    return Rendered("\n".join([*lines, text]))


def render_contents(skill: Skill, reading: Reading) -> Rendered:
    """The table of contents of a section that is too long to be shown whole."""
    long = f"This part has {reading.section.tokens:,} tokens."
    contents = _contents(long, skill, reading.section, Escaped(skill), reading.artifact)
    return Rendered("\n".join([_header(skill, reading), _CONTENTS, *contents]))


def _contents(
    size: str, skill: Skill, section: Section, escaped: Escaped, artifact: str | None = None
) -> Iterator[str]:
    tool, document = "read_skill", ""
    if artifact is not None:
        tool, document = "read_artifact", f', artifact_id "{escaped.line(artifact)}"'
    yield (
        f'{size} Read those that the task needs: call {tool} with skill_id "{skill.id}"{document} and a number of this '
        "list as section."
    )
    for entry in entries_of(section):
        yield f"- {entry.id}: {escaped.line(entry.title)} ({entry.tokens:,} tokens)"


def _header(skill: Skill, reading: Reading) -> str:
    escaped = Escaped(skill)
    place = f"{reading.section.id} {reading.section.title}" if reading.section.id else ""
    names = [skill.name, *([] if reading.artifact is None else [reading.artifact]), *([place] if place else [])]
    return f"{SECTION if reading.artifact is None else REFERENCE}{escaped.line(', '.join(names))}{HEADER_END}"
