"""Values that their authors forgot to quote."""

import pytest

from skillweave.frontmatter import read_yaml


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("description: Use when: asked", {"description": "Use when: asked"}),
        ("description: Ends with:", {"description": "Ends with:"}),
        ("description: It's: fine", {"description": "It's: fine"}),
        ('description: Say "a": b', {"description": 'Say "a": b'}),
        ("description: a\\b: c", {"description": "a\\b: c"}),
        ("a: x\nmetadata:\n  note: see: this\n  b: y", {"a": "x", "metadata": {"note": "see: this", "b": "y"}}),
        ("a: b: c\nd: e: f", {"a": "b: c", "d": "e: f"}),
        ("a: one\n  two: three\n\n  four\nb: c", {"a": "one two: three\nfour", "b": "c"}),
        ("hint: [file] [line]", {"hint": "[file] [line]"}),
        ('a: "b" and c', {"a": '"b" and c'}),
        ("a: @scope/package", {"a": "@scope/package"}),
        ("a: `code`", {"a": "`code`"}),
        ("a: >\n  b: c: d\ne: f: g", {"a": "b: c: d\n", "e": "f: g"}),
    ],
)
def test_a_value_that_needs_quotes_is_read_as_text(text: str, data: object) -> None:
    document = read_yaml(text, path="p")

    assert document.data == data
    assert {found.code for found in document.diagnostics} == {"frontmatter-repaired"}


def test_the_repair_names_the_key_and_the_line_and_moves_no_other_line() -> None:
    document = read_yaml("a: b\nc: one\n  two: three\nd: e\nd: f\n", path="p", first_line=2)

    assert [(found.code, found.location and found.location.line) for found in document.diagnostics] == [
        ("frontmatter-repaired", 3),
        ("duplicate-key", 6),
    ]
    assert "`c`" in document.diagnostics[0].message


@pytest.mark.parametrize(
    "text", ["a: [b", 'a: "b', "a: {b", "a: 'b\nc: d", "a: *b* c", "a: |\n b\nc", "a:\n\tb: c", "\ta: b: c"]
)
def test_what_is_broken_in_another_way_is_not_guessed(text: str) -> None:
    document = read_yaml(text, path="p")

    assert document.data is None
    assert [found.code for found in document.diagnostics] == ["yaml-invalid"]


def test_an_alias_behind_a_repair_is_still_refused() -> None:
    document = read_yaml("a: b: c\nd: &e f\n", path="p")

    assert [(found.code, found.location and found.location.line) for found in document.diagnostics] == [
        ("yaml-alias", 2)
    ]


def test_repairs_end_after_sixteen() -> None:
    sixteen = "\n".join(f"k{index}: a: b" for index in range(16))

    assert read_yaml(sixteen, path="p").data is not None
    assert read_yaml(f"{sixteen}\nlast: a: b", path="p").data is None
