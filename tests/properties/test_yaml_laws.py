"""The YAML that is written is read back equal, and no bytes whatever make the reader fail."""

import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillweave.formats.skill_md import read_skill_md
from skillweave.frontmatter.documents import read_front_matter, read_yaml, tidy_body, write_front_matter
from skillweave.frontmatter.yaml_text import FRONT_MATTER_LIMITS, PACK_LIMITS, Refused, parse, resolved, write_yaml
from skillweave.skills import Strictness
from tests.depth import tried
from tests.strategies import TRICKY, json_values, texts

quick = tried(33)
mappings = st.dictionaries(texts, json_values, min_size=1, max_size=4)
yamlish = st.lists(
    st.sampled_from(
        [*TRICKY, "name: ", "description: ", "\n", "  ", "- ", "[", "]", "{", "}", "---\n", "\t", ": ", "|"]
    ),
    max_size=25,
).map("".join)


@quick
@given(mappings)
def test_data_that_was_written_is_read_back_equal(data: dict[str, object]) -> None:
    document = read_yaml(write_yaml(data), path="p")

    assert resolved(document.data) == data
    assert document.diagnostics == ()


@quick
@given(mappings)
def test_the_parser_in_python_reads_what_was_written_too(data: dict[str, object]) -> None:
    parsed = parse(write_yaml(data), PACK_LIMITS, parser=yaml.SafeLoader)

    assert resolved(parsed.data) == data


@quick
@given(mappings, texts)
def test_front_matter_and_a_tidy_body_are_read_back_equal(data: dict[str, object], body: str) -> None:
    front = read_front_matter(write_front_matter(data, tidy_body(body)).encode(), path="p")

    assert (resolved(front.fields), front.body) == (data, tidy_body(body))


@quick
@given(yamlish)
def test_whatever_is_skipped_says_why_where_and_what_to_do(text: str) -> None:
    for strictness in Strictness:
        read = read_skill_md(
            f"---\n{text}\n---\nbody".encode(), path="p", folder="f", source="s", strictness=strictness
        )

        assert read.skill is not None or read.diagnostics
        assert all(found.fix and found.location and found.location.line for found in read.diagnostics)


@quick
@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_fail(data: bytes) -> None:
    for whole in (data, b"---\n" + data, b"---\nname: a\ndescription: " + data + b"\n---\n"):
        read = read_skill_md(whole, path="p", folder="f", source="s")

        assert (read.skill is None) <= bool(read.diagnostics)


plain_words = st.sampled_from(("jam", "jam jar", "1.10", "null", "no", "a:b", "a#b", "it's", "é (jam)", 'say "jam"'))
words = st.one_of(*[plain_words] * 12, st.sampled_from(TRICKY), st.text(max_size=6))
values = st.one_of(
    words,
    words.map(lambda word: f'"{word}"'),
    words.map(lambda word: f"'{word}'"),
    st.lists(words, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
)
keys = st.sampled_from(("name", "description", "a", "b-c", "_d", "null", "e f"))
blocks = st.one_of(
    st.lists(st.tuples(st.sampled_from(("- ", "-  ")), words).map("".join), max_size=3),
    st.lists(st.tuples(keys, st.just(": "), words).map("".join), max_size=3),
)
entries = st.one_of(
    st.tuples(keys, st.sampled_from((": ", ":  ", ": ", ":")), values).map("".join),
    st.tuples(keys, st.sampled_from(("", "  ", "    ")), blocks).map(
        lambda entry: "\n".join([f"{entry[0]}:", *(entry[1] + row for row in entry[2])])
    ),
)
documents = st.lists(entries, max_size=3).map(lambda found: "\n".join(found) + "\n")


@tried(33)
@given(documents)
def test_front_matter_is_read_as_the_library_itself_reads_it(text: str) -> None:
    """The oracle keeps every scalar as text too; it says nothing of keys that stand twice, and takes the last."""
    try:
        parsed = parse(text, FRONT_MATTER_LIMITS)
    except Refused:
        return
    if not parsed.duplicates:
        assert parsed.data == yaml.load(text, yaml.CBaseLoader)
