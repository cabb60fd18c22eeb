"""Skills in a SQL database: the contracts of sources, what is read when, and how many statements that takes."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio
from sqlalchemy import Engine, event
from tests.skillweave_stores.sql.conftest import ByHand

from skillweave import Registry, Skill
from skillweave.errors import ArtifactNotFound, InvalidSkill, InvalidValue
from skillweave.registry import Agent, Entry
from skillweave.registry.writing import content_hash_of
from skillweave.skill import ArtifactRef
from skillweave_stores import SqlSource
from skillweave_stores.sql.reading import PART
from skillweave_testing import SourceContract, WritableSourceContract
from skillweave_testing.sources import ARTIFACT, CONTENT
from tests.proxy import Proxy

LARGE = "x" * 200_000


class TestSqlSource(WritableSourceContract):
    @pytest_asyncio.fixture
    async def source(self, url: str) -> AsyncIterator[SqlSource]:
        async with SqlSource(url) as source:
            yield source


class TestSqlSourceWithADamagedRow(SourceContract):
    @pytest_asyncio.fixture
    async def source(self, url: str, by_hand: ByHand) -> AsyncIterator[SqlSource]:
        async with SqlSource(url) as source:
            await source.publish({"id": "omega", "description": "Last."})
            await source.publish({"id": "alpha", "description": "First."}, {ARTIFACT: CONTENT})
            by_hand(
                "INSERT INTO skills (id, name, tier1_manifest, tier2_definition) VALUES ('bad', 'Bad', '{}', :other)",
                other="[]",
            )
            yield source


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def _many(count: int, description: str = "x") -> list[Entry]:
    return [
        Entry({"id": f"s{n:05}", "description": description, "instructions": "Do it."}, {"a.md": "a", "b.md": f"b{n}"})
        for n in range(count)
    ]


async def test_loading_many_takes_a_few_statements_for_each_part_and_none_for_a_skill(
    source: SqlSource, statements: list[str]
) -> None:
    await source.upsert(_many(2 * PART + 1))
    statements.clear()
    loaded = await source.load()
    assert len(loaded.skills) == 2 * PART + 1
    assert len([one for one in statements if one.startswith("SELECT")]) <= 3 * 2 + 3


async def test_a_change_is_reloaded_without_the_rest(source: SqlSource, statements: list[str]) -> None:
    await source.upsert(_many(50))
    first = await source.load()
    await source.publish({"id": "s00007", "description": "changed"})
    await source.remove("s00008")
    statements.clear()
    again = await source.load(first)
    assert len([one for one in statements if one.startswith("SELECT")]) <= 4
    assert [skill.id for skill in again.skills] == [f"s{n:05}" for n in range(50) if n != 8]
    before, after = {s.id: s for s in first.skills}, {s.id: s for s in again.skills}
    assert [skill_id for skill_id in after if after[skill_id] is not before[skill_id]] == ["s00007"]
    assert after["s00007"].description == "changed"
    assert (await source.load()).skills == again.skills


async def test_what_did_not_change_is_the_same_value(source: SqlSource) -> None:
    await source.upsert(_many(3))
    first = await source.load()
    assert await source.load(first) is first


async def test_many_changes_at_once_are_all_reloaded(source: SqlSource) -> None:
    await source.upsert(_many(2 * PART + 1))
    first = await source.load()
    await source.upsert(_many(2 * PART + 1, "changed"))
    again = await source.load(first)
    assert {skill.description for skill in again.skills} == {"changed"}
    assert again.skills == (await source.load()).skills


async def test_the_memory_of_another_tenant_is_not_used(source: SqlSource) -> None:
    await source.upsert(_many(2))
    first = await source.load()
    assert (await source.for_tenant("acme").load(first)).skills == ()


async def test_content_is_read_only_when_it_is_asked_for(source: SqlSource, statements: list[str]) -> None:
    await source.publish({"id": "alpha", "description": "x"}, {"large.txt": LARGE})
    statements.clear()
    first = await source.load()
    async for _ in source.stream():
        pass
    await source.publish({"id": "omega", "description": "x"})
    await source.load(first)
    reads = [one for one in statements if "FROM skill_artifacts" in one and one.startswith("SELECT")]
    assert reads
    assert not any("skill_artifacts.content," in one for one in reads)
    (skill, _) = (await source.load()).skills
    statements.clear()
    assert await source.read(skill, "large.txt") == LARGE.encode()
    assert len(statements) == 1


async def test_bytes_that_are_no_text_come_back(source: SqlSource, by_hand: ByHand) -> None:
    contents = {"a.bin": b"\xff\xfe\x00", "b.txt": b"a\0b", "c.txt": "Größe", "d.txt": b"", "e.png": b"plain"}
    await source.publish({"id": "alpha", "description": "x"}, contents)
    (skill,) = (await source.load()).skills
    read = {ref.id: await source.read(skill, ref.id) for ref in skill.artifacts}
    assert read == {name: data if isinstance(data, bytes) else data.encode() for name, data in contents.items()}
    rows = by_hand("SELECT id, content, blob IS NULL FROM skill_artifacts ORDER BY id")
    assert [(row[0], row[1], bool(row[2])) for row in rows] == [
        ("a.bin", "", False),
        ("b.txt", "", False),
        ("c.txt", "Größe", True),
        ("d.txt", "", True),
        ("e.png", "plain", True),
    ]


async def test_the_columns_are_those_that_people_know(source: SqlSource, by_hand: ByHand) -> None:
    skill = Skill("alpha", "N" * 300, "x", version="1.2", domain_tags=("t" * 150, "oil"))
    await source.publish(skill)
    (row,) = by_hand("SELECT tenant, name, status, version, content_hash FROM skills")
    assert tuple(row) == ("default", "N" * 200, "active", "1.2", content_hash_of((await source.load()).skills[0]))
    assert (await source.load()).skills[0].domain_tags == skill.domain_tags


async def test_the_manifest_has_its_five_keys_and_nothing_else(postgres_url: str) -> None:
    async with SqlSource(postgres_url) as source:
        await source.publish(
            {"id": "alpha", "description": "x", "triggers": ["dig"], "domain_tags": ["oil"], "steps": ["go"]}
        )
        columns = "tier1_manifest, tier2_definition, domain_tags"
        with psycopg.connect(postgres_url) as connection:
            query = f"SELECT {columns} FROM skills WHERE domain_tags && ARRAY['oil']::varchar[]"
            row = connection.execute(query).fetchone()
    assert row == (
        {"skill_id": "alpha", "name": "Alpha", "description": "x", "triggers": ["dig"], "domain_tags": ["oil"]},
        {"steps": ["go"]},
        ["oil"],
    )


async def test_a_publish_on_one_replica_is_seen_by_another_at_once(url: str) -> None:
    async with SqlSource(url) as mine, SqlSource(url) as theirs:
        registry = Registry([theirs])
        await registry.refresh()
        await mine.publish({"id": "alpha", "description": "x"})
        assert (await registry.refresh()).added == ("alpha",)
        await mine.put_agents([])
        assert not await registry.refresh()


async def test_a_change_after_a_backup_was_restored_is_seen_though_the_number_was_there_before(
    url: str, by_hand: ByHand
) -> None:
    async with SqlSource(url) as writing, SqlSource(url) as reading:
        registry = Registry([reading])
        await writing.publish({"id": "alpha", "description": "old"})
        await writing.publish({"id": "alpha", "description": "lost"})
        await registry.refresh()
        await writing.roll_back("alpha", (await writing.versions("alpha"))[-1].content_hash)
        by_hand("UPDATE generation SET number = 1")
        await writing.publish({"id": "alpha", "description": "new"})
        assert await registry.refresh()
        assert registry.snapshot["alpha"].description == "new"


async def test_to_ask_whether_something_changed_is_one_round_trip(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlSource(proxy.url) as source:
        await source.version()
        before = proxy.trips
        await source.version()
        assert proxy.trips == before + 1


async def test_a_read_of_an_artifact_is_one_round_trip(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlSource(proxy.url) as source:
        await source.publish({"id": "alpha", "description": "x"}, {"a.md": "a"})
        (skill,) = (await source.load()).skills
        before = proxy.trips
        assert await source.read(skill, "a.md") == b"a"
        assert proxy.trips == before + 1


async def test_what_cannot_be_kept_is_refused_and_the_rest_is_stored(source: SqlSource) -> None:
    written = await source.upsert(
        [
            Entry({"id": "good", "description": "x"}),
            Entry({"id": "nul", "description": "x", "steps": ["a", "b\0c"]}),
            Entry({"id": "surrogate", "description": "x \ud800"}),
            Entry(Skill("digest", "D", "x", digest="none")),
            Entry(Skill("deep", "D", "x", metadata={"a": [[[[[[1]]]]]]})),
            Entry(Skill("number", "D", "x", metadata={"a": {"b": float("inf")}}, digest="0" * 64)),
            Entry(Skill("digits", "D", "x", metadata={"a": 10**4200}, digest="0" * 64)),
            Entry(Skill("empty", "", "x")),
            Entry({"id": "long", "description": "x"}, {"é" * 600: "x"}),
            Entry(Skill("twice", "T", "x", artifacts=(ArtifactRef("a", "a", "text/plain", 1),) * 2)),
        ]
    )
    refusals = {n: one.why for n, one in enumerate(written) if one.skill is None}
    assert sorted(refusals) == [1, 2, 3, 5, 6, 7, 8, 9]
    assert "`tier2_definition.steps[1]` holds the character NUL at position 1" in refusals[1]
    assert "surrogate" in refusals[2]
    assert "`digest` is 'none', no SHA-256" in refusals[3]
    assert "`tier2_definition.x-skillweave.metadata.a.b` is inf" in refusals[5]
    assert "`tier2_definition.x-skillweave.metadata.a` is a number of more than" in refusals[6]
    assert "`name` would come back as another value" in refusals[7]
    assert "over 1024 bytes" in refusals[8]
    assert "listed twice" in refusals[9]
    assert all("; " in why for why in refusals.values())
    assert [skill.id for skill in (await source.load()).skills] == ["deep", "good"]


async def test_a_published_skill_that_cannot_be_kept_changes_nothing(source: SqlSource) -> None:
    await source.publish({"id": "alpha", "description": "x"})
    version = await source.version()
    with pytest.raises(InvalidSkill, match=r"'alpha' cannot be stored: `tier2_definition\.description` holds the char"):
        await source.publish({"id": "alpha", "description": "x", "details": "\0"})
    assert await source.version() == version


async def test_one_skill_twice_in_one_upsert_is_two_versions_in_their_order(source: SqlSource) -> None:
    entries = [Entry({"id": "alpha", "description": text}) for text in ("old", "new", "new")]
    written = await source.upsert(entries)
    assert [one.change.value for one in written] == ["inserted", "updated", "unchanged"]
    assert [one.skill.description for one in await source.versions("alpha")] == ["new", "old"]


async def test_many_bytes_go_into_several_transactions(source: SqlSource) -> None:
    version = int((await source.version()).split()[0])
    await source.upsert(Entry({"id": f"s{n}", "description": "x"}, {"a.txt": "x" * 1_500_000}) for n in range(6))
    assert int((await source.version()).split()[0]) == version + 2


async def test_however_many_artifacts_go_at_once_a_statement_names_no_more_than_a_database_takes(
    tmp_path: Path,
) -> None:
    named: list[int] = []

    def note(_: object, __: object, ___: str, values: object, *____: object) -> None:
        named.append(len(values) if isinstance(values, tuple) else 0)

    async with SqlSource(f"sqlite:///{tmp_path / 'skills.db'}") as source:
        await source.publish({"id": "alpha", "description": "x"}, {f"{n}.md": "old" for n in range(17_000)})
        event.listen(Engine, "before_cursor_execute", note)
        try:
            removed = await source.remove("alpha")
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        assert max(named) <= 32_766
        assert await source.read(removed, "16999.md") == b"old"


async def test_a_listed_artifact_without_content_says_so_when_it_is_read(source: SqlSource) -> None:
    await source.publish(Skill("alpha", "A", "x", artifacts=(ArtifactRef("a.md", "a.md", "text/markdown", 3),)))
    (skill,) = (await source.load()).skills
    (finding,) = (await source.load()).diagnostics
    assert (finding.code, finding.severity.value, finding.skill) == ("artifact-without-content", "warning", "alpha")
    with pytest.raises(ArtifactNotFound, match="published without content"):
        await source.read(skill, "a.md")
    assert (await source.publish(skill, {"a.md": "now"})).change.value == "updated"
    loaded = await source.load()
    assert loaded.diagnostics == ()
    assert await source.read(loaded.skills[0], "a.md") == b"now"


async def test_an_empty_database_says_what_to_do(database_url: str) -> None:
    async with SqlSource(database_url, tenant="acme") as source:
        await source.put_agents([])
        (finding,) = (await source.load()).diagnostics
        assert finding.code == "no-skills"
        assert finding.message.endswith("holds no skill of tenant 'acme'")
        assert "skillweave store put" in finding.fix
        (part,) = [part async for part in source.stream()]
        assert part.diagnostics == (finding,)


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
async def test_reading_makes_no_file_and_sees_the_one_that_is_made_later(database_url: str, tmp_path: Path) -> None:
    async with SqlSource(database_url) as source, SqlSource(database_url) as writer:
        registry = Registry([source])
        await registry.refresh()
        first = await source.load()
        assert [one.message.rpartition("/")[2] for one in first.diagnostics] == ["skills.db does not exist"]
        assert [part.diagnostics async for part in source.stream()] == [first.diagnostics]
        assert _files(tmp_path) == []
        await writer.publish({"id": "alpha", "description": "x"})
        assert (await registry.refresh()).added == ("alpha",)
        assert [skill.id for skill in (await source.load(first)).skills] == ["alpha"]


async def test_an_agent_that_cannot_be_kept_is_refused(source: SqlSource) -> None:
    with pytest.raises(InvalidValue, match="agent 'a' cannot be stored: `name` holds the character NUL"):
        await source.put_agents([Agent("b"), Agent("a", name="\0")])
    assert (await source.load()).agents == {}


def test_a_file_that_is_none_is_refused() -> None:
    for url in ("sqlite://", "sqlite:///:memory:"):
        with pytest.raises(InvalidValue, match="no file"):
            SqlSource(url)


async def test_other_phrases_are_another_version_of_the_same_text(source: SqlSource) -> None:
    skill = Skill(id="tea", name="Tea", description="Brews.", digest="a" * 64)
    spoken = [replace(skill, phrases=(said,)) for said in ("something hot", "a cup of it")]
    written = await source.upsert([Entry(one) for one in (skill, *spoken, spoken[1])])
    assert [one.change.value for one in written] == ["inserted", "updated", "updated", "unchanged"]
    (loaded,) = (await source.load()).skills
    assert (loaded.phrases, loaded.digest) == (("a cup of it",), skill.digest)
    assert [one.skill.phrases for one in await source.versions("tea")] == [("a cup of it",), ("something hot",), ()]
