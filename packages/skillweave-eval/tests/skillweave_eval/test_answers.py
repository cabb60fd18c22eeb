"""What becomes of a labelled query."""

import pytest
from tests.skillweave_eval.libraries import COFFEE, TEA, case, skill, weaver_of

from skillweave import Settings
from skillweave.disclose.fit import Budget
from skillweave.errors import InvalidData
from skillweave.graph import SkillGraph
from skillweave.selection import Selection
from skillweave.settings import CatalogMode
from skillweave_eval import Level, ask_all
from skillweave_eval.answers import ask

GRAPH = {
    "entries": [{"skill": "tea", "match": {"keywords": ["tea"]}}],
    "routes": [{"from": "tea", "to": "coffee", "when": {"keywords": ["stronger"]}}],
}


async def test_what_is_chosen_is_given() -> None:
    found = await ask(weaver_of(), case("Some tea please"))
    assert (found.given, found.level("tea"), found.level("coffee")) == (("tea",), Level.GIVEN, Level.SILENT)
    assert found.tokens > 0


async def test_no_case_has_part_in_another() -> None:
    first, again = await ask_all(weaver_of(), [case("Some tea please"), case("Some tea please")])
    assert first == again


async def test_what_is_chosen_and_does_not_fit_is_kept_out_and_counts_as_offered_by_its_line() -> None:
    settings = Settings(budget=Budget(total=200, per_skill=100), catalog=CatalogMode.NEVER)
    large = skill("tea", "Brews tea.", "A word. " * 2_000, keywords=["tea"])
    found = await ask(weaver_of(large, settings=settings), case("Some tea please"))
    assert (found.given, found.kept_out, found.level("tea")) == ((), ("tea",), Level.OFFERED)


class Failing:
    name, strength, deliberate = "failing", 5, False

    async def prepare(self, *_: object) -> None:
        raise RuntimeError("no vectors today")

    def match(self, _: object) -> Selection:
        return Selection()


async def test_a_matcher_that_could_not_take_part_is_told() -> None:
    found = await ask(weaver_of(matchers=["triggers", Failing()]), case("Some tea please"))
    assert found.hindered is not None and "no vectors today" in found.hindered
    assert (await ask(weaver_of(), case("Some tea please"))).hindered is None


async def test_progress_is_told_after_each_query() -> None:
    told: list[tuple[int, int]] = []
    await ask_all(weaver_of(), [case("Tea"), case("Coffee")], lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


async def test_a_query_at_a_cursor_is_asked_there() -> None:
    weaver = weaver_of(TEA, COFFEE, graph=SkillGraph.from_dict(GRAPH))
    at_the_start = await ask(weaver, case("Something stronger", ["coffee"]))
    at_tea = await ask(weaver, case("Something stronger", ["coffee"], cursor="tea"))
    assert at_the_start.given == ()
    assert at_tea.given == ("coffee",)


async def test_a_cursor_needs_a_graph() -> None:
    with pytest.raises(InvalidData, match="no skill graph"):
        await ask(weaver_of(), case(cursor="tea"))
