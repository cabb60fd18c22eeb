"""What is given, what is offered, and what is left out (spec 2.5)."""

from dataclasses import replace

import pytest

from skillweave import Outcome, SkillweaveError, Triggers
from skillweave.select.matchers import Thresholds
from skillweave.select.selection import select
from skillweave.settings import Settings
from tests.asking import ask, candidate, chosen, index_of, refusal, skill, turn
from tests.skills import make_skill

INVOICES = skill(
    "invoice-checking",
    description="Check supplier invoices against purchase orders and find wrong amounts",
    body="Compare every line of the invoice with the order. Report amounts that differ.",
)
BREAD = skill("bread-baking", description="Plan the baking of sourdough bread, from starter to oven")
LIBRARY = index_of(INVOICES, BREAD)
CHECK = "check the supplier invoices for wrong amounts"
LONG = (
    "harbour lantern violin pepper saddle compass meadow tunnel ribbon walnut anchor pillow candle ladder marble "
    "basket copper feather garlic hammer jacket kettle lemon mirror needle orchid paddle quarry timber"
)


def offered(selection: object) -> list[str]:
    return [each.skill_id for each in selection.offered]  # type: ignore[attr-defined]


def test_a_skill_is_given_with_its_probability() -> None:
    given = candidate(ask(LIBRARY, CHECK), "invoice-checking")
    assert given.probability is not None
    assert given.probability > 0.5


def test_a_host_may_ask_for_more_certainty_before_anything_is_given() -> None:
    selection = select(LIBRARY, turn(CHECK), thresholds=Thresholds(give_at=1.0))
    assert (chosen(selection), offered(selection)) == ([], ["invoice-checking"])


def test_a_host_may_have_nothing_offered() -> None:
    selection = select(LIBRARY, turn(CHECK), thresholds=Thresholds(give_at=1.0, offer_most=0))
    assert (chosen(selection), offered(selection)) == ([], [])
    assert refusal(selection, "invoice-checking").outcome is Outcome.BELOW_THRESHOLD


def test_no_more_than_so_many_are_offered() -> None:
    many = index_of(*(skill(f"boat-{name}", description=f"Sail a {name} boat") for name in ("red", "old", "big")))
    selection = select(many, turn("sail some boat"), thresholds=Thresholds(give_at=1.0, offer_at=0.0, offer_most=2))
    assert len(selection.offered) == 2
    assert "but 2 others are likelier" in selection.rejected[0].reason


@pytest.mark.parametrize(
    "message", ["hi there", "Thanks, good work!", "yes please", "Danke dir", "merci beaucoup", "ok, 42", "buenos días"]
)
def test_a_message_that_asks_for_nothing_offers_nothing(message: str) -> None:
    library = index_of(skill("words", description="there good work beaucoup buenos 42 days"))
    assert offered(ask(library, message)) == []


def test_of_two_near_duplicates_one_is_given_and_tells_of_the_other() -> None:
    first, second = skill("first", description=f"Sort {LONG}"), skill("second", description=f"Sort {LONG} twice")
    selection = ask(index_of(first, second, BREAD), f"sort {LONG}")
    shown = [*selection.chosen, *selection.offered]
    assert [each.skill_id for each in shown] == ["first"]
    assert ("like", "second") in [(piece.kind, piece.text) for piece in shown[0].evidence]
    assert refusal(selection, "second").reason == "like `first`, which is shown in its place"


@pytest.mark.parametrize(
    "message",
    [
        "which skill is right, and why is it not bread-baking?",
        "use your head instead of bread-baking",
        "anything rather than bread-baking",
        "without bread-baking please",
        "bitte nicht bread-baking",
        "statt bread-baking etwas anderes",
        "plutôt que bread-baking",
        "sin bread-baking",
    ],
)
def test_an_id_that_the_message_is_not_about_is_vetoed(message: str) -> None:
    selection = ask(LIBRARY, message)
    assert "bread-baking" not in chosen(selection)
    refused = refusal(selection, "bread-baking")
    assert (refused.outcome, refused.reason) == (Outcome.VETOED, "the message says that it is not about this")


def test_a_keyword_that_the_message_is_not_about_is_vetoed() -> None:
    assert chosen(ask(index_of(skill("x", "boat")), "a car instead of a boat")) == []


def test_a_complaint_is_no_denial() -> None:
    assert chosen(ask(index_of(skill("x", "deploy")), "why does it not deploy?")) == ["x"]


def test_an_id_inside_a_longer_one_is_no_hit() -> None:
    library = index_of(skill("data-lake"), skill("data-lake-export"))
    assert chosen(ask(library, "run data-lake-export now", matchers=["triggers"])) == ["data-lake-export"]


@pytest.mark.parametrize("wrong", [{"give_at": 1.5}, {"offer_at": -0.1}, {"offer_most": -1}])
def test_settings_refuse_what_is_no_probability_or_number(wrong: dict[str, float]) -> None:
    with pytest.raises(SkillweaveError, match=next(iter(wrong))):
        Settings(**wrong)  # type: ignore[arg-type]


def test_settings_say_the_thresholds() -> None:
    assert Settings(give_at=0.9, offer_most=2).thresholds == Thresholds(0.9, None, 2)


SOURDOUGH = make_skill(
    "sourdough-bread", description="Bakes sourdough bread: knead the dough, proof it, and into the oven."
)
TAX = make_skill("tax-return", description="Files the yearly tax return for a household.")


def test_what_a_message_denies_is_no_second_thing_that_it_asks_for() -> None:
    index = index_of(replace(SOURDOUGH, triggers=Triggers(never=("gluten free",))), TAX)
    asked = "I need to file the yearly tax return for my household, gluten free sourdough kneading dough"
    assert "sourdough-bread" not in chosen(select(index, turn(asked)))


def test_what_a_message_denies_does_not_stand_in_the_way_of_what_it_asks_for() -> None:
    index = index_of(replace(SOURDOUGH, triggers=Triggers(never=("gluten free",))), TAX)
    asked = (
        "File the yearly tax return for my household, then help with gluten free sourdough bread dough kneading and "
        "proof in the oven"
    )
    found = select(index, turn(asked))
    assert "sourdough-bread" not in chosen(found)
    assert "tax-return" in chosen(found)
