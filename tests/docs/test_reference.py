"""The reference is complete and says what the code says."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import skillweave
from docs.tools.generate import BESIDE_TABLES, PAGES, codes_beside_tables, command_names, home_of
from docs.tools.page import Page
from docs.tools.plain import plain
from docs.tools.run import DOCS, pages
from skillweave import Outcome
from skillweave.cli.configuration import shared_names, variable_of

REFERENCE = DOCS / "reference"


def module_of(name: str) -> str:
    """The module of a documented name: the name itself, or what stands before its last part."""
    try:
        import_module(name)
    except ModuleNotFoundError:
        return name.rpartition(".")[0]
    return name


@pytest.mark.parametrize("name", PAGES)
def test_a_page_made_from_the_code_is_current(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs-pages`"


@pytest.mark.parametrize("name", [name for name in skillweave.__all__ if not name.startswith("__")])
def test_every_export_is_in_the_reference(name: str) -> None:
    home = home_of(name)
    documented = [directive for path in pages() for directive in Page(path).directives]
    assert any(home == one or home.startswith(f"{one}.") for one in documented), f"add `::: {home}`"


def test_every_command_is_in_the_reference() -> None:
    text = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    for words in command_names():
        assert f"\n## {' '.join(('skillweave', *words))}\n" in text


def test_codes_that_stand_in_no_table_have_a_meaning_here() -> None:
    assert codes_beside_tables() == BESIDE_TABLES.keys()


def test_every_outcome_is_explained() -> None:
    text = (DOCS / "concepts" / "decisions.md").read_text(encoding="utf-8")
    assert [outcome for outcome in Outcome if f"`{outcome}`" not in text] == []


def test_every_key_of_the_configuration_is_explained() -> None:
    text = (DOCS / "concepts" / "configuration.md").read_text(encoding="utf-8")
    for name in shared_names():
        assert f"| `{name}` |" in text
        assert f"| `{variable_of(name)}` |" in text


@pytest.mark.parametrize(
    ("docstring", "shown"),
    [
        ("Keeps States (spec 5.4).", "Keeps States."),
        ("Rules of a set (spec 4.1; seed 002, V001 to V006).", "Rules of a set."),
        ("The message of seed 000 for one skill.", "The message for one skill."),
        ("Seed 002's composed skill: more.", "The composed skill: more."),
        ("The key of spec 2.2: kind, place.", "The key: kind, place."),
        ("A seed of grass (in spring).", "A seed of grass (in spring)."),
    ],
)
def test_docstrings_are_shown_without_the_sources_of_rules(docstring: str, shown: str) -> None:
    assert plain(docstring) == shown


@pytest.mark.parametrize("module", sorted({module_of(name) for path in pages() for name in Page(path).directives}))
def test_no_shown_docstring_speaks_of_its_sources(module: str) -> None:
    source = Path(str(import_module(module).__file__)).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        text = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None
        if isinstance(text, str):
            assert not re.search(r"\b(spec \d|seeds? \d)", plain(text)), text


def test_no_page_speaks_of_its_sources() -> None:
    for path in pages():
        if Path("decisions") not in path.relative_to(DOCS).parents:
            assert not [word for word in ("seed 0", "spec 1", "spec 2") if word in path.read_text(encoding="utf-8")]
