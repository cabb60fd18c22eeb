"""What a graph knows of its skills, filled in from the skills themselves."""

from collections.abc import Mapping
from dataclasses import replace

from skillweave.graph.declared import Declared, GraphSkill
from skillweave.skill import Skill


def graph_skill(skill: Skill) -> GraphSkill:
    """A skill as a graph knows it: its tools by name, without the patterns of their arguments."""
    rules = skill.tools
    named = None if rules is None or rules.allowed is None else (entry.partition("(")[0] for entry in rules.allowed)
    tools = None if named is None else tuple(dict.fromkeys(named))
    text = skill.text
    body = "\n".join(part for part in (text.instructions, *text.steps) if part)
    return GraphSkill(skill.id, skill.description, tools, body)


def filled(declared: Declared, skills: Mapping[str, Skill]) -> Declared:
    """The same graph, in which each skill has the description, tools and text that it has elsewhere and not here."""
    return replace(declared, skills=tuple(_filled(one, skills) for one in declared.skills))


def _filled(known: GraphSkill, skills: Mapping[str, Skill]) -> GraphSkill:
    skill = skills.get(known.id)
    if skill is None:
        return known
    found = graph_skill(skill)
    return replace(
        known,
        description=known.description or found.description,
        tools=found.tools if known.tools is None else known.tools,
        body=known.body or found.body,
    )
