"""Values that their authors forgot to quote."""

import pytest

from skillweave.frontmatter import documents
from skillweave.frontmatter.documents import read_yaml


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


def test_a_text_with_more_to_repair_than_is_repaired_says_so_with_the_line_and_the_limit() -> None:
    many = "\n".join(f"k{index}: a: b" for index in range(17))
    (finding,) = read_yaml(many, path="p").diagnostics
    assert (finding.code, finding.line) == ("frontmatter-too-many-repairs", 17)
    assert "16 values before it were put in quotes already, the most in" in finding.message


@pytest.mark.parametrize(("repairs", "code"), [(3, "frontmatter-repaired"), (4, "frontmatter-too-many-repairs")])
def test_a_longer_text_is_read_again_less_often(monkeypatch: pytest.MonkeyPatch, repairs: int, code: str) -> None:
    text = "\n".join([*(f"plain{n}: text" for n in range(50)), *(f"k{n}: a: b" for n in range(repairs))])
    monkeypatch.setattr(documents, "MOST_REREAD", 3 * len(text) + 100)
    assert {finding.code for finding in read_yaml(text, path="p").diagnostics} == {code}


def test_however_long_a_text_is_one_value_is_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_REREAD", 0)
    assert read_yaml("k: a: b", path="p").data == {"k": "a: b"}
