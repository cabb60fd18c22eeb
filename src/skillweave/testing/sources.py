"""The contract of a source as tests: a source is what passes them."""

import asyncio
import json
from typing import Any, cast

import pytest

from skillweave.diagnostics import Diagnostic, Severity
from skillweave.errors import ArtifactNotFound
from skillweave.graph.graph import SkillGraph
from skillweave.registry.source import Loaded, Source
from skillweave.skill import Skill, is_skill_id

GOOD = ("alpha", "omega")
"""The ids of the skills that the source under test holds."""
ARTIFACT = "references/notes.md"
"""The one artifact, which `alpha` has."""
CONTENT = "Größe zuerst.\n"
"""What stands in it, in UTF-8."""
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


async def _alpha(source: Source) -> Skill:
    return next(skill for skill in (await source.load(None)).skills if skill.id == "alpha")


def _errors(loaded: Loaded) -> list[Diagnostic]:
    return [finding for finding in loaded.diagnostics if finding.severity is Severity.ERROR]
