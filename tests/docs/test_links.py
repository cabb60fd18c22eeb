"""What can be said about the site without its generator: every page is in its place, every link leads somewhere."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from docs.tools.page import Page, slug
from docs.tools.run import DOCS, ROOT, pages

CONFIGURATION = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
DECISIONS = sorted((DOCS / "decisions").glob("[0-9]*.md"))
OUTSIDE = ("https://", "http://", "mailto:")


def name_of(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


def named(entries: object) -> Iterator[str]:
    """The pages in a piece of the navigation, in order."""
    if isinstance(entries, str):
        yield entries
    elif isinstance(entries, dict):
        for value in entries.values():
            yield from named(value)
    elif isinstance(entries, list):
        for entry in entries:
            yield from named(entry)


def test_the_navigation_holds_every_page_once() -> None:
    listed = [name_of(path) for path in pages() if path not in DECISIONS]
    assert sorted(named(CONFIGURATION["nav"])) == sorted(listed)


def test_the_list_of_decisions_holds_every_one() -> None:
    links = Page(DOCS / "decisions" / "README.md").links
    assert sorted(links) == sorted(path.name for path in DECISIONS)


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_every_link_leads_to_a_page_and_a_place_in_it(path: Path) -> None:
    for target in Page(path).links:
        if target.startswith(OUTSIDE):
            continue
        file, _, anchor = target.partition("#")
        linked = (path.parent / file).resolve() if file else path
        assert linked.is_file(), f"{target}: there is no such file"
        assert linked.is_relative_to(DOCS), f"{target}: it is no part of the site"
        assert not anchor or anchor in Page(linked).anchors, f"{target}: the page has no such heading"


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_every_linked_name_is_in_the_code_and_in_the_reference(path: Path) -> None:
    page = Page(path)
    documented = [name for other in pages() for name in Page(other).directives]
    for name in (*page.symbols, *page.directives):
        find(name)
        assert any(name == one or name.startswith(f"{one}.") for one in documented), f"{name} is not in the reference"


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    assert not [
        target for target in Page(path).links if target.startswith(OUTSIDE) and target.endswith((".js", ".css"))
    ]
    assert "<script" not in Page(path).text


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_a_page_begins_with_its_one_title(path: Path) -> None:
    page = Page(path)
    assert page.text.startswith("# ")
    assert sum(line.startswith("# ") for line in page.prose.splitlines()) == 1


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("What is promised", "what-is-promised"),
        ("SKILL.md", "skillmd"),
        ("Lenient, or strict", "lenient-or-strict"),
        ("`x-skillweave`: more", "x-skillweave-more"),
        ("Grüße and [links](a.md)", "grue-and-links"),
    ],
)
def test_headings_have_the_ids_of_the_generator(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


def find(name: str) -> object:
    """The module or member of that dotted name."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{name} is nothing")
