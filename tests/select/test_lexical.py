import pytest

from skillweave import Evidence, Outcome
from skillweave.select.matchers import Thresholds
from skillweave.select.selection import select
from tests.asking import ask, candidate, chosen, index_of, refusal, skill, turn

INVOICES = skill(
    "invoice-checking",
    description="Check supplier invoices against purchase orders and find wrong amounts",
    body="Compare every line of the invoice with the order. Report amounts that differ.",
)
BREAD = skill(
    "bread-baking",
    description="Plan the baking of sourdough bread, from starter to oven",
    body="Feed the starter in the evening. Bake in a hot oven with steam.",
)
MINUTES = skill(
    "minutes",
    description="Write the minutes of a meeting with decisions and open actions",
    body="List who took part. Note each decision and who acts on it until when.",
)
LIBRARY = index_of(INVOICES, BREAD, MINUTES)


def test_a_message_in_a_skills_own_words_selects_it() -> None:
    selection = ask(LIBRARY, "Can you check the invoices of this supplier for wrong amounts?")
    assert chosen(selection) == ["invoice-checking"]


def test_evidence_are_the_shared_words_in_their_places() -> None:
    found = candidate(ask(LIBRARY, "Check: supplier INVOICES, wrong amounts"), "invoice-checking")
    assert found.matcher == "lexical"
    assert found.evidence == (
        Evidence("terms", "Check", 0, 5),
        Evidence("terms", "supplier", 7, 15),
        Evidence("terms", "INVOICES", 16, 24),
        Evidence("terms", "wrong", 26, 31),
        Evidence("terms", "amounts", 32, 39),
    )


def test_of_many_shared_words_the_eight_rarest_are_evidence_in_the_order_of_the_message() -> None:
    rare = ["submarine", "walrus", "trombone", "glacier", "parsnip", "cobbler", "lighthouse", "marzipan"]
    library = index_of(
        skill("told", description=" ".join(["time", "work", *rare])),
        *(skill(f"other-{number}", description="time work") for number in range(4)),
    )
    message = " ".join([*rare[:4], "time", *rare[4:], "work"])
    assert [piece.text for piece in candidate(ask(library, message), "told").evidence] == rare


def test_scores_and_probabilities_are_below_one_and_the_first_is_the_likeliest() -> None:
    selection = ask(LIBRARY, "check the supplier invoices: bake, meeting")
    ranked = [*selection.chosen, *selection.offered, *(each.candidate for each in selection.rejected)]
    assert 0 < ranked[-1].score < ranked[0].score < 1
    likely = [each.probability or 0 for each in ranked]
    assert likely[0] == max(likely)
    assert 0 < likely[-1] < likely[0] < 1


@pytest.mark.parametrize("message", ["What is 2+2?", "Calculate pi", "", "?!", "Hello, how are you?"])
def test_small_talk_selects_nothing(message: str) -> None:
    assert chosen(ask(LIBRARY, message)) == []


def test_what_is_not_likely_enough_to_give_is_offered() -> None:
    selection = ask(LIBRARY, "the oven of my neighbour is broken since yesterday")
    assert chosen(selection) == []
    assert [each.skill_id for each in selection.offered] == ["bread-baking"]


def test_what_is_not_likely_enough_to_offer_is_rejected_with_its_probability() -> None:
    asked = turn("the oven of my neighbour is broken since yesterday")
    selection = select(LIBRARY, asked, thresholds=Thresholds(offer_at=0.9))
    rejected = refusal(selection, "bread-baking")
    assert (selection.offered, rejected.outcome) == ((), Outcome.BELOW_THRESHOLD)
    assert rejected.reason.startswith("not likely enough to offer: ")
    assert rejected.reason.endswith("%, and 90.0% is needed")


def test_a_message_that_asks_for_two_things_selects_both() -> None:
    message = "Check supplier invoices against purchase orders. Then plan the baking of sourdough bread."
    assert sorted(chosen(ask(LIBRARY, message))) == ["bread-baking", "invoice-checking"]


def test_a_body_decides_between_like_descriptions() -> None:
    one = skill("one", description="Help with the database", body="Vacuum bloated tables and tune autovacuum settings.")
    two = skill("two", description="Help with the database", body="Rotate credentials and audit grants of every role.")
    selection = ask(index_of(one, two), "tune autovacuum settings for bloated tables in the database")
    assert chosen(selection) == ["one"]


def test_a_declared_trigger_elsewhere_keeps_shared_words_from_selecting() -> None:
    searched = index_of(INVOICES, skill("x", "purchase"))
    assert chosen(ask(searched, "check the supplier invoices against the purchase orders")) == ["x"]


def test_a_vetoed_trigger_does_not_keep_shared_words_from_selecting() -> None:
    searched = index_of(INVOICES, skill("x", "purchase", never=["orders"]))
    assert chosen(ask(searched, "check the supplier invoices against the purchase orders")) == ["invoice-checking"]


def test_an_explicit_choice_keeps_shared_words_from_selecting() -> None:
    asked = turn("check the supplier invoices for wrong amounts", named=["bread-baking"])
    assert chosen(select(LIBRARY, asked)) == ["bread-baking"]


def test_an_unknown_name_does_not_keep_shared_words_from_selecting() -> None:
    asked = turn("check the supplier invoices for wrong amounts", named=["nope"])
    assert chosen(select(LIBRARY, asked)) == ["invoice-checking"]


def test_an_id_as_its_author_writes_it_goes_first_and_shared_words_still_count() -> None:
    message = "bread-baking is fun, but check the supplier invoices against purchase orders and find wrong amounts"
    selection = ask(LIBRARY, message)
    assert [(each.skill_id, each.matcher) for each in selection.chosen] == [
        ("bread-baking", "triggers"),
        ("invoice-checking", "lexical"),
    ]


def test_an_id_in_ordinary_words_is_only_evidence() -> None:
    message = "bread baking is fun, but check the supplier invoices against purchase orders and find wrong amounts"
    selection = ask(LIBRARY, message)
    assert chosen(selection) == ["invoice-checking"]
    (offered,) = selection.offered
    assert (offered.skill_id, offered.evidence[0]) == ("bread-baking", Evidence("id", "bread baking", 0, 12))


def test_an_id_of_one_word_is_only_evidence_for_a_skill_further_down() -> None:
    others = [
        skill(f"tea-{name}", description="steep green tea leaves in hot water for some minutes") for name in "abcdefgh"
    ]
    searched = index_of(skill("minutes", description="Note decisions"), *others)
    selection = ask(searched, "steep green tea leaves in hot water for ten minutes")
    assert "minutes" not in chosen(selection)
    assert refusal(selection, "minutes").outcome is Outcome.BELOW_THRESHOLD


def test_an_id_of_one_word_is_only_evidence_beside_a_declared_trigger() -> None:
    selection = ask(index_of(MINUTES, skill("x", "purchase")), "purchase in ten minutes")
    assert chosen(selection) == ["x"]
    assert refusal(selection, "minutes").outcome is Outcome.BELOW_THRESHOLD


def test_a_never_phrase_vetoes_what_shared_words_would_select() -> None:
    searched = index_of(BREAD, skill("checks", description=INVOICES.description, never=["supplier"]))
    selection = ask(searched, "check supplier invoices against purchase orders and find wrong amounts")
    assert chosen(selection) == []
    assert refusal(selection, "checks").outcome is Outcome.VETOED


def test_a_vetoed_skill_does_not_stand_in_the_way_of_the_next() -> None:
    twin = skill("twin", description=INVOICES.description, body="Compare.", never=["supplier"])
    selection = ask(
        index_of(twin, INVOICES, BREAD), "check supplier invoices against purchase orders and find wrong amounts"
    )
    assert chosen(selection) == ["invoice-checking"]


def test_only_skills_within_the_limits_are_ranked() -> None:
    selection = ask(LIBRARY, "check supplier invoices for wrong amounts", within=frozenset({"bread-baking", "nope"}))
    assert (selection.chosen, selection.rejected) == ((), ())
    selection = ask(LIBRARY, "check supplier invoices for wrong amounts", within=frozenset({"invoice-checking"}))
    assert chosen(selection) == ["invoice-checking"]


def test_limits_that_allow_nothing_rank_nothing() -> None:
    selection = ask(LIBRARY, "check supplier invoices for wrong amounts", within=frozenset())
    assert (selection.chosen, selection.rejected) == ((), ())


def test_words_of_a_script_without_spaces_rank_too() -> None:
    searched = index_of(
        skill("weather", description="查询今天的天气预报"), skill("trains", description="查询火车时刻表")
    )
    assert chosen(ask(searched, "今天的天气预报怎么样")) == ["weather"]


def test_a_long_message_says_that_its_common_words_were_left_out() -> None:
    words = [f"word{number}" for number in range(400)]
    searched = index_of(skill("x", description=" ".join(words)), skill("y", description="others"))
    selection = ask(searched, " ".join(words))
    notes = [piece.text for piece in candidate(selection, "x").evidence if piece.start is None]
    assert notes == ["only the rarest words of the message were looked up; 144 more common ones were not"]


def test_a_library_without_skills_selects_nothing() -> None:
    assert chosen(ask(index_of(), "check supplier invoices")) == []


def test_skills_without_words_are_no_trouble() -> None:
    assert chosen(ask(index_of(skill("a"), skill("b")), "check supplier invoices")) == []
