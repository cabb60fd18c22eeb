import pytest

from skillweave.cli.arguments.turn import decoded, message_text
from skillweave.cli.failure import Mistake


def test_a_message_is_taken_as_it_is() -> None:
    assert message_text("¿Qué tal? 你好 \t") == "¿Qué tal? 你好 \t"


def test_undecodable_bytes_of_the_command_line_are_a_mistake() -> None:
    with pytest.raises(Mistake, match="MESSAGE is no UTF-8 text from its character 3 on"):
        message_text("ab\udcff")


def test_bytes_are_read_as_utf8_without_their_mark() -> None:
    assert decoded(b"\xef\xbb\xbfna\xc3\xafve\0", "the file") == "naïve\0"


def test_other_bytes_are_a_mistake() -> None:
    with pytest.raises(Mistake, match=r"the file is no UTF-8 text \(byte 2\); save it as UTF-8"):
        decoded(b"a\xff", "the file")
