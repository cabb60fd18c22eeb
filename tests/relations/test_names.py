import pytest

from skillweave.errors import InvalidSkill
from skillweave.relations.validate import require_names


def test_repeats_are_dropped_and_the_first_position_stays() -> None:
    assert require_names(["b", "a", "b"]) == ("b", "a")


def test_a_name_that_is_no_text_is_refused_with_its_position_and_type() -> None:
    with pytest.raises(InvalidSkill, match="name 2 of 2 is 7, of type int"):
        require_names(["a", 7])  # type: ignore[list-item]


def test_an_unhashable_name_is_refused_in_the_same_way() -> None:
    with pytest.raises(InvalidSkill, match="of type list"):
        require_names([[]])  # type: ignore[list-item]


def test_one_text_instead_of_a_list_is_refused() -> None:
    with pytest.raises(InvalidSkill, match=r"write \['abc'\]"):
        require_names("abc")
