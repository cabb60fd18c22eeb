"""The Skill's own nested form."""

from dataclasses import fields

import pytest

from skillweave import Checkpoint, Skill, ToolRules
from skillweave.errors import InvalidSkill
from skillweave.formats.native import FIELDS, TEXT_FIELDS, from_dict, to_dict
from skillweave.skills import SkillText

JAM = {"id": "jam", "description": "Labels jars"}


def test_what_is_at_its_default_is_not_written() -> None:
    assert to_dict(Skill(id="jam", name="Jam", description="Labels jars")) == {**JAM, "name": "Jam"}


def test_the_name_is_the_id_in_title_case_when_none_is_stated() -> None:
    assert from_dict({"id": "label-jars", "description": "a"}).name == "Label Jars"


def test_an_id_that_is_none_is_repaired_and_its_spelling_kept() -> None:
    skill = from_dict({"id": "label jars", "description": "a"})

    assert (skill.id, skill.spelling) == ("label-jars", "label jars")


def test_parts_of_the_text_may_stand_beside_the_other_fields() -> None:
    skill = from_dict({**JAM, "steps": ["one"], "text": {"requirements": ["two"]}, "hitl_checkpoints": ["taste"]})

    assert skill.text == SkillText(steps=("one",), requirements=("two",))
    assert skill.checkpoints == (Checkpoint("taste"),)


def test_stated_and_unstated_tool_rules_are_told_apart() -> None:
    assert from_dict(JAM).tools is None
    assert from_dict({**JAM, "tools": {}}).tools == ToolRules()
    assert from_dict({**JAM, "tools": {"allowed": []}}).tools == ToolRules(allowed=())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"id": ""}, "`id`"),
        ({"id": "j" * 101}, "100"),
        ({"description": " "}, "`description`"),
        ({"status": "asleep"}, "`status`"),
        ({"triggers": ["jam", ""]}, r"`triggers\[1\]`"),
        ({"triggers": {"never": [" "]}}, r"`triggers.never\[0\]`"),
        ({"relations": [{"kind": "likes", "skill": "a"}]}, r"`relations\[0\].kind`"),
        ({"relations": [{"skill": "a"}]}, r"`relations\[0\].kind`"),
        ({"relations": [{"kind": "requires"}]}, r"`relations\[0\].skill`"),
        ({"relations": ["a"]}, r"`relations\[0\]`"),
        ({"checkpoints": [{"before": "a"}]}, r"`checkpoints\[0\].name`"),
        ({"checkpoints": [{"name": "a", "blocking": "yes"}]}, "blocking"),
        ({"checkpoints": [{"name": "a", "before": "b", "scope": "turn"}]}, "scope"),
        ({"artifacts": [{"id": "a", "size": "3"}]}, r"`artifacts\[0\].size`"),
        ({"artifacts": [{"id": "a", "size": True}]}, r"`artifacts\[0\].size`"),
        ({"tools": ["Read"]}, "`tools`"),
        ({"text": {"steps": [{"a": {}}]}}, r"`text.steps\[0\]`"),
        ({"text": {"output_contract": {"schema": {}}}}, "`text.output_contract.type`"),
        ({"metadata": [1]}, "`metadata`"),
        ({"emits": 3}, "`emits`"),
        ({"extra": {"a": {1, 2}}}, "JSON"),
    ],
)
def test_whatever_would_be_lost_raises_and_is_named(change: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidSkill, match=named):
        from_dict({**JAM, **change})


def test_free_data_keep_their_types() -> None:
    skill = from_dict({**JAM, "metadata": {"a": [1, None, {"b": True}]}, "shelf": 2.5})

    assert skill.metadata == {"a": (1, None, {"b": True})}
    assert skill.extra == {"shelf": 2.5}


def test_every_field_of_a_skill_has_a_row_in_the_table_that_reads_it() -> None:
    read_apart = {"id", "description", "text", "origin", "digest"}

    assert {part.name for part in FIELDS} == {field.name for field in fields(Skill)} - read_apart
    assert {part.name for part in TEXT_FIELDS} == {field.name for field in fields(SkillText)}
