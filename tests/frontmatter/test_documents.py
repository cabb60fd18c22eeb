"""YAML and JSON documents: text stays text, and nothing dangerous or doubtful passes unsaid."""

import pytest
import yaml

from skillweave.frontmatter.documents import Document, read_json, read_yaml
from skillweave.frontmatter.yaml_text import PACK_LIMITS, Limits, Plain, parse


def read(text: str) -> Document:
    return read_yaml(text, path="pack.yaml")


def found(document: Document) -> list[tuple[str, int | None]]:
    return [(each.code, each.location.line if each.location else None) for each in document.diagnostics]


@pytest.mark.parametrize("text", ["1.10", "1.0", "no", "on", "true", "null", "~", "017", "1:30", "2026-01-02", "0x1f"])
def test_an_unquoted_scalar_stays_the_text_it_was(text: str) -> None:
    document = read(f"value: {text}")

    assert document.data == {"value": text}
    assert document.diagnostics == ()


def test_only_unquoted_scalars_may_be_read_as_another_type() -> None:
    data = read("plain: 1\nsingle: '1'\ndouble: \"1\"\nblock: |\n  1\n").data

    assert data is not None
    assert {key for key, value in data.items() if isinstance(value, Plain)} == {"plain"}


def test_lines_of_keys_and_items_count_from_the_first_line_given() -> None:
    document = read_yaml("a: 1\nb:\n  - x\n  - c: y\n", path="p", first_line=10)

    assert document.lines == {
        ("a",): 10,
        ("b",): 11,
        ("b", 0): 12,
        ("b", 1): 13,
        ("b", 1, "c"): 13,
    }


def test_of_a_key_that_stands_twice_the_first_counts_and_both_lines_are_told() -> None:
    document = read("a: 1\nb: {c: 1, c: 2}\na: {d: 1, d: 2}\n")

    assert document.data == {"a": "1", "b": {"c": "1"}}
    assert found(document) == [("duplicate-key", 2), ("duplicate-key", 3)]
    assert "line 1" in document.diagnostics[1].message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\nb: &x 2", "yaml-alias"),
        ("a: 1\nb: *x", "yaml-alias"),
        ("a: 1\n&x b: 2", "yaml-alias"),
        ("a: 1\nb: [&x [1], *x]", "yaml-alias"),
        ("a: 1\nb: !!python/object/apply:os.getcwd []", "yaml-tag"),
        ("a: 1\nb: !custom {c: d}", "yaml-tag"),
        ("a: 1\n!!str b: c", "yaml-tag"),
        ("a: 1\n? [b]\n: c", "yaml-invalid"),
        ("a: 1\nb: \x00", "yaml-invalid"),
        ("a: 1\nb: \x1b[0m", "yaml-invalid"),
        ("a: 1\nb: \ud800", "yaml-invalid"),
        ("a: 1\nb: [c", "yaml-invalid"),
        ('a: 1\nb: "c', "yaml-invalid"),
        ("a: 1\n\tb: c", "yaml-invalid"),
        ("a: 1\n--- b", "yaml-invalid"),
    ],
)
def test_what_is_no_plain_yaml_is_refused_at_its_line(text: str, code: str) -> None:
    document = read(text)

    assert document.data is None
    assert found(document) in ([(code, 2)], [(code, 3)])


@pytest.mark.parametrize("sign", ["[", "{", "- ", "[ ", "{a: "])
def test_100_kb_of_nesting_ends_at_the_limit_of_depth(sign: str) -> None:
    document = read("a: 1\nb:\n  " + sign * (100_000 // len(sign)))

    assert found(document) in ([("yaml-too-deep", 3)], [("yaml-invalid", 3)])


def test_nesting_up_to_the_limit_is_read() -> None:
    limits = Limits(characters=1000, nodes=100, depth=3)

    assert read_yaml("a: [[1]]", path="p", limits=limits).data == {"a": [["1"]]}
    assert found(read_yaml("a: [[[1]]]", path="p", limits=limits)) == [("yaml-too-deep", 1)]


def test_more_values_or_text_than_the_limits_are_refused() -> None:
    limits = Limits(characters=20, nodes=6)

    assert read_yaml("a: [1, 2, 3]", path="p", limits=limits).data == {"a": ["1", "2", "3"]}
    assert found(read_yaml("a: [1, 2, 3, 4]", path="p", limits=limits)) == [("yaml-too-large", 1)]
    assert found(read_yaml("a: " + "b" * 18, path="p", limits=limits)) == [("yaml-too-large", 1)]


@pytest.mark.parametrize(
    ("text", "what"), [("", "empty"), ("# only a comment", "empty"), ("- a", "list"), ("a", "value")]
)
def test_a_document_that_is_no_mapping_is_refused(text: str, what: str) -> None:
    document = read(text)

    assert found(document) == [("not-a-mapping", 1)]
    assert what in document.diagnostics[0].message


def test_the_parser_in_python_reads_the_same_as_the_one_in_c() -> None:
    text = "a: 1.10\nb: ['x', no, {c: d}]\ne: |\n  f\n  g\na: twice\n"

    assert parse(text, PACK_LIMITS, parser=yaml.SafeLoader) == parse(text, PACK_LIMITS)


def test_json_is_read_with_its_types() -> None:
    assert read_json('{"a": [1, true, null, "no"]}', path="p").data == {"a": [1, True, None, "no"]}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": 1,\n "b"}', "json-invalid"),
        ('{"a": NaN}', "json-invalid"),
        ("[" * 100_000, "json-invalid"),
        ('{"a": ' + "9" * 5000 + "}", "json-invalid"),
        ('{"a": ' + "[" * 50 + "]" * 50 + "}", "yaml-too-deep"),
        ("[1]", "not-a-mapping"),
    ],
)
def test_json_that_cannot_be_used_is_refused(text: str, code: str) -> None:
    document = read_json(text, path="p")

    assert document.data is None
    assert [each.code for each in document.diagnostics] == [code]


def test_a_json_key_that_stands_twice_is_reported_and_the_first_counts() -> None:
    document = read_json('{"a": 1, "a": 2}', path="p")

    assert document.data == {"a": 1}
    assert [each.code for each in document.diagnostics] == ["duplicate-key"]


def test_json_over_the_limits_is_refused() -> None:
    limits = Limits(characters=30, nodes=5)

    assert found(read_json('{"a": [1, 2, 3, 4]}', path="p", limits=limits)) == [("yaml-too-large", None)]
    assert found(read_json(" " * 31, path="p", limits=limits)) == [("yaml-too-large", None)]
