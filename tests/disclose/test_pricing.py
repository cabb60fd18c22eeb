from skillweave.disclose.block import REPLACES
from skillweave.disclose.fit import Pricing
from skillweave.disclose.render import Extras, Inlined
from skillweave.skills import ArtifactRef
from skillweave.turns import Rung
from skillweave_testing import WordCounter
from tests.skills import make_skill


def test_a_text_is_rendered_once_as_a_first_giving_and_once_as_a_replacement() -> None:
    pricing, told = Pricing(WordCounter()), make_skill("poems")
    first = pricing.skill(told, Rung.INSTRUCTIONS)
    again = pricing.skill(told, Rung.INSTRUCTIONS, Extras(replaces_earlier=REPLACES))
    assert REPLACES in again.text
    assert REPLACES not in first.text
    assert pricing.skill(told, Rung.INSTRUCTIONS) is first
    assert pricing.skill(told, Rung.INSTRUCTIONS, Extras(replaces_earlier=REPLACES)) is again


def test_what_holds_somebody_elses_text_is_not_remembered() -> None:
    pricing, told = Pricing(WordCounter()), make_skill("poems")
    extras = Extras(inlined=(Inlined(ArtifactRef("notes.md", "notes.md", "text/markdown", 3), "one"),))
    assert pricing.skill(told, Rung.FULL, extras) is not pricing.skill(told, Rung.FULL, extras)


def test_a_document_is_divided_once_while_its_text_stays_the_same() -> None:
    pricing, told = Pricing(WordCounter()), make_skill("poems")
    ref = ArtifactRef("notes.md", "notes.md", "text/markdown", 3)
    tree = pricing.document(told, Inlined(ref, "one"))
    assert pricing.document(told, Inlined(ref, "one")) is tree
    assert pricing.document(told, Inlined(ref, "two")).text == "two\n"
