"""The words of skills are read once: an index made of what is known is the one that is made anew."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import Skill
from skillweave.select import numbered as numbered_module
from skillweave.select.lexical_index import build_lexical_index
from skillweave.select.numbered import TermStore
from skillweave.select.terms import SkillTerms, terms_of
from skillweave.skills import SkillText

WORDS = ("invoice", "invoices", "boat", "red", "C++", "useState", "東京", "naïve", "—", '"late fee"', "yesterday")
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
skills = st.builds(
    lambda number, name, description, body: Skill(f"s{number}", name, description, text=SkillText(instructions=body)),
    *(st.integers(0, 4), texts, texts, texts),
)
libraries = st.lists(skills, max_size=6)


def same(one: object, other: object) -> bool:
    """Whether two indexes, or two of their parts, hold the same."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return one == other


@given(st.lists(libraries, min_size=1, max_size=4))
def test_after_any_changes_the_index_is_the_one_that_is_built_anew(history: list[list[Skill]]) -> None:
    store = TermStore()
    for library in history:
        assert same(build_lexical_index(library, store), build_lexical_index(library))


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the skills that are read from now on."""
    read: list[str] = []

    def reading(skill: Skill) -> SkillTerms:
        read.append(skill.id)
        return terms_of(skill)

    monkeypatch.setattr(numbered_module, "terms_of", reading)
    return read


def library(*bodies: str) -> Sequence[Skill]:
    return [Skill(f"s{n}", f"S{n}", "a skill", text=SkillText(instructions=body)) for n, body in enumerate(bodies)]


def test_an_unchanged_skill_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read, store = counted(monkeypatch), TermStore()
    store.numbered(library("one", "two", "three"))
    assert read == ["s0", "s1", "s2"]
    store.numbered(library("one", "two", "three"))
    assert read == ["s0", "s1", "s2"]


def test_of_many_skills_only_the_changed_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read, store = counted(monkeypatch), TermStore()
    store.numbered(library("one", "two", "three"))
    read.clear()
    store.numbered(library("one", "another", "three"))
    assert read == ["s1"]


def test_words_that_no_skill_has_any_more_are_forgotten_in_the_end() -> None:
    store = TermStore()
    for turn in range(50):
        store.numbered(library(" ".join(f"word{turn}x{n}" for n in range(100))))
    assert len(store.numbered(library("one")).words) < 400


def test_no_skills_have_an_index_too() -> None:
    assert build_lexical_index([]).size == 0
    assert build_lexical_index([], TermStore()).size == 0
