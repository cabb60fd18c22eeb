import os

import pytest

from skillweave.sources.names import is_plain, quoted, shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain ä 日本.md", "plain ä 日本.md"),
        (os.fsdecode(b"\xff"), "\\xff"),
        ("\ud800", "\\ud800"),
        ("a\nb", "a\\x0ab"),
        ("\u2028", "\\u2028"),
        ("\x9b", "\\x9b"),
    ],
)
def test_a_name_is_shown_as_one_line_of_utf_8(name: str, expected: str) -> None:
    assert shown(name) == expected
    assert is_plain(name) == (name == expected)
    assert quoted(name) == f"'{expected}'"
    assert shown(name).encode()
