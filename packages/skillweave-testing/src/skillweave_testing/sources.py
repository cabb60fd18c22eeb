"""The contracts of a source and of a store of skills as tests: a backend is what passes them."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, cast

import pytest

from skillweave import Checkpoint, Diagnostic, Registry, Severity, Skill, SkillNotFound, Source
from skillweave.entities import ContextRules
from skillweave.errors import AgentNotFound, ArtifactNotFound, InvalidSkill, InvalidValue, VersionNotFound
from skillweave.graph import SkillGraph
from skillweave.registry import (
    Agent,
    Change,
    Entry,
    Loaded,
    WrappedSource,
    WritableSource,
    collect,
    entries_of,
    stream_of,
    version_of,
    watched_of,
)
from skillweave.skills import is_skill_id
from skillweave.sources import InCode
from skillweave.values import FrozenDict, close_all
from skillweave_testing.ledger import for_impossible_tenants

GOOD = ("alpha", "omega")
"""The ids of the skills that the source under test holds."""
ARTIFACT = "references/notes.md"
"""The one artifact, which `alpha` has."""
CONTENT = "Größe zuerst.\n"
"""What stands in it, in UTF-8."""
AGENT = Agent(
    "clerk",
    "Clerk",
    "assistant",
    "some-model",
    ("alpha", "not-there"),
    (Checkpoint("sign-off", before="pay", reviewer="Zoë"),),
    FrozenDict({"tokens_per_execution": 4000, "cost_per_day": 2.5}),
)
HOSTILE_IDS = (
    "",
    ".",
    "..",
    "/",
    "/etc/passwd",
    "../omega/SKILL.md",
    "references/../../omega/SKILL.md",
    "references/../SKILL.md",
    "SKILL.md",
    "references",
    "references/notes.md/",
    "references//notes.md",
    "references\\notes.md",
    "C:\\windows\\win.ini",
    "references/notes.md\0",
    "references/notes.md\n",
    "\udcff",
    "a" * 5000,
    "%2e%2e/omega",
)
"""What nobody may read by asking for it."""


@pytest.mark.asyncio
class SourceContract:
    """Inherit, and give a fixture `source`: a source of the skills in `GOOD`, and of a bad one between the two.

    `alpha` has one artifact, `ARTIFACT`, with `CONTENT` in it. No part of the contract can be opted out of.
    """

    @pytest.fixture
    def source(self) -> Source:
        """The source under test."""
        raise NotImplementedError("a subclass gives the source")

    async def test_all_good_skills_load_in_order(self, source: Source) -> None:
        assert [skill.id for skill in (await source.load(None)).skills] == list(GOOD)

    async def test_a_graph_is_in_the_data_form(self, source: Source) -> None:
        graph = (await source.load(None)).graph
        assert graph is None or SkillGraph.from_dict(graph, check="off").digest

    async def test_rules_of_entity_context_are_in_the_data_form(self, source: Source) -> None:
        context = (await source.load(None)).context
        assert context is None or ContextRules.from_dict(context).to_dict()

    async def test_loading_twice_gives_equal_skills(self, source: Source) -> None:
        first = await source.load(None)
        again = await source.load(None)
        assert (again.skills, again.diagnostics) == (first.skills, first.diagnostics)

    async def test_what_was_loaded_before_is_known_again(self, source: Source) -> None:
        first = await source.load(None)
        again = await source.load(first)
        assert (again.skills, again.diagnostics) == (first.skills, first.diagnostics)

    async def test_the_memory_of_another_source_does_no_harm(self, source: Source) -> None:
        strange = await source.load(Loaded(memory={"nobody": "knows"}))
        assert [skill.id for skill in strange.skills] == list(GOOD)

    async def test_loading_many_times_at_once_gives_equal_skills(self, source: Source) -> None:
        loads = await asyncio.gather(*(source.load(None) for _ in range(8)))
        assert {load.skills for load in loads} == {loads[0].skills}

    async def test_a_bad_skill_is_an_error_with_a_place_and_a_fix(self, source: Source) -> None:
        errors = _errors(await source.load(None))
        assert errors
        assert all(error.location and error.location.path and error.fix and error.message for error in errors)

    async def test_findings_are_one_line_each_and_json(self, source: Source) -> None:
        for finding in (await source.load(None)).diagnostics:
            assert "\n" not in finding.message + finding.fix
            assert json.loads(json.dumps(finding.to_dict(), ensure_ascii=False).encode())

    async def test_ids_are_ids_and_digests_are_sha_256(self, source: Source) -> None:
        for skill in (await source.load(None)).skills:
            assert is_skill_id(skill.id)
            assert len(bytes.fromhex(skill.digest)) == 32

    async def test_every_skill_tells_its_origin(self, source: Source) -> None:
        for skill in (await source.load(None)).skills:
            assert skill.origin is not None
            assert skill.origin.source == source.name
            assert skill.origin.location

    async def test_skills_cannot_be_changed(self, source: Source) -> None:
        for skill in (await source.load(None)).skills:
            assert isinstance(hash(skill), int)
            for free in (skill.metadata, skill.extra):
                with pytest.raises(TypeError):
                    cast("dict[str, Any]", free)["new"] = 1

    async def test_an_artifact_is_listed_with_its_size_and_type(self, source: Source) -> None:
        (ref,) = (await _alpha(source)).artifacts
        assert (ref.id, ref.name, ref.media_type, ref.size) == (
            ARTIFACT,
            "notes.md",
            "text/markdown",
            len(CONTENT.encode()),
        )

    async def test_a_listed_artifact_is_read_byte_for_byte(self, source: Source) -> None:
        assert await source.read(await _alpha(source), ARTIFACT) == CONTENT.encode()

    async def test_artifacts_are_read_many_at_once(self, source: Source) -> None:
        alpha = await _alpha(source)
        assert set(await asyncio.gather(*(source.read(alpha, ARTIFACT) for _ in range(16)))) == {CONTENT.encode()}

    @pytest.mark.parametrize("artifact", HOSTILE_IDS, ids=[ascii(artifact)[:40] for artifact in HOSTILE_IDS])
    async def test_what_is_not_listed_is_not_read(self, source: Source, artifact: str) -> None:
        with pytest.raises(ArtifactNotFound):
            await source.read(await _alpha(source), artifact)

    async def test_an_artifact_of_another_skill_is_not_read(self, source: Source) -> None:
        omega = next(skill for skill in (await source.load(None)).skills if skill.id == "omega")
        with pytest.raises(ArtifactNotFound):
            await source.read(omega, ARTIFACT)

    async def test_a_stream_has_what_load_has(self, source: Source) -> None:
        loaded, streamed = await source.load(None), await collect(stream_of(source))
        assert streamed.skills == loaded.skills
        assert set(streamed.diagnostics) == set(loaded.diagnostics)
        assert (streamed.events, streamed.task_rules) == (loaded.events, loaded.task_rules)
        assert (streamed.graph, streamed.graph_location) == (loaded.graph, loaded.graph_location)
        assert streamed.context == loaded.context

    async def test_a_version_stays_while_nothing_changes(self, source: Source) -> None:
        before = await version_of(source)
        await source.load(None)
        assert await version_of(source) == before

    async def test_it_can_be_wrapped_twice_and_does_the_same(self, source: Source) -> None:
        wrapped = WrappedSource(WrappedSource(source))
        first = await wrapped.load(None)
        again = await wrapped.load(first)
        assert (again.skills, again.diagnostics) == (first.skills, first.diagnostics)
        assert [skill.id for skill in first.skills] == list(GOOD)
        assert await wrapped.read(await _alpha(wrapped), ARTIFACT) == CONTENT.encode()
        assert (wrapped.name, wrapped.watched) == (source.name, watched_of(source))
        assert await wrapped.version() == await version_of(source)
        assert (await collect(wrapped.stream())).skills == first.skills

    async def test_it_can_be_closed_twice_if_it_can_be_closed(self, source: Source) -> None:
        await close_all((source,))
        await close_all((source,))


@pytest.mark.asyncio
class WritableSourceContract:
    """Inherit, and give a fixture `source`: a new, empty store of skills, seen by the default tenant."""

    @pytest.fixture
    def source(self) -> WritableSource:
        """The store under test."""
        raise NotImplementedError("a subclass gives the store")

    async def test_a_new_store_holds_nothing(self, source: WritableSource) -> None:
        loaded = await source.load(None)
        assert (loaded.skills, _errors(loaded)) == ((), [])
        assert source.tenant == ""

    async def test_what_is_published_is_loaded(self, source: WritableSource) -> None:
        written = await source.publish(_definition("alpha", "First."))
        assert written.change is Change.INSERTED
        assert (await source.load(None)).skills == (written.skill,)

    async def test_skills_are_loaded_in_the_order_of_their_ids(self, source: WritableSource) -> None:
        for skill_id in ("c", "a", "b"):
            await source.publish(_definition(skill_id, "x"))
        assert await _ids(source) == ["a", "b", "c"]

    async def test_artifacts_are_listed_and_read_byte_for_byte(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "x"), {ARTIFACT: CONTENT, "assets/logo.png": b"\x89PNG\0"})
        (skill,) = (await source.load(None)).skills
        assert {ref.id: (ref.media_type, ref.size) for ref in skill.artifacts} == {
            ARTIFACT: ("text/markdown", len(CONTENT.encode())),
            "assets/logo.png": ("image/png", 5),
        }
        assert await source.read(skill, ARTIFACT) == CONTENT.encode()
        assert await source.read(skill, "assets/logo.png") == b"\x89PNG\0"

    @pytest.mark.parametrize("artifact", HOSTILE_IDS, ids=[ascii(artifact)[:40] for artifact in HOSTILE_IDS])
    async def test_what_is_not_listed_is_not_read(self, source: WritableSource, artifact: str) -> None:
        await source.publish(_definition("alpha", "x"), {ARTIFACT: CONTENT})
        with pytest.raises(ArtifactNotFound):
            await source.read(await _alpha(source), artifact)

    async def test_what_is_in_use_already_is_left_unchanged(self, source: WritableSource) -> None:
        first = await source.publish(_definition("alpha", "x"), {ARTIFACT: CONTENT})
        version = await source.version()
        again = await source.publish(_definition("alpha", "x"), {ARTIFACT: CONTENT})
        assert (again.change, again.skill) == (Change.UNCHANGED, first.skill)
        assert await source.version() == version
        assert len(await source.versions("alpha")) == 1

    async def test_another_definition_is_another_version(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "old"))
        version = await source.version()
        assert (await source.publish(_definition("alpha", "new"))).change is Change.UPDATED
        assert await source.version() != version
        assert (await _alpha(source)).description == "new"
        assert [(one.skill.description, one.in_use) for one in await source.versions("alpha")] == [
            ("new", True),
            ("old", False),
        ]

    async def test_another_content_of_an_artifact_is_another_version(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "x"), {ARTIFACT: "old"})
        assert (await source.publish(_definition("alpha", "x"), {ARTIFACT: "new"})).change is Change.UPDATED
        alpha = await _alpha(source)
        assert (alpha.artifacts[0].content_hash, await source.read(alpha, ARTIFACT)) == (
            sha256(b"new").hexdigest(),
            b"new",
        )
        assert len({one.content_hash for one in await source.versions("alpha")}) == 2

    async def test_a_changed_copy_that_has_the_digest_of_its_original_is_another_version(
        self, source: WritableSource
    ) -> None:
        skill = (await source.publish(_definition("alpha", "old"))).skill
        assert skill is not None
        assert (await source.publish(replace(skill, description="new"))).change is Change.UPDATED
        assert (await _alpha(source)).description == "new"

    async def test_an_earlier_version_can_be_rolled_back_to(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "old"), {ARTIFACT: "old"})
        await source.publish(_definition("alpha", "new"), {ARTIFACT: "new"})
        version, (_, old) = await source.version(), await source.versions("alpha")
        assert (await source.roll_back("alpha", old.content_hash)).description == "old"
        assert await source.version() != version
        alpha = await _alpha(source)
        assert (alpha.description, await source.read(alpha, ARTIFACT)) == ("old", b"old")
        assert [one.in_use for one in await source.versions("alpha")] == [False, True]

    async def test_an_artifact_is_that_of_the_version_that_was_loaded(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "x"), {ARTIFACT: "old"})
        registry = Registry([source])
        await registry.refresh()
        before = registry.snapshot
        await source.publish(_definition("alpha", "x"), {ARTIFACT: "new"})
        assert (await registry.read_artifact("alpha", ARTIFACT)).data == b"old"
        await registry.refresh()
        assert (await registry.read_artifact("alpha", ARTIFACT)).data == b"new"
        assert (await registry.read_artifact("alpha", ARTIFACT, snapshot=before)).data == b"old"
        await source.remove("alpha")
        assert await source.read(before["alpha"], ARTIFACT) == b"old"

    async def test_an_artifact_of_an_earlier_version_alone_is_not_found(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "x"), {ARTIFACT: "old", "references/more.md": "more"})
        (old,) = (await source.load(None)).skills
        await source.publish(_definition("alpha", "y"), {ARTIFACT: "new"})
        with pytest.raises(ArtifactNotFound):
            await source.read(await _alpha(source), "references/more.md")
        assert await source.read(old, "references/more.md") == b"more"

    async def test_an_artifact_of_a_version_that_never_was_is_not_found(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "x"), {ARTIFACT: CONTENT})
        alpha = await _alpha(source)
        strange = tuple(replace(ref, content_hash="0" * 64) for ref in alpha.artifacts)
        with pytest.raises(ArtifactNotFound):
            await source.read(replace(alpha, digest="0" * 64, artifacts=strange), ARTIFACT)

    async def test_rolling_back_to_what_is_in_use_changes_nothing(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "x"))
        version, (only,) = await source.version(), await source.versions("alpha")
        await source.roll_back("alpha", only.content_hash)
        assert await source.version() == version

    async def test_publishing_an_earlier_version_puts_it_in_use_again(self, source: WritableSource) -> None:
        for description in ("old", "new", "old"):
            await source.publish(_definition("alpha", description))
        assert (await _alpha(source)).description == "old"
        assert len(await source.versions("alpha")) == 2

    @pytest.mark.parametrize("no_hash", ["", "\0", "\ud800", "x" * 5_000], ids=["empty", "nul", "half", "long"])
    async def test_what_can_be_no_hash_names_no_version(self, source: WritableSource, no_hash: str) -> None:
        await source.publish(_definition("alpha", "x"))
        with pytest.raises(VersionNotFound):
            await source.roll_back("alpha", no_hash)

    async def test_a_version_that_never_was_is_answered_with_those_that_were(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "x"))
        (only,) = await source.versions("alpha")
        with pytest.raises(VersionNotFound) as refusal:
            await source.roll_back("alpha", "0" * 64)
        assert refusal.value.known == (only.content_hash,)

    async def test_an_unknown_skill_is_answered_with_the_known_ones(self, source: WritableSource) -> None:
        await source.publish(_definition("alpha", "x"))
        for asked in (source.versions("alpa"), source.roll_back("alpa", "0"), source.remove("alpa")):
            with pytest.raises(SkillNotFound, match="alpha"):
                await asked

    async def test_a_removed_skill_is_not_loaded_and_can_be_rolled_back_to(self, source: WritableSource) -> None:
        written = await source.publish(_definition("alpha", "x"))
        version = await source.version()
        assert await source.remove("alpha") == written.skill
        assert await source.version() != version
        assert await _ids(source) == []
        (kept,) = await source.versions("alpha")
        assert not kept.in_use
        await source.roll_back("alpha", kept.content_hash)
        assert await _ids(source) == ["alpha"]
        await source.remove("alpha")
        assert (await source.publish(_definition("alpha", "x"))).change is Change.INSERTED

    async def test_many_are_stored_and_a_bad_one_is_refused_by_itself(self, source: WritableSource) -> None:
        await source.publish(_definition("same", "x"))
        await source.publish(_definition("other", "old"))
        definitions: list[Any] = [
            _definition("new", "x"),
            {"id": "bad"},
            _definition("same", "x"),
            7,
            _definition("other", "new"),
            Skill("no id", "Bad", "x"),
        ]
        written = await source.upsert(Entry(definition) for definition in definitions)
        assert [one.change.value for one in written] == [
            "inserted",
            "refused",
            "unchanged",
            "refused",
            "updated",
            "refused",
        ]
        assert all((one.skill is None) == bool(one.why) == (one.change is Change.REFUSED) for one in written)
        assert await _ids(source) == ["new", "other", "same"]

    async def test_what_is_no_skill_cannot_be_published_and_changes_nothing(self, source: WritableSource) -> None:
        version = await source.version()
        with pytest.raises(InvalidSkill):
            await source.publish({"id": "bad"})
        assert (await source.version(), await _ids(source)) == (version, [])

    async def test_of_simultaneous_equal_publishes_one_inserts(self, source: WritableSource) -> None:
        written = await asyncio.gather(*(source.publish(_definition("alpha", "x")) for _ in range(16)))
        assert sorted(one.change.value for one in written) == ["inserted", *["unchanged"] * 15]
        assert len(await source.versions("alpha")) == 1

    async def test_simultaneous_publishes_of_different_versions_are_all_kept(self, source: WritableSource) -> None:
        await asyncio.gather(*(source.publish(_definition("alpha", f"version {n}")) for n in range(8)))
        versions = await source.versions("alpha")
        assert len(versions) == 8
        assert [one.skill for one in versions if one.in_use] == [await _alpha(source)]

    async def test_skills_of_one_tenant_are_unknown_to_another(self, source: WritableSource) -> None:
        mine, theirs = source.for_tenant("a"), source.for_tenant("b")
        assert (mine.tenant, mine.name) == ("a", source.name)
        await mine.publish(_definition("alpha", "mine"), {ARTIFACT: "mine"})
        version = await mine.version()
        await theirs.publish(_definition("alpha", "theirs"), {ARTIFACT: "theirs"})
        await theirs.publish(_definition("omega", "theirs"))
        assert await mine.version() == version
        assert [await _ids(one) for one in (source, mine, theirs)] == [[], ["alpha"], ["alpha", "omega"]]
        assert await mine.read(await _alpha(mine), ARTIFACT) == b"mine"
        with pytest.raises(SkillNotFound):
            await source.versions("alpha")
        await theirs.remove("alpha")
        assert await _ids(source.for_tenant("a")) == ["alpha"]

    async def test_a_tenants_versions_cannot_be_rolled_back_to_by_another(self, source: WritableSource) -> None:
        mine = source.for_tenant("a")
        for description in ("old", "new"):
            await mine.publish(_definition("alpha", description))
        await source.publish(_definition("alpha", "new"))
        (_, old) = await mine.versions("alpha")
        with pytest.raises(VersionNotFound):
            await source.roll_back("alpha", old.content_hash)

    async def test_the_tenant_called_default_is_the_default_one(self, source: WritableSource) -> None:
        called = source.for_tenant("a").for_tenant("default")
        await called.publish(_definition("alpha", "x"))
        assert (called.tenant, await _ids(source), await _ids(source.for_tenant(""))) == ("", ["alpha"], ["alpha"])

    @for_impossible_tenants
    async def test_what_cannot_be_a_tenant_is_refused(self, source: WritableSource, tenant: str) -> None:
        with pytest.raises(InvalidValue, match="tenant"):
            source.for_tenant(tenant)

    async def test_a_stream_has_what_load_has(self, source: WritableSource) -> None:
        await source.upsert(Entry(_definition(f"s{n:03}", "x")) for n in range(600))
        parts = [part.skills async for part in source.stream()]
        assert len(parts) > 1
        assert tuple(skill for part in parts for skill in part) == (await source.load(None)).skills

    async def test_what_is_copied_from_another_source_comes_back_equal(self, source: WritableSource) -> None:
        other = InCode(
            Skill("alpha", "Alpha", "First.", metadata={"a": {"b": ("c",)}}),
            {"id": "omega", "description": "Last.", "version": "1.2"},
            artifacts={"alpha": {ARTIFACT: CONTENT}},
        )
        for _ in range(2):
            await source.upsert([entry async for entry in entries_of(other)])
        assert [_unhashed(skill) for skill in (await source.load(None)).skills] == list((await other.load(None)).skills)
        assert await source.read(await _alpha(source), ARTIFACT) == CONTENT.encode()
        assert [len(await source.versions(skill_id)) for skill_id in GOOD] == [1, 1]

    async def test_agents_come_back_equal_and_by_their_ids(self, source: WritableSource) -> None:
        writer, reader = replace(AGENT, id="writer"), replace(AGENT, id="reader", skills=(), checkpoints=())
        assert await source.put_agents([writer, reader]) == (Change.INSERTED, Change.INSERTED)
        assert dict((await source.load(None)).agents) == {"reader": reader, "writer": writer}
        assert (await collect(source.stream())).agents == (await source.load(None)).agents

    async def test_an_agent_that_is_stored_again_replaces_the_one_before(self, source: WritableSource) -> None:
        await source.put_agents([AGENT])
        version = await source.version()
        assert await source.put_agents([AGENT]) == (Change.UNCHANGED,)
        assert await source.version() == version
        changed = replace(AGENT, skills=("omega",))
        assert await source.put_agents([changed]) == (Change.UPDATED,)
        assert await source.version() != version
        assert (await source.load(None)).agents == {AGENT.id: changed}

    async def test_an_agent_that_is_removed_is_gone(self, source: WritableSource) -> None:
        await source.put_agents([AGENT])
        assert await source.remove_agent(AGENT.id) == AGENT
        assert (await source.load(None)).agents == {}
        with pytest.raises(AgentNotFound):
            await source.remove_agent(AGENT.id)

    async def test_agents_of_one_tenant_are_unknown_to_another(self, source: WritableSource) -> None:
        await source.for_tenant("a").put_agents([AGENT])
        assert (await source.load(None)).agents == (await source.for_tenant("b").load(None)).agents == {}
        with pytest.raises(AgentNotFound):
            await source.for_tenant("b").remove_agent(AGENT.id)

    async def test_a_registry_sees_what_is_published_and_rolled_back(self, source: WritableSource) -> None:
        registry = Registry([source])
        await source.publish(_definition("alpha", "old"))
        assert (await registry.refresh()).added == ("alpha",)
        assert not await registry.refresh()
        await source.publish(_definition("alpha", "new"))
        assert (await registry.refresh()).changed == ("alpha",)
        (_, old) = await source.versions("alpha")
        await source.roll_back("alpha", old.content_hash)
        assert (await registry.refresh()).changed == ("alpha",)
        await source.remove("alpha")
        assert (await registry.refresh()).removed == ("alpha",)

    async def test_it_is_closed_at_the_end_of_a_block(self, source: WritableSource) -> None:
        async with source as entered:
            await entered.publish(_definition("alpha", "x"))
        await source.close()


def _definition(skill_id: str, description: str) -> Mapping[str, Any]:
    return {"id": skill_id, "description": description}


def _unhashed(skill: Skill) -> Skill:
    return replace(
        skill, artifacts=tuple(replace(ref, content_hash=None, token_estimate=None) for ref in skill.artifacts)
    )


async def _ids(source: Source) -> list[str]:
    return [skill.id for skill in (await source.load(None)).skills]


async def _alpha(source: Source) -> Skill:
    return next(skill for skill in (await source.load(None)).skills if skill.id == "alpha")


def _errors(loaded: Loaded) -> list[Diagnostic]:
    return [finding for finding in loaded.diagnostics if finding.severity is Severity.ERROR]
