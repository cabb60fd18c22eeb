from pathlib import Path

import pytest

from skillweave import Message, Role
from skillweave.cli.arguments.turn import messages_of, read_transcript
from skillweave.cli.failure import Mistake


def test_no_file_means_that_the_host_cannot_say() -> None:
    assert read_transcript(None) is None


def test_messages_have_role_content_and_perhaps_an_id() -> None:
    text = '[{"role": "user", "content": "Hi", "id": "m1"}, {"role": "developer", "content": null}]'
    assert messages_of(text, "chat") == (Message(Role.USER, "Hi", "m1"), Message(Role.SYSTEM, None))


def test_parts_are_texts_or_carried_as_they_are() -> None:
    image = {"type": "image", "source": "x"}
    text = (
        '[{"role": "user", "content": ["a", {"type": "text", "text": "b"}, {"text": "c"},'
        ' {"type": "image", "source": "x"}]}]'
    )
    assert messages_of(text, "chat") == (Message(Role.USER, ("a", "b", "c", image)),)


def test_an_empty_list_is_a_complete_transcript() -> None:
    assert messages_of("[]", "chat") == ()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "chat is no JSON: Expecting value in line 1; give a list of messages"),
        ("{}", "chat is not a list; give a list of {role, content, id}"),
        ('["hi"]', "chat, entry 1: a Message cannot be read: it is 'hi', and an object"),
        ('[{"role": "user"}, {"content": "x"}]', "chat, entry 2: a Message cannot be read: `role` is null"),
        ('[{"role": "bot"}]', "chat, entry 1: a Message cannot be read: `role` is 'bot', and one of system, user"),
        ('[{"role": ["user"]}]', "chat, entry 1: a Message cannot be read: `role` is a list"),
        ('[{"role": "user", "content": 5}]', "chat, entry 1: a Message cannot be read: `content` is 5, and a text"),
        ('[{"role": "user", "content": [true]}]', "chat, entry 1: a Message cannot be read: `content[0]` is True"),
        ('[{"role": "user", "id": 7}]', "chat, entry 1: a Message cannot be read: `id` is 7, and a text"),
        ("[" * 100_000, "chat is nested too deeply; give a list of {role, content, id}"),
    ],
)
def test_what_is_wrong_is_named_with_entry_and_rule(text: str, complaint: str) -> None:
    with pytest.raises(Mistake) as raised:
        messages_of(text, "chat")
    assert str(raised.value).startswith(complaint)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=r"none\.json' does not exist; check the path"):
        read_transcript(str(tmp_path / "none.json"))


def test_a_file_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'["\xe9"]')
    with pytest.raises(Mistake, match=r"latin\.json' is no UTF-8 text \(byte 3\)"):
        read_transcript(str(tmp_path / "latin.json"))


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf[]")
    assert read_transcript(str(tmp_path / "bom.json")) == ()
