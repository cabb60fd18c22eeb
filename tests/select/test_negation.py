import pytest

from skillweave.select.triggers import negations_in
from skillweave.text.search import fold


def firm(text: str) -> list[str]:
    folded = fold(text)
    return [folded[each.start :].split()[0].strip(",.?") for each in negations_in(folded) if each.firm]


@pytest.mark.parametrize(
    "text",
    [
        "not the invoice, please",
        "instead of the invoice",
        "rather than an invoice",
        "without invoice",
        "Do not use the invoice",
        "nicht die invoice",
        "ohne invoice",
        "statt der invoice",
        "sin la invoice",
        "não a invoice",
    ],
)
def test_what_the_message_is_not_about_is_found(text: str) -> None:
    assert firm(text) == ["invoice"]


@pytest.mark.parametrize(
    "text",
    [
        "The VAT number is not on the invoice, may we pay it?",
        "Why is the tax not on my invoice?",
        "Is this not an invoice?",
        "why not invoice them now?",
        "nothing except the invoice in this mail, check it",
        "Deploy the Nitro server",
        "Set nano editor as default",
        "Send the SEM report",
        "Is Open Sans font good",
        "the invoice does not print",
    ],
)
def test_a_complaint_and_a_word_of_another_language_deny_nothing(text: str) -> None:
    assert not {"invoice", "nitro", "nano", "sem", "sans", "report", "font", "server", "editor", "print"} & set(
        firm(text)
    )
