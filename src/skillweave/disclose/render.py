"""The one module that writes prompt text: skill blocks, catalog lines and hints (spec 5.3, message of seed 000)."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skillweave.diagnostics import Diagnostic
from skillweave.disclose.block import (
    ACTIVATED,
    AGENT,
    AVAILABLE,
    CONTEXT,
    HEADER_END,
    OUTLINED,
    REFERENCE,
    SECTION,
    Escaped,
    Rung,
    SkillTools,
    Unescaped,
)
from skillweave.disclose.sections import Count, Leaf, Reading, Section, entries_of, sections_of
from skillweave.formats.arguments import filled
from skillweave.skill import ArtifactRef, Checkpoint, Skill, thaw


@dataclass(frozen=True, slots=True)
class Inlined:
    """An artifact whose content stands in the block."""

    ref: ArtifactRef
    content: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A block's text, and what had to be escaped in it."""

    text: str
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Extras:
    """What a block holds beside the skill's text; `base_directory` is where the host can read files, or None."""

    inlined: tuple[Inlined, ...] = ()
    context: tuple[str, ...] = ()
    base_directory: str | None = None
    replaces_earlier: str = ""
    arguments: str = ""


NOTHING_ELSE = Extras()

_CONTENTS = "## Sections"
CONTEXT_HEADING = "## Entity Context"
_OUTLINE = ("## Description", _CONTENTS, "## Tools", "## Checkpoints")
"""What an outline shows: what the skill is for, where its text is, and the rules that hold while it is engaged."""


def render_skill(skill: Skill, rung: Rung, extras: Extras = NOTHING_ELSE) -> Rendered:
    """The message of seed 000 for one skill, as much of it as the rung says; sections without content are left out."""
    if rung is not Rung.CATALOG:
        return _block(ACTIVATED, skill, extras)
    escaped = Escaped(skill, extras.arguments)
    header = f"{AVAILABLE}{escaped.line(skill.name)}{HEADER_END}"
    return Rendered(f"{header}\n{catalog_line(skill, escaped)}", escaped.diagnostics())


def render_outline(skill: Skill, whole: Section, extras: Extras) -> Rendered:
    """The skill with a table of contents in place of its instructions."""
    return _block(OUTLINED, skill, extras, whole)


def _block(header: str, skill: Skill, extras: Extras, outlined: Section | None = None) -> Rendered:
    escaped = Escaped(skill, extras.arguments)
    lines = [f"{header}{escaped.line(skill.name)}{HEADER_END}"]
    if extras.replaces_earlier:
        lines.append(extras.replaces_earlier)
    sections = own_sections(skill, escaped, extras.arguments)
    if outlined is not None:
        size = f"The instructions have {outlined.tokens:,} tokens."
        own = {**dict(sections), _CONTENTS: "\n".join(_contents(size, skill, outlined, escaped))}
        sections = [(heading, own[heading]) for heading in _OUTLINE if heading in own]
    if skill.artifacts:
        sections.append(("## References", _references(skill, extras, escaped)))
    if extras.context:
        sections.append((CONTEXT_HEADING, "\n".join(map(escaped.text, extras.context))))
    for heading, content in sections:
        if content:
            lines += [heading, content]
    return Rendered("\n".join(lines), escaped.diagnostics())


def render_context(entity: str, sections: Sequence[str], skill: Skill, changed: Sequence[str] = ()) -> Rendered:
    """Entity context that comes later than its skill, under a header of its own; `changed` is our line about it."""
    escaped = Escaped(skill)
    lines = [context_header(entity, escaped), *changed, *(escaped.text(section) for section in sections)]
    return Rendered("\n".join(lines), escaped.diagnostics())


def context_header(entity: str, escaped: Escaped) -> str:
    """The line over entity context that stands apart."""
    return f"{CONTEXT}{escaped.line(entity)}{HEADER_END}"


def inlined_text(inlined: Inlined, escaped: Escaped) -> str:
    """One document as it stands in the skill's block."""
    return f"### {escaped.line(inlined.ref.name)}\n{escaped.text(inlined.content)}"


def catalog_line(skill: Skill, escaped: Escaped | None = None) -> str:
    """The tier 1 line: id, description and the first five triggers, on one line."""
    line = (escaped or Escaped(skill)).line
    words = [*skill.triggers.keywords, *skill.triggers.verbs][:5]
    triggers = f" (triggers: {', '.join(map(line, words))})" if words else ""
    return f"- {skill.id}: {line(skill.description)}{triggers}"


SHORT_LINE = 160
"""Characters of a description in a short line: some 40 tokens."""
_SENTENCE_END = re.compile(r"[.!?。！？…](?=\s|$)|[。！？]")


def short_line(skill: Skill) -> str:
    """The line of a shortlist: id and the first sentences of the description, within 160 characters."""
    return f"- {skill.id}: {_shortened(Escaped(skill).line(skill.description))}"


_LEAST_SAID = 7
_SAID_OF_ALL = re.compile(
    r"(?:when(?:ever)? the user|you are (?:an?|the) (?:expert )?"
    r"|(?:please |always |automatically )?(?:use|invoke|apply|activate|load|trigger|call)"
    r"(?: this| the| when| whenever| if| for| to)+(?: skill)?"
    r"|(?:this|the) (?:\w+ )?skill(?: should be used| is for| is used| helps| can| provides| guides| covers| teaches)?"
    r"|a skill|skill|guides?|expert (?:guidance|help)|comprehensive (?:guide|guidance|toolkit))"
    r"(?:,? (?:when|whenever|if|for|to|that|you|with|on|about|of|the|a|an|user|users|claude|agents?|needs?|wants?|asks?"
    r"|mentions?|says?|working|is|are|should|be|used|must))*[\s,:;-]+",
    re.IGNORECASE,
)
"""How descriptions begin whatever the skill is for."""


def telling_line(skill: Skill, words: int) -> str:
    """The line of a shortlist: the id and what the description adds to it, as far as so many words hold."""
    text = Escaped(skill).line(skill.description)
    name = " ".join(re.findall(r"\w+", skill.id))
    rest = _SAID_OF_ALL.sub("", re.sub(rf"{name}\s*[-:–—.]+\s*", "", text, count=1, flags=re.IGNORECASE), count=1)
    told = rest.split() or text.split()
    room = max(_LEAST_SAID, words - len(name.split()))
    end = next((at for at in range(room, room // 2, -1) if told[at - 1 : at] and told[at - 1][-1] in ".!?;"), room)
    kept = " ".join(told[:end])
    return (
        f"- {skill.id}: {kept.rstrip(',;:.') if end >= len(told) or kept[-1] in '.!?;' else kept.rstrip(',;:.') + '…'}"
    )


def _shortened(text: str) -> str:
    if len(text) <= SHORT_LINE:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, SHORT_LINE)]
    if ends and ends[-1] >= SHORT_LINE // 3:
        return text[: ends[-1]].rstrip()
    start, _, _ = text[:SHORT_LINE].rpartition(" ")
    return f"{(start if len(start) > SHORT_LINE // 2 else text[:SHORT_LINE]).rstrip(' ,;:')}…"


def catalog_line_too_long(skill_id: str, tokens: int) -> str:
    """What stands in a list for a line that no list has room for."""
    return f"- {skill_id}: its description has {tokens:,} tokens; call read_skill to see it"


def catalog_findings(skill: Skill) -> tuple[Diagnostic, ...]:
    """What had to be escaped in the skill's tier 1 line."""
    escaped = Escaped(skill)
    catalog_line(skill, escaped)
    return escaped.diagnostics()


_CATALOG_HEADS = {
    SkillTools.ABSENT: "To load a skill, write SKILL_SELECT:<id> with an id of this list; its instructions follow.",
    SkillTools.OFFERED: "To load a skill, call read_skill with an id of this list.",
}
_FIND_OTHERS = {
    SkillTools.ABSENT: "the others are found by what a request is about.",
    SkillTools.OFFERED: "search_skills finds the rest.",
}


def catalog_head(tools: SkillTools) -> str:
    """The first lines of the catalog, which say how the model loads a skill."""
    return f"## Available Skills\n{_CATALOG_HEADS[tools]}"


SHORTLIST = "## Skills That May Fit"
_SHORTLIST_HEADS = {
    SkillTools.ABSENT: "To load one of them, write SKILL_SELECT:<id>; its instructions follow.",
    SkillTools.OFFERED: "To load one of them, call read_skill with its id.",
}


def shortlist_head(tools: SkillTools) -> str:
    """The first lines of a shortlist, which say who wrote it and how the model loads a skill."""
    return (
        f"{SHORTLIST}\nThe application lists them for the latest request; leave them alone where none fits. "
        f"{_SHORTLIST_HEADS[tools]}"
    )


def catalog_tail(shown: int, total: int, tools: SkillTools) -> str:
    """The last line of a catalog that does not show everything."""
    return f"Showing {shown} of {total} skills; {_FIND_OTHERS[tools]}"


def catalog_continued(shown: int, rest: int, last: str) -> str:
    """The last line of a page of `list_skills` that is not the last page."""
    return f'Showing {shown} of {rest}; call list_skills with after "{last}" for more.'


MOST_ONWARD = 20
"""So many reachable skills the line about them names."""


def hint(total: int, tools: SkillTools) -> str:
    """One line for a message that nothing matched."""
    skills, them = ("One skill is", "it") if total == 1 else (f"{total} skills are", "them")
    if tools is SkillTools.OFFERED:
        return f"{skills} available; call search_skills to find {them}."
    return f'{skills} available; a user who asks "what can you do?" is shown {them}.'


def onward(skill_id: str | None, reachable: Sequence[str], tools: SkillTools) -> str:
    """One line on where the conversation stands in its skill graph, and which skills the model may open from there."""
    here = "No skill has begun yet" if skill_id is None else f"The current skill is {skill_id}"
    how = "call read_skill" if tools is SkillTools.OFFERED else "write SKILL_SELECT:<id>"
    more = f" and {len(reachable) - MOST_ONWARD} more" if reachable[MOST_ONWARD:] else ""
    return f"{here}. From here you may go to: {', '.join(reachable[:MOST_ONWARD])}{more} ({how})."


def own_sections(skill: Skill, escaped: Escaped, arguments: str = "") -> list[tuple[str, str]]:
    """The skill's own sections in the order of a block, as heading and text; `arguments` fill `$ARGUMENTS`."""
    text = filled(skill.text, arguments)
    steps = "\n".join(f"{n}. {escaped.text(step)}" for n, step in enumerate(text.steps, 1))
    instructions = escaped.text(text.instructions or "")
    contract, promised = text.output_contract, ""
    if contract is not None:
        schema = contract.schema
        told = "" if schema is None else f"\n{json.dumps(thaw(schema), ensure_ascii=False, sort_keys=True)}"
        promised = escaped.text(f"{contract.type}{told}")
    sections = [
        ("## Description", escaped.text(text.details or skill.description)),
        ("## Instructions", "" if steps else instructions),
        ("## Steps", steps),
        ("## Requirements", "\n".join(f"- {escaped.text(item)}" for item in text.requirements)),
        ("## Output Format", escaped.text(text.output_format or "")),
        ("## Postconditions", "\n".join(f"- {escaped.text(item)}" for item in text.postconditions)),
        ("## Output Contract", promised),
        ("## Instructions", instructions if steps else ""),
        ("## Tools", "\n".join(_tools(skill.tools.allowed, skill.tools.forbidden, escaped)) if skill.tools else ""),
        ("## Checkpoints", "\n".join(_checkpoint(one, escaped) for one in skill.checkpoints)),
    ]
    return [section for section in sections if section[1]]


def _tools(allowed: Sequence[str] | None, forbidden: Sequence[str], escaped: Escaped) -> Iterator[str]:
    if allowed is not None:
        yield f"- allowed: {escaped.line(', '.join(allowed)) or 'none'}"
    if forbidden:
        yield f"- forbidden: {escaped.line(', '.join(forbidden))}"


def _checkpoint(checkpoint: Checkpoint, escaped: Escaped) -> str:
    place = f" before {escaped.line(checkpoint.before)}" if checkpoint.before else ""
    asks = f": {escaped.line(checkpoint.asks)}" if checkpoint.asks else ""
    return f"- {escaped.line(checkpoint.name)}{place}{asks}"


def _references(skill: Skill, extras: Extras, escaped: Escaped) -> str:
    inlined = {one.ref.id: one for one in extras.inlined}
    lines = [] if extras.base_directory is None else [f"Base directory: {escaped.line(extras.base_directory)}"]
    lines += [f"- {escaped.line(ref.id)} ({ref.size:,} bytes)" for ref in skill.artifacts]
    lines += [inlined_text(inlined[ref.id], escaped) for ref in skill.artifacts if ref.id in inlined]
    return "\n".join(lines)


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


_OURS = Skill("", "", "")


def render_agent(
    name: str,
    skills: Sequence[Skill],
    *,
    allowed: Sequence[str] | None,
    forbidden: Sequence[str],
    steps: Sequence[str],
) -> str:
    """The block for a sub-agent's system prompt, without its skills' instructions; empty if nothing is to say."""
    escaped = Escaped(_OURS)
    lines = [f"- {skill.id}: {Escaped(skill).line(skill.description)}" for skill in skills]
    if lines:
        lines.insert(0, "## Skills")
    if allowed is not None or forbidden:
        lines += ["## Tools", *_tools(allowed, forbidden, escaped)]
    if steps:
        lines += ["## Protocol", *(f"{number}. {escaped.line(step)}" for number, step in enumerate(steps, 1))]
    return "\n".join([f"{AGENT}{escaped.line(name)}{HEADER_END}", *lines]) if lines else ""
