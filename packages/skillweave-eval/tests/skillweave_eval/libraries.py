"""Small libraries and cases for tests of evaluations."""

from collections.abc import Sequence
from typing import Any

import skillweave
from skillweave import Skill, Triggers
from skillweave.skill import title_of
from skillweave.skills import SkillText
from skillweave.sources.code import InCode
from skillweave.weaver import Weaver
from skillweave_eval import Answer, Case, Level
from skillweave_eval.answers import Place


def skill(skill_id: str, description: str, body: str = "Do it.", **triggers: Sequence[str]) -> Skill:
    declared = Triggers(**{kind: tuple(phrases) for kind, phrases in triggers.items()})
    return Skill(skill_id, title_of(skill_id), description, triggers=declared, text=SkillText(instructions=body))


TEA = skill("tea", "Brews tea leaves with water of the right heat.", keywords=["tea"])
COFFEE = skill("coffee", "Grinds beans and pours espresso or filter.", keywords=["coffee"])


def weaver_of(*skills: Skill, **options: Any) -> Weaver:
    return skillweave.open(InCode(*(skills or (TEA, COFFEE))), **options)


def case(query: str = "Some tea please", expect: Sequence[str] | None = ("tea",), **fields: Any) -> Case:
    return Case(fields.pop("id", query), query, None if expect is None else tuple(expect), **fields)


def answer(
    given: Sequence[str] = (),
    offered: Sequence[str] = (),
    silent: Sequence[str] = (),
    probabilities: Sequence[float | None] = (),
    tokens: int = 0,
    **fields: Any,
) -> Answer:
    """An answer with skills at each level, in this order; the probabilities are theirs."""
    levels = [(Level.GIVEN, given), (Level.OFFERED, offered), (Level.SILENT, silent)]
    ids = [(skill_id, level) for level, each in levels for skill_id in each]
    likely = [*probabilities, *([None] * len(ids))]
    places = tuple(Place(one, level, 0.5, "lexical", likely[number]) for number, (one, level) in enumerate(ids))
    return Answer(case(**fields), places, tokens=tokens)
