import pytest
from typer import BadParameter

from skillweave.cli.options import whole_number


def test_text_and_number_are_taken() -> None:
    assert (whole_number("0"), whole_number("8000"), whole_number(12)) == (0, 8000, 12)


@pytest.mark.parametrize("given", ["plenty", "1.5", "", "-1", -1, "9" * 5000])
def test_anything_else_is_refused_in_plain_words(given: str | int) -> None:
    with pytest.raises(BadParameter, match=r"^'.{0,40}' is not a whole number of at least 0$"):
        whole_number(given)
