"""What a sub-agent is told of itself: its skills, its tools and the steps of its work (spec 4.4)."""

from collections.abc import Iterator, Sequence

from skillweave.disclose.escape import AGENT, HEADER_END, Escaped
from skillweave.skill import Skill

_OURS = Skill("", "", "")


def render_agent(
    name: str,
    skills: Sequence[Skill],
    *,
    allowed: Sequence[str] | None,
    forbidden: Sequence[str],
    steps: Sequence[str],
) -> str:
    """The block for the sub-agent's system prompt, empty when nothing restricts it and it has no skills.

    The skills' own instructions are not in it: those come with the sub-agent's first turn. `allowed` None is left out,
    an empty list says that there is no tool.
    """
    escaped = Escaped(_OURS)
    lines = [*_skills(skills), *_tools(allowed, forbidden, escaped), *_protocol(steps, escaped)]
    return "\n".join([f"{AGENT}{escaped.line(name)}{HEADER_END}", *lines]) if lines else ""


def _skills(skills: Sequence[Skill]) -> Iterator[str]:
    if skills:
        yield "## Skills"
        yield from (f"- {skill.id}: {Escaped(skill).line(skill.description)}" for skill in skills)


def _tools(allowed: Sequence[str] | None, forbidden: Sequence[str], escaped: Escaped) -> Iterator[str]:
    if allowed is not None or forbidden:
        yield "## Tools"
    if allowed is not None:
        yield f"- allowed: {escaped.line(', '.join(allowed)) or 'none'}"
    if forbidden:
        yield f"- forbidden: {escaped.line(', '.join(forbidden))}"


def _protocol(steps: Sequence[str], escaped: Escaped) -> Iterator[str]:
    if steps:
        yield "## Protocol"
        yield from (f"{number}. {escaped.line(step)}" for number, step in enumerate(steps, 1))
