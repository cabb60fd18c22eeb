"""What is compiled is kept on disk by content: whoever finds it selects as if it had been made anew."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import Message, Role, Skill, Triggers, Turn
from skillweave.cachefile import CacheFolder
from skillweave.formats.identity import digest_of_bytes
from skillweave.registry import Snapshot
from skillweave.select import index as index_module
from skillweave.select.index import build_index
from skillweave.select.selection import select
from skillweave.skills import SkillText

MESSAGES = ("send the invoice", "a red boat", "please use invoice-checking", "c++ in 東京", "nothing of that", "/s1 it")
words = st.sampled_from(("invoice", "red boat", "C++", "東京", "useState", "späť", '"late fee"', "^x+$", ""))


def made(number: int, description: str, body: str, keywords: tuple[str, ...], patterns: tuple[str, ...]) -> Skill:
    text = repr((number, description, body, keywords, patterns))
    triggers = Triggers(keywords=keywords, patterns=patterns)
    return Skill(
        *(f"s{number}", f"S{number}", description),
        triggers=triggers,
        text=SkillText(instructions=body),
        digest=digest_of_bytes(text.encode()),
    )


skills = st.builds(
    made,
    st.integers(0, 9),
    words,
    words,
    st.lists(words, max_size=2).map(tuple),
    st.lists(words, max_size=1).map(tuple),
)
libraries = st.lists(skills, max_size=5, unique_by=lambda skill: skill.id)


def snapshot_of(library: list[Skill]) -> Snapshot:
    return Snapshot({skill.id: skill for skill in library}, 1)


def turn(text: str) -> Turn:
    return Turn("t", "c", Message(Role.USER, text))


@given(library=libraries, data=st.data())
def test_what_was_kept_selects_as_what_is_built(
    library: list[Skill], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache = CacheFolder(tmp_path_factory.mktemp("cache"))
    shuffled = data.draw(st.permutations(library))
    for order in (library, shuffled, library):
        plain = build_index(snapshot_of(order))
        for kept in (build_index(snapshot_of(order), cache=cache), build_index(snapshot_of(order), cache=cache)):
            assert kept.diagnostics == plain.diagnostics
            for message in MESSAGES:
                assert select(kept, turn(message)) == select(plain, turn(message))


LIBRARY = [made(n, "checks an invoice", f"body {n}", ("invoice",), ("in.oice",)) for n in range(3)]


def gathered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many skills' triggers are gathered from now on, each time."""
    times: list[int] = []
    real = index_module.gather_triggers

    def counting(active: tuple[Skill, ...], mode: object) -> object:
        times.append(len(active))
        return real(active, mode)  # type: ignore[arg-type]

    monkeypatch.setattr(index_module, "gather_triggers", counting)
    return times


def test_of_unchanged_skills_nothing_is_compiled_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache, times = CacheFolder(tmp_path), gathered(monkeypatch)
    build_index(snapshot_of(LIBRARY), cache=cache).lexical()
    files = sorted(path.name for path in tmp_path.iterdir())
    build_index(snapshot_of(LIBRARY), cache=cache).lexical()
    assert times == [3]
    assert sorted(path.name for path in tmp_path.iterdir()) == files
    assert len(files) == 2


def test_another_order_and_another_skill_have_files_of_their_own(tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path)
    build_index(snapshot_of(LIBRARY), cache=cache)
    build_index(snapshot_of(LIBRARY[::-1]), cache=cache)
    build_index(snapshot_of([*LIBRARY[:2], made(7, "other", "body", (), ())]), cache=cache)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_damaged_file_is_made_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = CacheFolder(tmp_path)
    expected = select(build_index(snapshot_of(LIBRARY), cache=cache), turn("send the invoice"))
    build_index(snapshot_of(LIBRARY), cache=cache).lexical()
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-3] + b"xyz")
    again = build_index(snapshot_of(LIBRARY), cache=cache)
    again.lexical()
    assert select(again, turn("send the invoice")) == expected
    assert caplog.text.count("it is made anew") == 2


def test_skills_without_a_digest_are_not_kept(tmp_path: Path) -> None:
    build_index(snapshot_of([replace(LIBRARY[0], digest="")]), cache=CacheFolder(tmp_path)).lexical()
    assert list(tmp_path.iterdir()) == []
