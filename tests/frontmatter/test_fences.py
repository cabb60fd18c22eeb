"""Fences, bytes and what is repaired before the YAML is read."""

import pytest

from skillweave.frontmatter.codes import MAX_FILE_BYTES
from skillweave.frontmatter.documents import FrontMatter, read_front_matter, tidy_body


def read(text: str | bytes) -> FrontMatter:
    return read_front_matter(text.encode() if isinstance(text, str) else text, path="SKILL.md")


def codes(front: FrontMatter) -> list[tuple[str, int | None]]:
    return [(found.code, found.location.line if found.location else None) for found in front.diagnostics]


def test_front_matter_and_body_are_parted_by_the_second_fence() -> None:
    front = read("---\nname: jam\n---\n\n# Jam\n\nStir.\n")

    assert front.fields == {"name": "jam"}
    assert front.body == "# Jam\n\nStir."
    assert front.diagnostics == ()


def test_dashes_inside_a_value_are_no_fence() -> None:
    front = read("---\ndescription: Draw --- dividers\nblock: |\n  ---\n  more\n---\nbody\n")

    assert front.fields == {"description": "Draw --- dividers", "block": "---\nmore\n"}
    assert front.body == "body"


def test_dashes_in_the_body_stay_there() -> None:
    assert read("---\nname: jam\n---\none\n---\ntwo\n").body == "one\n---\ntwo"


def test_white_space_after_a_fence_is_allowed() -> None:
    assert read("---  \nname: jam\n--- \t\nbody").fields == {"name": "jam"}


def test_the_body_line_is_the_line_of_its_first_text() -> None:
    assert read("---\nname: jam\n---\n\n\nbody").body_line == 6


def test_a_byte_order_mark_is_removed_and_reported() -> None:
    front = read(b"\xef\xbb\xbf---\nname: jam\n---\n")

    assert front.fields == {"name": "jam"}
    assert codes(front) == [("byte-order-mark", 1)]


def test_windows_line_ends_are_read_as_plain_ones_and_reported() -> None:
    front = read("---\r\nname: jam\r\n---\r\none\r\ntwo\r\n")

    assert (front.fields, front.body) == ({"name": "jam"}, "one\ntwo")
    assert codes(front) == [("crlf", 1)]


def test_blank_lines_before_the_first_fence_are_passed_over_and_reported() -> None:
    front = read("\n \n---\nname: jam\nname: jar\n---\n")

    assert front.fields == {"name": "jam"}
    assert codes(front) == [("blank-before-fence", 1), ("duplicate-key", 5)]


@pytest.mark.parametrize("text", ["", "# Jam\n", "----\nname: jam\n---\n", "--- name: jam\n---\n"])
def test_a_file_that_does_not_begin_with_a_fence_is_skipped(text: str) -> None:
    front = read(text)

    assert front.fields is None
    assert codes(front) == [("frontmatter-missing", 1)]


@pytest.mark.parametrize("text", ["---", "---\nname: jam\n", "---\nname: jam\n----\n", "---\nname: jam\n ---\n"])
def test_front_matter_that_is_never_closed_is_skipped(text: str) -> None:
    front = read(text)

    assert front.fields is None
    assert codes(front) == [("frontmatter-unclosed", 1)]


def test_bytes_that_are_no_utf_8_are_never_guessed() -> None:
    front = read("---\nname: jam\ndescription: mûres\n---\n".encode("latin-1"))

    assert front.fields is None
    assert codes(front) == [("not-utf-8", 3)]


def test_a_file_over_one_mebibyte_is_refused() -> None:
    head = b"---\nname: jam\n---\n"

    assert read(head + b"a" * (MAX_FILE_BYTES - len(head))).fields == {"name": "jam"}
    assert codes(read(head + b"a" * (MAX_FILE_BYTES - len(head) + 1))) == [("file-too-large", 1)]


@pytest.mark.parametrize("letter", ["a", "é", "😀"])
def test_front_matter_over_64_kib_is_refused(letter: str) -> None:
    size = len(letter.encode())
    fits, over = (64 * 1024 - 6) // size, 64 * 1024 // size

    assert read(f"---\na: '{letter * fits}'\n---\n").fields is not None
    assert codes(read(f"---\na: '{letter * over}'\n---\n")) == [("frontmatter-too-large", 1)]


def test_a_tidy_body_has_no_blank_edges_and_keeps_the_first_indent() -> None:
    assert tidy_body("\n \n    code\r\n\ntext \n\n") == "    code\n\ntext"
