"""Seed 000's tiers."""

import pytest

from skillweave import Checkpoint, Skill, Status, Triggers
from skillweave.errors import InvalidSkill
from skillweave.formats.spelling import from_tiers, read_any, to_manifest
from skillweave.skills import ArtifactRef, to_tiers

MANIFEST = {
    "skill_id": "spacing-calculation",
    "name": "Spacing Calculation",
    "description": "Calculate distances from proposed well to lease lines and offset wells",
    "triggers": ["spacing", "distance", "lease line", "offset distance", "467 feet"],
    "domain_tags": ["spacing", "rule_37", "drilling"],
}
DEFINITION = {
    "description": "Calculates the distance from a proposed well surface location...",
    "steps": ["Retrieve the subject well location", "Find all wells on the same lease"],
    "requirements": ["Well must have surface_location coordinates"],
    "output_format": "Spacing Summary:\n- Distance: X ft...",
    "hitl_checkpoints": ["pre_filing"],
    "emits": ["DATA_TABLE_UPDATE"],
}


def test_manifest_and_definition_make_a_skill() -> None:
    skill = from_tiers(MANIFEST, DEFINITION)

    assert (skill.id, skill.name, skill.description) == (
        "spacing-calculation",
        "Spacing Calculation",
        MANIFEST["description"],
    )
    assert skill.triggers == Triggers(keywords=("spacing", "distance", "lease line", "offset distance", "467 feet"))
    assert skill.domain_tags == ("spacing", "rule_37", "drilling")
    assert skill.text.details == DEFINITION["description"]
    assert skill.text.steps == ("Retrieve the subject well location", "Find all wells on the same lease")
    assert skill.checkpoints == (Checkpoint("pre_filing"),)
    assert skill.emits == ("DATA_TABLE_UPDATE",)


def test_tiers_are_written_as_they_were_read() -> None:
    assert to_tiers(from_tiers(MANIFEST, DEFINITION)) == {
        "tier1_manifest": MANIFEST,
        "tier2_definition": DEFINITION,
        "tier3_artifact_refs": [],
    }


def test_a_manifest_has_exactly_five_keys() -> None:
    manifest = to_manifest(Skill(id="jam", name="Jam", description="Labels jars", version="1", status=Status.DRAFT))

    assert manifest == {
        "skill_id": "jam",
        "name": "Jam",
        "description": "Labels jars",
        "triggers": [],
        "domain_tags": [],
    }


def test_references_keep_their_order_and_bare_ids_are_references() -> None:
    ref = {"id": "a", "name": "A", "media_type": "text/markdown", "size": 3}

    skill = from_tiers(MANIFEST, DEFINITION, [ref, "b"])

    assert skill.artifacts == (ArtifactRef("a", "A", "text/markdown", 3), ArtifactRef("b", "b", "text/plain", 0))


def test_one_flat_mapping_with_a_skill_id_is_read_too() -> None:
    read = read_any({**MANIFEST, "steps": ["one"], "hitl_checkpoints": ["b"]}, path="p", source="s")

    assert read.skill is not None
    assert read.skill.description == MANIFEST["description"]
    assert (read.skill.text.steps, read.skill.text.details) == (("one",), None)
    assert read.diagnostics == ()


@pytest.mark.parametrize("key", ["skill_id", "description"])
def test_id_and_description_are_required(key: str) -> None:
    with pytest.raises(InvalidSkill, match=f"{key}` is missing"):
        from_tiers({name: value for name, value in MANIFEST.items() if name != key}, DEFINITION)
