"""Task rules on their way from packs into a snapshot."""

from pathlib import Path

import pytest

from skillweave import Registry
from skillweave.registry import Precedence
from skillweave.skills import TaskRule, When
from skillweave.sources import Pack

RULE = "task_rules:\n  - {when: {coding: true}, skills: [%s]}\n"
SKILLS = "skills:\n  - {id: a, description: x}\n  - {id: b, description: x}\n"


def write(tmp_path: Path, text: str, name: str = "one.yaml") -> Pack:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return Pack(tmp_path / name)


def ids(registry: Registry) -> list[tuple[str, ...]]:
    return [rule.skills for rule in registry.snapshot.task_rules]


async def loaded(*packs: Pack, precedence: Precedence = Precedence.FIRST) -> Registry:
    registry = Registry(packs, precedence=precedence)
    await registry.refresh()
    return registry


async def test_the_rules_of_packs_stand_in_the_snapshot_in_the_order_of_the_sources(tmp_path: Path) -> None:
    registry = await loaded(
        write(tmp_path, SKILLS + RULE % "a"), write(tmp_path, SKILLS.replace("id: ", "id: z") + RULE % "za", "two.yaml")
    )
    assert ids(registry) == [("a",), ("za",)]
    assert [rule.source for rule in registry.snapshot.task_rules] == ["pack one", "pack two"]


async def test_task_rules_are_no_unread_part_any_more(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + RULE % "a"))
    assert registry.snapshot.diagnostics == ()


async def test_a_changed_rule_is_a_new_snapshot(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + RULE % "a"))
    before = registry.snapshot
    write(tmp_path, SKILLS + RULE % "b")
    assert await registry.refresh()
    assert (ids(registry), registry.snapshot is before) == ([("b",)], False)


async def test_an_unchanged_pack_keeps_the_snapshot(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + RULE % "a"))
    before = registry.snapshot
    write(tmp_path, SKILLS + RULE % "a" + "# a remark\n")
    assert not await registry.refresh()
    assert registry.snapshot is before


@pytest.mark.parametrize("broken", ["skills: [", RULE % "a, ''" + SKILLS])
async def test_a_broken_edit_keeps_the_last_good_rules_and_says_so(tmp_path: Path, broken: str) -> None:
    registry = await loaded(write(tmp_path, SKILLS + RULE % "a"))
    write(tmp_path, broken)
    await registry.refresh()
    assert ids(registry) == [("a",)]
    kept = [finding.message for finding in registry.snapshot.diagnostics if finding.code == "kept-last-good"]
    assert any(message.startswith("task rule coding: true (pack one) can no longer be read") for message in kept)


async def test_a_rule_that_was_taken_out_is_gone(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + RULE % "a"))
    write(tmp_path, SKILLS)
    await registry.refresh()
    assert ids(registry) == []


async def test_a_mistake_in_a_skill_brings_no_old_rule_back(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + RULE % "a"))
    write(tmp_path, SKILLS + "  - just text\n" + RULE % "b")
    await registry.refresh()
    assert ids(registry) == [("b",)]


async def test_with_namespaces_a_rule_means_the_skills_of_its_own_source(tmp_path: Path) -> None:
    first = write(tmp_path, SKILLS + RULE % "a, elsewhere")
    second = write(tmp_path, SKILLS + RULE % "a", "two.yaml")
    registry = await loaded(first, second, precedence=Precedence.NAMESPACE)
    assert ids(registry) == [("one__a", "elsewhere"), ("two__a",)]


async def test_a_rule_stays_when_its_skill_is_removed_in_code(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + RULE % "a"))
    registry.remove("a")
    assert registry.snapshot.task_rules == (
        TaskRule(When(coding=True), ("a",), "pack one", registry.snapshot.task_rules[0].location),
    )
