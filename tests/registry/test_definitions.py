import pytest

from skillweave import Skill
from skillweave.errors import ArtifactNotFound, InvalidSkill
from skillweave.registry import define
from skillweave.registry.definitions import lift_contents
from skillweave.skills import ArtifactRef, Origin


def test_a_value_keeps_the_digest_and_origin_that_it_has() -> None:
    skill = Skill("a", "A", "x", digest="d", origin=Origin("elsewhere", "there"))
    assert define(skill, "code").skill == skill


def test_content_of_a_listed_artifact_gives_it_its_size_and_keeps_its_type() -> None:
    skill = Skill("a", "A", "x", artifacts=(ArtifactRef("form", "The form", "text/html", 0),))
    (ref,) = define(skill, "code").with_contents({"form": "<p>"}).skill.artifacts
    assert ref == ArtifactRef("form", "The form", "text/html", 3)


async def test_a_listed_artifact_without_content_says_so() -> None:
    skill = Skill("a", "A", "x", artifacts=(ArtifactRef("form", "The form", "text/html", 0),))
    with pytest.raises(ArtifactNotFound, match="without content"):
        await define(skill, "code").read(skill, "form")


def test_an_error_anywhere_in_a_mapping_refuses_it() -> None:
    with pytest.raises(InvalidSkill, match="status"):
        define({"id": "a", "description": "x", "status": "unheard of"}, "code")


def test_a_warning_in_a_mapping_is_kept_with_it() -> None:
    defined = define({"id": "a", "description": "x", "domain_tags": "one"}, "code")
    assert [finding.code for finding in defined.diagnostics] == ["not-a-list"]


def test_lifting_content_leaves_a_definition_without_any_as_it_is() -> None:
    definition = {"id": "a", "artifacts": ["bare", {"id": "x"}, 7]}
    assert lift_contents(definition) == (definition, {})
