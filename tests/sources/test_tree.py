import os
from pathlib import Path

import pytest

from skillweave.sources.files import Mark, Refused
from skillweave.sources.tree import Tree

NOW = 1_700_000_000_123_456_789
SECOND = 1_000_000_000


def mark(changed: int) -> Mark:
    return changed, changed, 100, 7


@pytest.mark.parametrize(
    ("changed", "trusted"),
    [
        (NOW - SECOND, True),
        (NOW - 1_000_000, False),
        (NOW + SECOND, False),
        (NOW // SECOND * SECOND - 10 * SECOND, True),
        (NOW // SECOND * SECOND - SECOND, False),
    ],
)
def test_a_mark_is_trusted_when_no_clock_tick_can_hide_a_change(changed: int, trusted: bool) -> None:
    assert (Tree({}, NOW).trusted(mark(changed)) is not None) is trusted


def test_a_modification_time_in_the_future_does_not_make_a_file_suspect_for_ever() -> None:
    assert Tree({}, NOW).trusted((NOW + 1000 * SECOND, NOW - SECOND, 100, 7)) is not None


def test_an_unchanged_folder_is_not_listed_again(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    later = tmp_path.stat().st_ctime_ns + SECOND
    first = Tree({}, later)
    listing = first.listing(str(tmp_path))
    (tmp_path / "b").touch()
    assert Tree(first.seen, later, set()).listing(str(tmp_path)) is listing
    assert Tree(first.seen, later, {str(tmp_path)}).listing(str(tmp_path)).files == ("a", "b")
    assert Tree(first.seen, later, None).listing(str(tmp_path)).files == ("a", "b")


def test_a_folder_that_just_changed_is_listed_again(tmp_path: Path) -> None:
    first = Tree({}, tmp_path.stat().st_ctime_ns)
    listing = first.listing(str(tmp_path))
    assert Tree(first.seen, tmp_path.stat().st_ctime_ns + SECOND, set()).listing(str(tmp_path)) is not listing


def test_names_are_sorted_by_kind(tmp_path: Path) -> None:
    for name in ("z", "a"):
        (tmp_path / f"{name}.md").touch()
        (tmp_path / f"{name}-folder").mkdir()
        (tmp_path / f"{name}-link").symlink_to("nowhere")
        os.mkfifo(tmp_path / f"{name}-pipe")
    (tmp_path / ".git").mkdir()
    listing = Tree({}, NOW).listing(str(tmp_path))
    assert (listing.files, listing.folders) == (("a.md", "z.md"), ("a-folder", "z-folder"))
    assert (listing.links, listing.others) == (("a-link", "z-link"), ("a-pipe", "z-pipe"))


def test_a_folder_that_went_away_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        Tree({}, NOW).listing(str(tmp_path / "gone"))
    assert caught.value.code.name == "vanished"
