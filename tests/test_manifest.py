from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.errors import InvalidValue
from skillweave.manifest import Manifest, ManifestFile, differing_paths, manifest_of

PATHS = st.text("abc/.é", min_size=1, max_size=6)
CONTENTS = st.dictionaries(PATHS, st.binary(max_size=8), max_size=5)


@given(CONTENTS)
def test_the_order_in_which_files_are_given_does_not_change_the_digest(contents: dict[str, bytes]) -> None:
    assert manifest_of(contents).digest == manifest_of(dict(reversed(contents.items()))).digest


@given(CONTENTS, CONTENTS)
def test_two_manifests_have_one_digest_only_if_no_path_differs(one: dict[str, bytes], other: dict[str, bytes]) -> None:
    first, second = manifest_of(one), manifest_of(other)
    assert (first.digest == second.digest) == (differing_paths(first, second) == ())


def test_the_digest_is_that_of_one_line_for_each_file() -> None:
    found = manifest_of({"b.md": b"", "a.md": b"hi"})
    assert [(one.path, one.size) for one in found.files] == [("a.md", 2), ("b.md", 0)]
    lines = f"{sha256(b'hi').hexdigest()} 2 a.md\n{sha256(b'').hexdigest()} 0 b.md\n"
    assert found.digest == sha256(lines.encode()).hexdigest()


def test_paths_that_were_added_removed_or_edited_differ() -> None:
    before = manifest_of({"SKILL.md": b"1", "a": b"1", "gone": b"1"})
    now = manifest_of({"SKILL.md": b"1", "a": b"2", "new": b"1"})
    assert differing_paths(before, now) == ("a", "gone", "new")


@pytest.mark.parametrize("paths", [("a", "a"), ("a\nb",), ("",)])
def test_a_path_that_stands_twice_or_is_no_line_is_refused(paths: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValue, match="a manifest lists"):
        Manifest(tuple(ManifestFile(path, "0" * 64, 1) for path in paths))


def test_a_manifest_comes_back_from_json() -> None:
    found = manifest_of({"SKILL.md": b"text"})
    assert Manifest.from_dict(found.to_dict()) == found
