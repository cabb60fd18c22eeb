"""What an unquoted scalar is, once a field asks."""

import pytest

from skillweave.frontmatter.documents import read_yaml
from skillweave.frontmatter.yaml_text import Plain, resolved


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("0", 0),
        ("-12", -12),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.10", 1.1),
        (".5", 0.5),
        ("1e3", 1000.0),
    ],
)
def test_the_core_schema_of_yaml_1_2_gives_it_a_type(text: str, value: object) -> None:
    result = resolved(Plain(text))

    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    "text", ["no", "yes", "on", "1:30", "2026-01-02", "1_000", ".", "0b1", ".inf", ".nan", "1e999", "9" * 401]
)
def test_what_the_core_schema_or_json_does_not_have_stays_text(text: str) -> None:
    assert resolved(Plain(text)) == text


def test_quoted_scalars_stay_text_at_every_depth() -> None:
    data = read_yaml("a: [1, '1', {b: \"true\", c: true}]", path="p").data

    assert resolved(data) == {"a": [1, "1", {"b": "true", "c": True}]}
