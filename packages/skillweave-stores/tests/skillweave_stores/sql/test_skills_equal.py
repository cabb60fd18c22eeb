"""What was stored comes back equal, or is refused; nothing is lost without a word."""

import asyncio
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillweave import Skill
from skillweave.errors import ArtifactNotFound
from skillweave.formats.identity import canonical_json, digest_of
from skillweave.formats.native import to_dict
from skillweave.formats.skill_md import read_skill_md, to_skill_md
from skillweave.formats.spelling import to_definition, to_tiers
from skillweave.registry import Change, Entry, Written
from skillweave.registry.definitions import Definition
from skillweave.skill import Json
from skillweave_stores import SqlSource
from skillweave_stores.sql.documents import json_text, storable
from tests.depth import examples
from tests.strategies import json_values, skills

LONGEST_ID = 1024
any_number_of_data = settings(
    max_examples=examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
contents = st.dictionaries(
    st.sampled_from(("a.md", "references/b.md", "é", "x" * 1024)), st.binary(max_size=50), max_size=3
)


Outcome: TypeAlias = tuple[tuple[Written, ...], tuple[Skill, ...], dict[str, dict[str, bytes]]]


class Databases:
    """One database, in which each example has a tenant of its own."""

    def __init__(self, url: str, runner: asyncio.Runner) -> None:
        self._source = SqlSource(url)
        self._runner = runner
        self._numbers = itertools.count()

    def stored(
        self, *entries: Entry
    ) -> tuple[tuple[Written, ...], tuple[Skill, ...], Mapping[str, Mapping[str, bytes]]]:
        """What became of the entries in an empty store, what it loads then, and the content of all artifacts."""
        return self._runner.run(self._stored(entries))

    async def _stored(self, entries: tuple[Entry, ...]) -> Outcome:
        source = self._source.for_tenant(f"t{next(self._numbers)}")
        written = await source.upsert(entries)
        loaded = (await source.load()).skills
        read: dict[str, dict[str, bytes]] = {}
        for skill in loaded:
            read[skill.id] = {}
            for ref in skill.artifacts:
                try:
                    read[skill.id][ref.id] = await source.read(skill, ref.id)
                except ArtifactNotFound:
                    continue
        return written, loaded, read

    def close(self) -> None:
        """Give back the connections."""
        self._runner.run(self._source.close())


@pytest.fixture
def databases(url: str) -> Iterator[Databases]:
    with asyncio.Runner() as runner:
        made = Databases(url, runner)
        yield made
        made.close()


def _refused_for_a_reason(skill: Skill) -> bool:
    ids = [ref.id for ref in skill.artifacts]
    held = canonical_json(to_dict(skill))
    return (
        "\\u0000" in held
        or re.search("[\ud800-\udfff]", held) is not None
        or len(set(ids)) < len(ids)
        or any(len(one.encode()) > LONGEST_ID for one in ids)
    )


@given(skill=skills())
@any_number_of_data
def test_a_skill_comes_back_equal_or_is_refused(databases: Databases, skill: Skill) -> None:
    (written,), loaded, _ = databases.stored(Entry(skill))
    if written.change is Change.REFUSED:
        assert _refused_for_a_reason(skill), written.why
        assert loaded == ()
    else:
        (back,) = loaded
        assert back == written.skill
        assert to_dict(back) == to_dict(skill)
        assert back.digest == digest_of(to_dict(skill))


@given(skill=skills(), contents=contents)
@any_number_of_data
def test_contents_come_back_byte_for_byte(databases: Databases, skill: Skill, contents: Mapping[str, bytes]) -> None:
    (written,), loaded, read = databases.stored(Entry(skill, contents))
    if written.change is Change.REFUSED:
        assert _refused_for_a_reason(skill), written.why
    else:
        assert loaded == (written.skill,)
        assert read[skill.id] == contents


@given(skill=skills())
@any_number_of_data
def test_every_spelling_comes_back_as_it_was_read(databases: Databases, skill: Skill) -> None:
    spellings: list[Definition] = [to_dict(skill), dict(to_tiers(skill)), to_definition(skill)]
    for spelling in spellings:
        (written,), loaded, _ = databases.stored(Entry(spelling))
        if written.change is Change.REFUSED:
            assert _refused_for_a_reason(skill), written.why
        else:
            assert loaded == (written.skill,)
            assert loaded[0].digest == digest_of(spelling)


@given(skill=skills())
@any_number_of_data
def test_what_came_from_elsewhere_keeps_its_origin(databases: Databases, skill: Skill) -> None:
    text = to_skill_md(skill)
    read = read_skill_md(text.encode(), path="/somewhere/SKILL.md", folder=skill.id, source="folder").skill
    if read is None:
        return
    (written,), loaded, _ = databases.stored(Entry(read))
    if written.change is Change.REFUSED:
        assert _refused_for_a_reason(read), written.why
    else:
        assert loaded == (read,)


@given(one=skills(), other=skills())
@any_number_of_data
def test_the_same_again_changes_nothing(databases: Databases, one: Skill, other: Skill) -> None:
    written, loaded, _ = databases.stored(Entry(one), Entry(other), Entry(other), Entry(one))
    if all(each.change is not Change.REFUSED for each in written):
        assert written[2].change is Change.UNCHANGED
        assert written[3].change is (Change.UNCHANGED if one.id != other.id or one == other else Change.UPDATED)
        assert {skill.id for skill in loaded} == {one.id, other.id}


@given(data=json_values.filter(lambda data: "\\u0000" not in json.dumps(data)))
def test_the_json_text_says_the_same_data(data: Json) -> None:
    assert json.loads(json_text(storable(data))) == data


@pytest.mark.parametrize(
    "number", [1e16, 1e22, 1e23, -1e23, 1.5e300, 1.7976931348623157e308, 5e-324, 0.1, -0.0, 10**400, 2**64, 1.0, 0]
)
def test_numbers_come_back_as_they_were(databases: Databases, number: float) -> None:
    _, (back,), _ = databases.stored(Entry(Skill("alpha", "A", "x", metadata={"n": number})))
    assert (back.metadata["n"], type(back.metadata["n"])) == (number, type(number))
