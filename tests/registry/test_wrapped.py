"""Sources around sources, and sources in parts."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from skillweave import Registry, Skill, Status
from skillweave.events import EventType
from skillweave.registry import Loaded, WrappedSource, collect, stream_of
from skillweave.sources.folder import Folder
from skillweave.values import Location
from tests.skill_folders import ids, write_skill


class WithoutDrafts(WrappedSource):
    def changed(self, loaded: Loaded) -> Loaded:
        return replace(loaded, skills=tuple(one for one in loaded.skills if one.status is not Status.DRAFT))


class Shouting(WrappedSource):
    def changed(self, loaded: Loaded) -> Loaded:
        return replace(loaded, skills=tuple(replace(one, name=one.name.upper()) for one in loaded.skills))


class Remembering:
    """A source that keeps what it was given back, and gives the same value while its skills stay the same."""

    name = "remembering"

    def __init__(self, *skills: Skill) -> None:
        self.skills = skills
        self.given: list[Loaded | None] = []

    async def load(self, previous: Loaded | None) -> Loaded:
        self.given.append(previous)
        return previous if previous is not None and previous.skills == self.skills else Loaded(self.skills)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        raise AssertionError


def skill(skill_id: str, status: Status = Status.ACTIVE) -> Skill:
    return Skill(skill_id, skill_id, "x", status=status)


async def test_wrappers_change_what_goes_through_them_in_their_order() -> None:
    source = Shouting(WithoutDrafts(Remembering(skill("a"), skill("b", Status.DRAFT))))
    assert [one.name for one in (await source.load()).skills] == ["A"]


async def test_the_wrapped_source_gets_its_own_answer_back() -> None:
    inner = Remembering(skill("a"), skill("b", Status.DRAFT))
    source = Shouting(WithoutDrafts(inner))
    first = await source.load()
    assert await source.load(first) is first
    assert [known and ids(known) for known in inner.given] == [None, ["a", "b"]]
    inner.skills = (skill("c"),)
    assert [one.name for one in (await source.load(first)).skills] == ["C"]


async def test_a_wrapped_folder_is_refreshed_like_a_folder(tmp_path: Path) -> None:
    write_skill(tmp_path / "one")
    registry = Registry([WithoutDrafts(Folder(tmp_path))])
    assert (await registry.refresh()).added == ("one",)
    before = registry.snapshot
    assert not await registry.refresh()
    write_skill(tmp_path / "two")
    assert (await registry.refresh()).added == ("two",)
    assert registry.snapshot["one"] is before["one"]


async def test_closing_a_wrapper_closes_what_it_wraps() -> None:
    class Connected(Remembering):
        closed = 0

        async def close(self) -> None:
            self.closed += 1

    inner = Connected()
    async with WithoutDrafts(WithoutDrafts(inner)):
        pass
    await WithoutDrafts(Remembering()).close()
    assert inner.closed == 1


async def test_a_source_without_a_stream_is_one_part() -> None:
    parts = [part async for part in stream_of(Remembering(skill("a"), skill("b")))]
    assert [ids(part) for part in parts] == [["a", "b"]]


async def test_parts_are_put_together_in_their_order() -> None:
    graph = {"entries": ()}

    async def parts() -> AsyncIterator[Loaded]:
        yield Loaded((skill("b"),), events={"A": EventType("A")})
        yield Loaded((skill("a"),), graph=graph, graph_location=Location("here"), memory="first")
        yield Loaded(events={"B": EventType("B")}, graph={}, memory="last")

    together = await collect(parts())
    assert ids(together) == ["b", "a"]
    assert list(together.events) == ["A", "B"]
    assert (together.graph, together.graph_location, together.memory) == (graph, Location("here"), "last")


async def test_no_parts_are_an_empty_answer() -> None:
    async def parts() -> AsyncIterator[Loaded]:
        for part in ():
            yield part

    assert await collect(parts()) == Loaded()


async def test_a_large_folder_is_streamed_in_parts_with_its_progress(tmp_path: Path) -> None:
    for n in range(300):
        write_skill(tmp_path / f"s{n:03}")
    told: list[tuple[int, int]] = []
    source = Folder(tmp_path, progress=lambda done, total: told.append((done, total)))
    parts = [len(part.skills) async for part in source.stream()]
    assert parts == [256, 44, 0]
    assert told == [(256, 300), (300, 300)]
