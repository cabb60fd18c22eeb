"""Rows that people wrote or changed with SQL: they load, or are told with their place and what to do."""

import json
from hashlib import sha256

import pytest
from tests.skillweave_stores.sql.conftest import ByHand

from skillweave import Registry, Severity, Status
from skillweave.errors import ArtifactNotFound, InvalidSkill
from skillweave.registry import Change, Entry
from skillweave_stores import SqlSource

MANIFEST = {
    "skill_id": "spacing-calculation",
    "name": "Spacing Calculation",
    "description": "Distances from a well to lease lines and wells.",
    "triggers": ["spacing", "rule 37"],
    "domain_tags": ["spacing", "drilling"],
}
DEFINITION = {
    "description": "Calculates distances.",
    "steps": ["Find the well.", "Measure."],
    "requirements": ["A surface location."],
    "output_format": "A table.",
}
CHANGED = "UPDATE generation SET number = number + 1"


def _insert(by_hand: ByHand, skill_id: str = "spacing-calculation", **parts: object) -> None:
    by_hand(
        "INSERT INTO skills (id, name, tier1_manifest, tier2_definition, tier3_artifact_refs)"
        " VALUES (:id, 'Spacing Calculation', :manifest, :definition, :refs)",
        id=skill_id,
        manifest=json.dumps({**MANIFEST, "skill_id": skill_id}),
        definition=json.dumps(DEFINITION),
        refs=json.dumps(parts["refs"]) if "refs" in parts else None,
    )


def _insert_artifact(by_hand: ByHand, artifact: str, content: str, content_hash: str | None = None) -> None:
    by_hand(
        "INSERT INTO skill_artifacts (id, skill_id, name, content, content_hash, token_estimate)"
        " VALUES (:id, 'spacing-calculation', :name, :content, :hash, 7)",
        id=artifact,
        name=artifact,
        content=content,
        hash=content_hash or sha256(content.encode()).hexdigest(),
    )


@pytest.fixture(autouse=True)
async def tables(source: SqlSource) -> None:
    await source.put_agents([])


async def test_a_row_with_the_seven_columns_alone_loads(source: SqlSource, by_hand: ByHand) -> None:
    _insert(by_hand, refs=["rule-37", "notes.md"])
    _insert_artifact(by_hand, "notes.md", "Größe")
    _insert_artifact(by_hand, "rule-37", "The rule.")
    loaded = await source.load()
    assert loaded.diagnostics == ()
    (skill,) = loaded.skills
    assert (skill.id, skill.name, skill.description) == (
        "spacing-calculation",
        "Spacing Calculation",
        MANIFEST["description"],
    )
    assert (skill.triggers.keywords, skill.domain_tags) == (("spacing", "rule 37"), ("spacing", "drilling"))
    assert (skill.text.details, skill.text.steps) == ("Calculates distances.", ("Find the well.", "Measure."))
    assert (skill.text.requirements, skill.text.output_format) == (("A surface location.",), "A table.")
    assert [(ref.id, ref.media_type, ref.size, ref.token_estimate) for ref in skill.artifacts] == [
        ("rule-37", "text/plain", 9, 7),
        ("notes.md", "text/markdown", 7, 7),
    ]
    assert await source.read(skill, "notes.md") == "Größe".encode()
    assert skill.origin is not None
    assert skill.origin.location.endswith("skills 'spacing-calculation'")
    assert len(bytes.fromhex(skill.digest)) == 32


async def test_a_row_without_a_reference_comes_after_those_with_one(source: SqlSource, by_hand: ByHand) -> None:
    _insert(by_hand, refs=["z"])
    for artifact in ("b", "a", "z"):
        _insert_artifact(by_hand, artifact, artifact)
    (skill,) = (await source.load()).skills
    assert [ref.id for ref in skill.artifacts] == ["z", "a", "b"]


async def test_a_reference_without_a_row_is_a_warning(source: SqlSource, by_hand: ByHand) -> None:
    _insert(by_hand, refs=["there", "gone"])
    _insert_artifact(by_hand, "there", "x")
    loaded = await source.load()
    (finding,) = loaded.diagnostics
    assert (finding.code, finding.severity, finding.skill) == (
        "artifact-without-content",
        Severity.WARNING,
        "spacing-calculation",
    )
    assert finding.message == "artifact 'gone' is listed, and `skill_artifacts` has no row of it"
    with pytest.raises(ArtifactNotFound):
        await source.read(loaded.skills[0], "gone")


async def test_a_status_set_by_hand_counts_and_replicas_see_it(source: SqlSource, by_hand: ByHand) -> None:
    await source.publish({"id": "alpha", "description": "x"})
    await source.publish({"id": "omega", "description": "x"})
    registry = Registry([source])
    await registry.refresh()
    by_hand("UPDATE skills SET status = 'disabled' WHERE id = 'alpha'")
    by_hand(CHANGED)
    assert (await registry.refresh()).changed == ("alpha",)
    assert registry.snapshot.skills["alpha"].status is Status.DISABLED
    by_hand("UPDATE skills SET status = 'active' WHERE id = 'alpha'")
    by_hand(CHANGED)
    before = registry.snapshot.skills["omega"]
    assert (await registry.refresh()).changed == ("alpha",)
    assert registry.snapshot.skills["omega"] is before


async def test_a_version_set_by_hand_counts(source: SqlSource, by_hand: ByHand) -> None:
    await source.publish({"id": "alpha", "description": "x", "version": "1.0"})
    by_hand("UPDATE skills SET version = '2.0'")
    assert (await source.load()).skills[0].version == "2.0"


async def test_a_definition_changed_by_hand_has_a_digest_of_its_own(source: SqlSource, by_hand: ByHand) -> None:
    written = await source.publish({"id": "alpha", "description": "x", "steps": ["old"]})
    first = await source.load()
    by_hand(
        "UPDATE skills SET tier2_definition = :new, updated_at = '2031-01-01 00:00:00+00:00'",
        new=json.dumps({"steps": ["new"]}),
    )
    (changed,) = (await source.load(first)).skills
    assert changed.text.steps == ("new",)
    assert written.skill is not None
    assert changed.digest != written.skill.digest


async def test_what_was_written_by_hand_is_a_version_that_can_be_rolled_back_to(
    source: SqlSource, by_hand: ByHand
) -> None:
    _insert(by_hand, refs=["notes.md"])
    _insert_artifact(by_hand, "notes.md", "by hand", content_hash="no hash at all")
    (by_somebody,) = (await source.load()).skills
    (version,) = await source.versions("spacing-calculation")
    assert version.in_use
    assert version.skill == by_somebody
    published = await source.publish({"id": "spacing-calculation", "description": "published"}, {"notes.md": "new"})
    assert published.change is Change.UPDATED
    used, earlier = await source.versions("spacing-calculation")
    assert (used.in_use, earlier.in_use) == (True, False)
    back = await source.roll_back("spacing-calculation", earlier.content_hash)
    assert back.text == by_somebody.text
    assert await source.read(back, "notes.md") == b"by hand"
    assert (await source.load()).skills == (back,)


async def test_a_row_changed_by_hand_is_put_right_by_publishing_again(source: SqlSource, by_hand: ByHand) -> None:
    definition = {"id": "alpha", "description": "x", "steps": ["right"]}
    await source.publish(definition, {"a.md": "right"})
    (before,) = (await source.load()).skills
    by_hand('UPDATE skills SET tier2_definition = \'{"steps": ["wrong"]}\'')
    by_hand("DELETE FROM skill_artifacts")
    assert (await source.publish(definition, {"a.md": "right"})).change is Change.UPDATED
    (after,) = (await source.load()).skills
    assert after == before
    assert await source.read(after, "a.md") == b"right"
    assert len(await source.versions("alpha")) == 2


async def test_content_changed_by_hand_without_its_hash_is_not_given_for_what_was_published(
    source: SqlSource, by_hand: ByHand
) -> None:
    await source.publish({"id": "alpha", "description": "x"}, {"a.md": "published"})
    (skill,) = (await source.load()).skills
    by_hand("UPDATE skill_artifacts SET content = 'other'")
    with pytest.raises(ArtifactNotFound, match="was changed by hand; publish it, or correct `content_hash`"):
        await source.read(skill, "a.md")
    by_hand("UPDATE skill_artifacts SET content_hash = :hash, size = NULL", hash=sha256(b"other").hexdigest())
    (skill,) = (await source.load()).skills
    assert (skill.artifacts[0].size, await source.read(skill, "a.md")) == (5, b"other")


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
async def test_what_was_written_by_hand_and_cannot_be_kept_is_not_replaced(source: SqlSource, by_hand: ByHand) -> None:
    _insert(by_hand)
    _insert_artifact(by_hand, "x" * 1025, "content")
    definitions = ({"id": "spacing-calculation", "description": "new"}, {"id": "other", "description": "x"})
    refused, stored = await source.upsert(map(Entry, definitions))
    assert (refused.change, stored.change) == (Change.REFUSED, Change.INSERTED)
    assert "was written by hand and cannot be kept as a version" in refused.why
    with pytest.raises(InvalidSkill, match="written by hand"):
        await source.remove("spacing-calculation")
    assert (await source.load()).skills[1].description == MANIFEST["description"]


async def test_a_damaged_version_is_refused_by_itself_when_it_is_published_again(
    source: SqlSource, by_hand: ByHand
) -> None:
    for description in ("old", "new"):
        await source.publish({"id": "alpha", "description": description})
    by_hand("UPDATE skill_versions SET tier1_manifest = '[]' WHERE number = 1")
    refused, stored = await source.upsert(
        [Entry({"id": "alpha", "description": "old"}), Entry({"id": "omega", "description": "x"})]
    )
    assert (refused.change, stored.change) == (Change.REFUSED, Change.INSERTED)
    assert "skill_versions 'alpha'" in refused.why
    with pytest.raises(InvalidSkill, match="skill_versions 'alpha'"):
        await source.publish({"id": "alpha", "description": "old"})
    assert (await source.load()).skills[0].description == "new"


DAMAGE = {
    "manifest": ("tier1_manifest = '[]'", "are not both JSON objects"),
    "definition": ("tier2_definition = '7'", "are not both JSON objects"),
    "references": ("tier3_artifact_refs = '{}'", "`tier3_artifact_refs` is not a JSON list"),
    "status": ("status = 'archived'", "`status` is 'archived', none of active, draft, disabled, deprecated"),
    "origin": ("origin = '{\"source\": 7}'", "an Origin cannot be read"),
    "description": ('tier1_manifest = \'{"skill_id": "b", "name": "B"}\'', "`tier1_manifest.description` is"),
    "another id": (
        'tier1_manifest = \'{"skill_id": "c", "description": "x"}\'',
        "`id` is 'b', and `tier1_manifest.skill_id` makes 'c'",
    ),
}
DAMAGE_OF_A_FILE = {
    "no json": ("tier2_definition = '{'", "`tier2_definition` is not JSON"),
    "bytes": ("tier2_definition = x'ff00'", "is not JSON"),
    "no text": ("tier2_definition = CAST(x'7b22ff223a317d' AS TEXT)", "half of a surrogate pair"),
    "deep": (f"tier2_definition = '{'[' * 20_000}'", "`tier2_definition` is not JSON"),
    "time": ("updated_at = 'yesterday', tier1_manifest = '[]'", "are not both JSON objects"),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_row_is_told_and_hides_no_other(source: SqlSource, by_hand: ByHand, damage: str) -> None:
    await _damaged(source, by_hand, *DAMAGE[damage])


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("damage", DAMAGE_OF_A_FILE)
async def test_a_file_takes_any_damage_and_hides_no_other_row(source: SqlSource, by_hand: ByHand, damage: str) -> None:
    await _damaged(source, by_hand, *DAMAGE_OF_A_FILE[damage])


async def _damaged(source: SqlSource, by_hand: ByHand, change: str, message: str) -> None:
    for skill_id in ("a", "b", "c"):
        await source.publish({"id": skill_id, "description": "x"})
    by_hand(f"UPDATE skills SET {change} WHERE id = 'b'")
    loaded = await source.load()
    assert [skill.id for skill in loaded.skills] == ["a", "c"]
    errors = [found for found in loaded.diagnostics if found.severity is Severity.ERROR]
    assert errors
    assert any(message in found.message for found in errors), errors
    assert all("skills 'b'" in str(found.location) and found.fix for found in errors)
    with pytest.raises(InvalidSkill, match="is damaged"):
        await source.remove("b")
    assert (await source.publish({"id": "b", "description": "new"})).change is Change.UPDATED
    assert [skill.id for skill in (await source.load(loaded)).skills] == ["a", "b", "c"]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
async def test_a_row_without_an_id_is_told(source: SqlSource, by_hand: ByHand) -> None:
    _insert(by_hand, "")
    await source.publish({"id": "a", "description": "x"})
    by_hand("INSERT INTO skills (id, name, tier1_manifest, tier2_definition) VALUES (x'00', 'x', '{}', '{}')")
    loaded = await source.load()
    assert [skill.id for skill in loaded.skills] == ["a"]
    assert len([found for found in loaded.diagnostics if found.severity is Severity.ERROR]) == 2


async def test_an_id_that_is_none_is_told(source: SqlSource, by_hand: ByHand) -> None:
    _insert(by_hand, "Spacing Calculation")
    loaded = await source.load()
    assert loaded.skills == ()
    (error,) = [found for found in loaded.diagnostics if found.severity is Severity.ERROR]
    assert "make them equal, of letters, digits, `-` and `_`" in error.message


async def test_a_damaged_agent_is_told_and_hides_no_other(source: SqlSource, by_hand: ByHand) -> None:
    columns = "id, name, agent_type, model, skills, checkpoints, budgets"
    for agent, skills, budgets in (
        ("good", '["alpha"]', "{}"),
        ("bad", '{"a": 1}', "{}"),
        ("no id", "[]", "{}"),
        ("poor", "[]", '{"tokens_per_execution": -1}'),
    ):
        by_hand(
            f"INSERT INTO agents ({columns}) VALUES (:id, '', '', '', :skills, '[]', :budgets)",
            id=agent,
            skills=skills,
            budgets=budgets,
        )
    loaded = await source.load()
    assert list(loaded.agents) == ["good"]
    assert {found.code for found in loaded.diagnostics} == {"damaged-row"}
    assert sorted(str(found.location).rpartition(", ")[2] for found in loaded.diagnostics) == [
        "agents 'bad'",
        "agents 'no id'",
        "agents 'poor'",
    ]
