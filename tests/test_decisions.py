"""A decision says in plain words what spoke for a skill."""

from skillweave import Evidence
from skillweave.decisions import evidence_in_words


def test_evidence_of_one_kind_is_told_under_one_name() -> None:
    evidence = (Evidence("terms", "query"), Evidence("terms", "slow"), Evidence("keyword", "sql"))
    assert evidence_in_words(evidence) == "words 'query', 'slow', keyword 'sql'"


def test_a_single_shared_word_is_told_as_one() -> None:
    assert evidence_in_words((Evidence("terms", "experiment"),)) == "word 'experiment'"


def test_no_evidence_is_no_text() -> None:
    assert evidence_in_words(()) == ""
