"""The files that the guide to writing a pack shows are those of the example."""

from pathlib import Path

from docs.tools.page import Page

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "packs"


def test_the_guide_shows_every_file_of_the_example_as_it_is() -> None:
    page = Page(ROOT / "docs" / "guides" / "writing-a-pack.md")
    shown = {block.title: block.body.rstrip() for block in page.blocks if (block.title or "").startswith("harbour/")}
    there = {
        path.relative_to(EXAMPLE).as_posix(): path.read_text("utf-8").rstrip()
        for path in sorted((EXAMPLE / "harbour").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shown == there
