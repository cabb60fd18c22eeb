"""A Weaver has few verbs of its own, views for the rest, and both again without `await`."""

import inspect
from collections.abc import Iterator

import pytest

import skillweave
from skillweave import Weaver
from skillweave_testing.fakes import WordCounter
from tests.skills import make_skill

VIEWS = ("skills", "composition", "tools", "approvals", "ledger", "entities")


@pytest.fixture
def weaver() -> Iterator[Weaver]:
    weaver = skillweave.open(make_skill("greet", keywords=["hello"]), counter=WordCounter())
    yield weaver
    weaver.sync.close()


def public(value: object) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}


def test_what_belongs_to_a_subject_stands_behind_its_view_and_not_on_the_weaver(weaver: Weaver) -> None:
    own = public(weaver)
    assert len(own) <= 23, "a verb that is not the main job's goes to the view of its subject"
    for view in VIEWS:
        assert public(getattr(weaver, view)).isdisjoint(own), view


def test_the_blocking_weaver_has_the_same_verbs_and_views(weaver: Weaver) -> None:
    assert public(weaver) - public(weaver.sync) == {"sync", "variant"}
    for view in VIEWS:
        assert public(getattr(weaver, view)) == public(getattr(weaver.sync, view)), view


async def test_a_blocking_verb_works_inside_a_running_loop(weaver: Weaver) -> None:
    await weaver.weave("hello", conversation="c")
    assert weaver.sync.ledger.state("c") == await weaver.ledger.state("c")
    assert list(weaver.sync.skills.snapshot()) == ["greet"]


def test_an_option_that_is_misspelt_is_refused() -> None:
    with pytest.raises(TypeError, match="a Weaver has no option 'tenent'; use cache, context"):
        Weaver(skillweave.Registry(), skillweave.MemoryStore(), tenent="acme")  # type: ignore[call-arg]


def test_a_blocking_verb_has_the_name_and_the_text_of_the_awaited_one(weaver: Weaver) -> None:
    assert (weaver.sync.ledger.state.__name__, weaver.sync.ledger.state.__doc__) == (
        "state",
        weaver.ledger.state.__doc__,
    )
    assert str(inspect.signature(weaver.sync.ledger.mark)) == str(inspect.signature(weaver.ledger.mark))
