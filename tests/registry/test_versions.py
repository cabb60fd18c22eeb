import pytest

from skillweave import Registry, Skill, SkillNotFound
from skillweave.skills import Order, Origin
from skillweave.sources import InCode


def skill(skill_id: str, version: str | None = None) -> Skill:
    return Skill(skill_id, skill_id, "x", version=version)


async def holding(*skills: Skill) -> Registry:
    registry = Registry([InCode(*skills, name="shelf")])
    await registry.refresh()
    return registry


async def test_versions_lists_the_one_in_use_first_and_how_the_others_stand_to_it() -> None:
    registry = Registry([InCode(skill("a", "1.0.0"), name="one"), InCode(skill("a", "1.1.0"), name="two")])
    await registry.refresh()
    registry.register(skill("a", "weekly"))
    registry.override_version("a", "1.0.5")
    assert [(held.version, held.order, held.origin) for held in registry.versions("a")] == [
        ("1.0.5", Order.SAME, Origin("code", "code")),
        ("1.1.0", Order.NEWER, Origin("two", "two")),
        ("1.0.0", Order.OLDER, Origin("one", "one")),
        ("weekly", Order.UNORDERED, Origin("code", "code")),
    ]


async def test_a_version_that_is_missing_stands_in_no_order() -> None:
    registry = await holding(skill("a"))
    registry.override_version("a", "1.0.0")
    assert [held.order for held in registry.versions("a")] == [Order.SAME, None]


async def test_versions_of_an_unknown_skill_are_an_error() -> None:
    with pytest.raises(SkillNotFound):
        (await holding(skill("a"))).versions("b")
