import pytest

from skillweave.text.search import LEFT, RIGHT, UNSPACED_RUN, WHOLE, edges_of


@pytest.mark.parametrize(
    ("phrase", "edges"),
    [
        ("word", WHOLE + LEFT + RIGHT),
        ("c++", WHOLE + LEFT),
        (".net", WHOLE + RIGHT),
        ("++", WHOLE),
        ("天气", WHOLE),
        ("python入門", WHOLE + LEFT),
        ("नमस्ते", WHOLE + LEFT + RIGHT),
        ("_x", WHOLE + LEFT + RIGHT),
        ("", WHOLE),
    ],
)
def test_a_boundary_is_demanded_where_the_edge_is_a_letter_of_a_spaced_script(phrase: str, edges: int) -> None:
    assert edges_of(phrase) == edges


@pytest.mark.parametrize("letter", ["漢", "か", "カ", "ไ", "ລ", "ខ", "မ", "ད", "㐀", "𠀀"])
def test_letters_of_unspaced_scripts_are_known(letter: str) -> None:
    assert UNSPACED_RUN.fullmatch(letter)


@pytest.mark.parametrize("letter", ["a", "é", "я", "א", "ع", "क", "한", "1", " "])
def test_letters_of_spaced_scripts_are_not_among_them(letter: str) -> None:
    assert UNSPACED_RUN.fullmatch(letter) is None
