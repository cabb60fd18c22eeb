"""Validating and composing 10 of 1,000 skills (spec 4.1 and 4.2); seed 002 allows 50 ms for it."""

import random
from collections.abc import AsyncIterator, Callable
from types import MappingProxyType

from made import NOUNS, VERBS, made_words
from results import Effort, Row, Target, figure
from timing import interleaved, plain

from skillweave.compose.composition import compose_ids
from skillweave.registry import Snapshot
from skillweave.relations.validate import ValidationResult, validate_skills
from skillweave.skill import Relation, RelationKind, RuleList, Skill, SkillText, ToolRules

TOOLS = [f"{verb}_{noun}" for verb in VERBS[:20] for noun in NOUNS[:20]]
LIMIT = 1e-3


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """A request that is valid, one with an error in every rule, and an unknown name, at growing registries."""
    sizes = (100, 1_000) if effort is Effort.QUICK else (100, 1_000, 10_000)
    for size in sizes:
        snapshot = _snapshot(size)
        names = list(snapshot.skills)
        valid = names[: size : size // 10][:10]
        companions = [rule.skill for name in valid for rule in snapshot[name].relations]
        lacking = [name for name in names if name not in companions][1::7][:9]
        requests = {
            "10 valid skills": _request(valid, snapshot),
            "10 skills, companions missing": _request([*lacking, names[1]], snapshot),
            "10 names, one of them unknown": _request([*valid[:9], f"{valid[9]}x"], snapshot),
        }
        _check(valid, lacking, snapshot)
        times = await interleaved(
            {name: plain(request) for name, request in requests.items()}, samples=9 if effort is Effort.QUICK else 31
        )
        for name, timing in times.items():
            target = Target("<1 ms", timing.median < LIMIT) if size == 1_000 else None
            yield Row("validate + compose", f"{name}, of {size:,}", figure(timing), target=target)


def _request(names: list[str], snapshot: Snapshot) -> Callable[[], ValidationResult]:
    def run() -> ValidationResult:
        result = validate_skills(names, snapshot, host_tools=TOOLS)
        if result.valid:
            compose_ids(names, snapshot)
        return result

    return run


def _check(valid: list[str], lacking: list[str], snapshot: Snapshot) -> None:
    """That the requests are what they are called, and that the composition holds what it must."""
    good, bad = validate_skills(valid, snapshot), validate_skills(lacking, snapshot)
    if not good.valid or {error.rule for error in bad.errors} != {"V002"}:
        raise SystemExit(f"the made-up requests are not as meant: {good.errors[:1]}, {bad.errors[:1]}")
    composition = compose_ids(valid, snapshot)
    members = [snapshot[name] for name in valid]
    forbidden = {tool for skill in members if skill.tools for tool in skill.tools.forbidden}
    allowed = {tool for skill in members if skill.tools for tool in skill.tools.allowed or ()}
    if set(composition.allowed_tools or ()) != allowed - forbidden or set(composition.forbidden_tools) != forbidden:
        raise SystemExit("the composition is not the union of what is allowed less what is forbidden")


def _snapshot(size: int) -> Snapshot:
    """Each skill requires the one a tenth of the registry further on, excludes its neighbour, has rules and steps."""
    rnd = random.Random(5)
    ids = [f"{word}-{number}" for number, word in enumerate(made_words(size, 5))]
    skills = [_skill(number, ids, rnd) for number in range(size)]
    return Snapshot(MappingProxyType({skill.id: skill for skill in skills}), generation=1)


def _skill(number: int, ids: list[str], rnd: random.Random) -> Skill:
    tenth = len(ids) // 10
    companion = ids[(number + tenth) % len(ids)]
    neighbour = ids[(number + 1) % len(ids)]
    tools = rnd.sample(TOOLS, 10)
    return Skill(
        id=ids[number],
        name=ids[number],
        description=f"{rnd.choice(VERBS)} a {rnd.choice(NOUNS)}",
        text=SkillText(steps=tuple(f"{rnd.choice(VERBS)}-{rnd.choice(NOUNS)}" for _ in range(5))),
        tools=ToolRules(allowed=tuple(tools[:6]), forbidden=tuple(tools[6:8]), preapproved=tuple(tools[:2])),
        relations=(
            Relation(RelationKind.REQUIRES, companion, "made for each other", RuleList.COMPATIBILITY),
            Relation(RelationKind.INCOMPATIBLE, neighbour, "two ways to do one thing", RuleList.COMPOSABILITY),
        ),
    )
