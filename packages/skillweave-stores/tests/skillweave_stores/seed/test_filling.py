"""What `seed` stores, what it reports, and that it can be done again at any time."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import MemorySource, Skill, Source
from skillweave.diagnostics import Severity
from skillweave.errors import SourceUnavailable
from skillweave.registry import Entry, Loaded, WrappedSource, Written, collect, stream_of
from skillweave.registry import WritableSource as Store
from skillweave.registry.agents import Agent
from skillweave.sources import InCode
from skillweave.sources.folder import Folder
from skillweave.sources.named import pack_names, pack_of
from skillweave_stores.seed import Seeded, seed
from skillweave_stores.seed.filling import MOST_BYTES, MOST_ENTRIES
from skillweave_stores.sql.skills import SqlSource
from tests.skill_folders import write_skill

EXAMPLES = Path(__file__).parents[5] / "examples" / "skills"


class Counting(MemorySource):
    """A store that remembers how much came in each trip, and can fail in one of them."""

    def __init__(self, *, failing: int | None = None) -> None:
        super().__init__()
        self.trips: list[tuple[int, int]]
        object.__setattr__(self, "trips", [])
        object.__setattr__(self, "failing", failing)

    async def upsert(self, entries: Iterable[Entry]) -> tuple[Written, ...]:
        entries = list(entries)
        if len(self.trips) == self.__dict__["failing"]:
            raise SourceUnavailable("the store is away; start it")
        self.trips.append((len(entries), sum(len(data) for entry in entries for data in entry.artifacts.values())))
        return await super().upsert(entries)


def ids(done: Seeded) -> tuple[list[str], list[str], list[str], list[str]]:
    """The ids of what was inserted, updated, unchanged and refused."""
    return list(done.inserted), list(done.updated), list(done.unchanged), [str(found.skill) for found in done.refused]


def unhashed(skills: Iterable[Skill]) -> dict[str, Skill]:
    """Skills by id without the hashes that only a store adds."""
    return {
        skill.id: replace(
            skill, artifacts=tuple(replace(ref, content_hash=None, token_estimate=None) for ref in skill.artifacts)
        )
        for skill in skills
    }


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
async def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Store]:
    """An empty store of each kind."""
    made: Store = MemorySource()
    if request.param == "sqlite":
        made = SqlSource(f"sqlite:///{tmp_path_factory.mktemp('store') / 'skills.db'}")
    elif request.param == "postgresql":
        made = SqlSource(request.getfixturevalue("postgres_url"))
    async with made:
        yield made


async def test_skills_of_a_folder_come_back_equal_with_their_artifacts(store: Store) -> None:
    folder = Folder(EXAMPLES)
    done = await seed(store, folder)
    there = (await folder.load()).skills
    stored = (await store.load(None)).skills
    assert sorted(done.inserted) == sorted(skill.id for skill in there)
    assert done.complete
    assert unhashed(stored) == unhashed(there)
    for skill in stored:
        for ref in skill.artifacts:
            assert await store.read(skill, ref.id) == await folder.read(skill, ref.id)


@pytest.mark.parametrize("name", pack_names())
async def test_every_built_in_pack_comes_back_equal(store: Store, name: str) -> None:
    pack = pack_of(name)
    await seed(store, pack)
    loaded = await collect(stream_of(pack))
    stored = await store.load(None)
    assert unhashed(stored.skills) == unhashed(loaded.skills)
    assert stored.agents == dict(loaded.agents)


async def test_real_public_skills_come_back_equal_with_their_artifacts(store: Store, skills_sample: Path) -> None:
    folder = Folder(skills_sample)
    done = await seed(store, folder)
    first = {}
    for skill in (await folder.load()).skills:
        first.setdefault(skill.id, skill)
    stored = (await store.load(None)).skills
    assert len(stored) > 500
    assert not done.refused
    assert unhashed(stored) == unhashed(first.values())
    for skill in stored:
        for ref in skill.artifacts:
            assert await store.read(skill, ref.id) == await folder.read(skill, ref.id)


async def test_a_second_run_changes_nothing_and_says_so(store: Store) -> None:
    first = await seed(store, EXAMPLES)
    version = await store.version()
    again = await seed(store, EXAMPLES)
    assert await store.version() == version
    assert (first.changed, again.changed) == (True, False)
    assert (again.inserted, again.updated, again.unchanged) == ({}, {}, first.inserted)


async def test_a_changed_skill_and_a_changed_artifact_are_new_versions(store: Store, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_skill(tmp_path / name, files={"references/x.md": "old"})
    await seed(store, tmp_path)
    (tmp_path / "a" / "references" / "x.md").write_text("new", encoding="utf-8")
    (tmp_path / "b" / "SKILL.md").write_text("---\nname: b\ndescription: Another.\n---\n", encoding="utf-8")
    done = await seed(store, tmp_path)
    assert ids(done) == ([], ["a", "b"], ["c"], [])
    assert [len(await store.versions(name)) for name in ("a", "b", "c")] == [2, 2, 1]
    assert done.updated["a"] == next(one.content_hash for one in await store.versions("a") if one.in_use)


async def test_of_two_sources_with_one_id_the_first_counts_and_the_other_is_reported(tmp_path: Path) -> None:
    store = MemorySource()
    write_skill(tmp_path / "one" / "a", "---\nname: a\ndescription: First.\n---\n")
    write_skill(tmp_path / "two" / "a", "---\nname: a\ndescription: Second.\n---\n")
    done = await seed(store, tmp_path / "one", tmp_path / "two")
    assert [skill.description for skill in (await store.load()).skills] == ["First."]
    assert len(await store.versions("a")) == 1
    (found,) = done.diagnostics
    assert (found.code, found.skill, found.path) == ("shadowed", "a", f"{tmp_path}/two/a/SKILL.md")
    assert f"{tmp_path}/one/a/SKILL.md" in found.message
    assert done.complete


async def test_a_broken_skill_is_reported_and_the_others_are_stored(tmp_path: Path) -> None:
    store = MemorySource()
    write_skill(tmp_path / "bad", "no front matter\n")
    write_skill(tmp_path / "good")
    done = await seed(store, tmp_path)
    assert list(done.inserted) == ["good"]
    (found,) = [one for one in done.diagnostics if one.severity is Severity.ERROR]
    assert (found.path, bool(found.fix)) == (f"{tmp_path}/bad/SKILL.md", True)
    assert not done.complete


async def test_a_skill_of_which_a_document_cannot_be_read_is_refused_as_a_whole(tmp_path: Path) -> None:
    store = MemorySource()
    write_skill(tmp_path / "long", files={"references/x.md": "x" * (1024 * 1024 + 1)})
    write_skill(tmp_path / "short")
    done = await seed(store, tmp_path)
    assert ids(done) == (["short"], [], [], ["long"])
    (found,) = done.refused
    assert (found.code, found.severity, found.path) == ("not-stored", Severity.ERROR, f"{tmp_path}/long/SKILL.md")
    assert "'references/x.md'" in found.message
    assert "1 MiB" in found.message
    assert "run it again" in found.fix


async def test_a_skill_whose_document_goes_away_meanwhile_is_refused(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", files={"references/x.md": "x"})
    done = await seed(MemorySource(), Vanishing(Folder(tmp_path), tmp_path / "a" / "references" / "x.md"))
    assert ids(done) == ([], [], [], ["a"])
    assert "'references/x.md'" in done.refused[0].message


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a file that its reader may not read")
async def test_a_skill_without_the_right_to_read_its_document_is_refused(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", files={"references/x.md": "x"})
    (tmp_path / "a" / "references" / "x.md").chmod(0)
    done = await seed(MemorySource(), tmp_path)
    assert ids(done) == ([], [], [], ["a"])


async def test_what_the_store_refuses_is_reported_with_its_place() -> None:
    store = MemorySource()
    done = await seed(store, OneBad())
    assert ids(done) == (["good"], [], [], ["no id"])
    assert done.refused[0].path == "code"
    assert "no skill id" in done.refused[0].message


async def test_an_empty_folder_stores_nothing_and_is_a_warning(tmp_path: Path) -> None:
    done = await seed(MemorySource(), tmp_path)
    assert ids(done) == ([], [], [], [])
    assert [found.code for found in done.diagnostics] == ["no-skills"]


async def test_a_missing_folder_is_unavailable_and_what_came_before_it_is_stored(tmp_path: Path) -> None:
    store = MemorySource()
    write_skill(tmp_path / "there" / "a")
    with pytest.raises(SourceUnavailable, match="does not exist") as refusal:
        await seed(store, tmp_path / "there", tmp_path / "missing")
    assert [skill.id for skill in (await store.load()).skills] == ["a"]
    assert refusal.value.__notes__ == ["skills stored before that: 1; run it again, and the rest follows"]


async def test_parts_of_a_pack_that_a_store_has_no_place_for_are_named(tmp_path: Path) -> None:
    path = tmp_path / "trades.yaml"
    path.write_text("skills: [{id: a, description: A.}]\nevents: {done: {type: object}}\n", encoding="utf-8")
    done = await seed(MemorySource(), path)
    (found,) = done.diagnostics
    assert (found.code, found.severity) == ("not-kept", Severity.WARNING)
    assert "'trades' the event types are not stored" in found.message


async def test_the_skills_of_a_tenant_are_his_alone() -> None:
    store = MemorySource()
    await seed(store, EXAMPLES, tenant="a")
    assert not (await store.load()).skills
    assert (await store.for_tenant("a").load()).skills


async def test_a_chunk_is_bounded_by_its_number_of_skills() -> None:
    store = Counting()
    await seed(store, InCode(*(Skill(f"s-{n}", "S", "x") for n in range(MOST_ENTRIES * 2 + 1))))
    assert [skills for skills, _ in store.trips] == [MOST_ENTRIES, MOST_ENTRIES, 1]


async def test_a_chunk_is_bounded_by_the_bytes_of_its_artifacts() -> None:
    store = Counting()
    half = MOST_BYTES // 2
    skills = [Skill(f"s-{n}", "S", "x") for n in range(5)]
    await seed(store, InCode(*skills, artifacts={skill.id: {"assets/x.bin": b"x" * half} for skill in skills}))
    assert store.trips == [(2, 2 * half), (2, 2 * half), (1, half)]


async def test_progress_is_told_up_to_the_last_skill() -> None:
    told: list[tuple[int, int]] = []
    skills = [Skill(f"s-{n}", "S", "x") for n in range(MOST_ENTRIES + 1)]
    await seed(
        MemorySource(), InCode(*skills), InCode(skills[0]), progress=lambda done, read: told.append((done, read))
    )
    assert told == [(MOST_ENTRIES, MOST_ENTRIES + 1), (MOST_ENTRIES + 1,) * 2, (MOST_ENTRIES + 2,) * 2]


async def test_after_a_failure_the_stored_chunks_stay_and_another_run_stores_the_rest() -> None:
    skills = [Skill(f"s-{n:03}", "S", "x") for n in range(MOST_ENTRIES * 2)]
    store = Counting(failing=1)
    with pytest.raises(SourceUnavailable) as refusal:
        await seed(store, InCode(*skills))
    assert len((await store.load()).skills) == MOST_ENTRIES
    assert f"stored before that: {MOST_ENTRIES};" in refusal.value.__notes__[0]
    store.__dict__["failing"] = None
    done = await seed(store, InCode(*skills))
    assert (len(done.unchanged), len(done.inserted)) == (MOST_ENTRIES, MOST_ENTRIES)


async def test_cancelled_in_the_middle_it_leaves_whole_chunks() -> None:
    store = MemorySource()
    started = asyncio.Event()
    skills = tuple(Skill(f"s-{n:03}", "S", "x") for n in range(MOST_ENTRIES * 3))
    running = asyncio.create_task(seed(store, Endless(skills, started)))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len((await store.load()).skills) == MOST_ENTRIES * 3


async def test_agents_are_stored_after_the_skills_and_the_first_of_two_counts() -> None:
    store = MemorySource()
    one, other = Agent("clerk", skills=("a",)), Agent("clerk", skills=("b",))
    done = await seed(store, Described("one", {"clerk": one}), Described("two", {"clerk": other}))
    assert done.agents.inserted == ("clerk",)
    assert (await store.load()).agents == {"clerk": one}
    assert [(found.code, found.severity) for found in done.diagnostics] == [("agent-declared-twice", Severity.WARNING)]
    again = await seed(store, Described("one", {"clerk": one}), Described("two", {"clerk": one}))
    assert (again.agents.unchanged, again.changed) == (("clerk",), False)
    assert again.diagnostics == ()


async def test_an_agent_that_the_store_refuses_is_reported_and_the_others_are_stored(tmp_path: Path) -> None:
    agents = {"clerk": Agent("clerk", name="Cl\udcff"), "writer": Agent("writer")}
    async with SqlSource(f"sqlite:///{tmp_path / 'skills.db'}") as store:
        done = await seed(store, Described("office", agents))
        assert (await store.load()).agents == {"writer": agents["writer"]}
    assert done.agents.inserted == ("writer",)
    (found,) = done.refused
    assert (found.code, found.skill, found.path) == ("not-stored", None, "office")
    assert "agent 'clerk'" in found.message
    assert not done.complete


async def test_what_it_opened_itself_is_closed_and_the_rest_is_not() -> None:
    source = Closing()
    await seed(MemorySource(), source)
    assert not source.closed


async def test_its_answer_goes_to_json_and_back() -> None:
    done = await seed(MemorySource(), EXAMPLES)
    assert Seeded.from_dict(done.to_dict()) == done


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=12))
def test_whatever_is_seeded_the_second_run_of_it_changes_nothing(drawn: list[tuple[int, int]]) -> None:
    skills = [InCode(Skill(f"s-{skill}", "S", f"version {text}")) for skill, text in drawn]

    async def run() -> None:
        store = MemorySource()
        first = await seed(store, *skills)
        again = await seed(store, *skills)
        assert not again.changed
        assert again.unchanged == {**first.inserted, **first.updated}
        assert sorted(again.unchanged) == sorted({f"s-{skill}" for skill, _ in drawn})

    asyncio.run(run())


class Vanishing(WrappedSource):
    """A source of which a file is deleted after it was listed."""

    def __init__(self, source: Source, file: Path) -> None:
        super().__init__(source)
        self.file = file

    def changed(self, loaded: Loaded) -> Loaded:
        self.file.unlink(missing_ok=True)
        return loaded


class OneBad(InCode):
    """A source that gives a skill which no store takes."""

    async def load(self, previous: Loaded | None = None) -> Loaded:
        return Loaded((Skill("no id", "Bad", "x"), Skill("good", "Good", "x")))


class Endless(InCode):
    """A source whose second part never comes."""

    def __init__(self, skills: tuple[Skill, ...], waiting: asyncio.Event) -> None:
        super().__init__()
        self.skills = skills
        self.waiting = waiting

    async def stream(self) -> AsyncIterator[Loaded]:
        yield Loaded(self.skills)
        self.waiting.set()
        await asyncio.Event().wait()


class Described(InCode):
    """A source that describes agents."""

    def __init__(self, name: str, agents: dict[str, Agent]) -> None:
        super().__init__()
        self.called = name
        self.agents = agents

    @property
    def name(self) -> str:
        return self.called

    async def load(self, previous: Loaded | None = None) -> Loaded:
        return Loaded(agents=self.agents)


class Closing(InCode):
    closed = False

    async def close(self) -> None:
        self.closed = True


async def test_an_artifact_of_text_gets_an_estimate_of_its_tokens_and_one_of_bytes_none(store: Store) -> None:
    skill = {"id": "notes", "description": "Keeps notes."}
    await store.publish(skill, {"references/a.md": b"eight letters!", "assets/b.bin": b"\0\xff"})
    (stored,) = (await store.load(None)).skills
    assert {ref.id: ref.token_estimate for ref in stored.artifacts} == {"references/a.md": 4, "assets/b.bin": None}
