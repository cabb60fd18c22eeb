"""Ids made from names."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.formats.identity import default_name, id_of, namespaced
from skillweave.skill import is_skill_id


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("jam-jars_2", "jam-jars_2"),
        ("-", "-"),
        ("a", "a"),
        ("Jam Jars", "Jam-Jars"),
        ("org.tool/v2", "org-tool-v2"),
        ("jam & jars!", "jam-jars"),
        ("gelée royale", "gel-e-royale"),
        ("gele\u0301e", "gel-e"),
    ],
)
def test_other_characters_become_one_hyphen(name: str, made: str) -> None:
    assert id_of(name) == made


@pytest.mark.parametrize("name", ["果酱", "果酱2", "é", "a.", "- ."])
def test_a_name_that_leaves_fewer_than_two_characters_is_known_by_its_hash(name: str) -> None:
    assert id_of(name) == f"skill-{hashlib.sha256(name.encode()).hexdigest()[:10]}"


def test_the_hash_is_that_of_the_composed_form() -> None:
    assert id_of("e\u0301") == id_of("\u00e9")


@given(st.text(min_size=1, max_size=30) | st.sampled_from(["\ud800", "\x00"]))
def test_every_short_name_makes_an_id_and_an_id_stays_itself(name: str) -> None:
    made = id_of(name)

    assert is_skill_id(made)
    assert id_of(made) == made


def test_namespaces_join_with_two_underscores() -> None:
    assert namespaced("my org", "jam") == "my-org__jam"


def test_the_display_name_is_the_spelling_or_the_id_in_title_case() -> None:
    assert default_name("spacing-check", None) == "Spacing Check"
    assert default_name("gel-e", "gelée") == "gelée"
