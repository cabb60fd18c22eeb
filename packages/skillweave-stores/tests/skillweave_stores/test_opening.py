"""What URLs of databases open, also where the packages behind them are missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from skillweave import SkillweaveError
from skillweave.entities import Entity, MemoryGraph
from skillweave.errors import InvalidValue
from skillweave.extensions import Extensions
from skillweave.sources.named import source_of
from skillweave.stores import entities_of
from skillweave_stores import SqlGraph, SqlSource

_WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import skillweave
import skillweave_stores
try:
    {call}
except skillweave.errors.MissingExtra as error:
    print(error.extra, "|", error)
"""


def _said(missing: list[str], call: str) -> str:
    code = _WITHOUT.format(missing=missing, call=call)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", ["sqlalchemy", "aiosqlite", "tenacity"])
@pytest.mark.parametrize(
    "call",
    ["skillweave_stores.SqlGraph('sqlite:///x.db')", "skillweave.stores.entities_of('sqlite:///x.db')"],
)
def test_a_graph_in_a_file_names_the_extra_that_is_missing(package: str, call: str) -> None:
    what = "x.db" if package == "aiosqlite" else "an entity graph in a database"
    said = _said([package], f"import skillweave.stores; {call}")
    assert said.startswith(f"sql | {what} needs the package {package}, which is not installed")


@pytest.mark.parametrize("missing", [["psycopg"], ["sqlalchemy", "psycopg"]])
def test_a_graph_on_postgresql_names_the_one_extra_that_brings_everything(missing: list[str]) -> None:
    call = "import skillweave.stores; skillweave.stores.entities_of('postgresql://ann:hush@host/graph')"
    said = _said(missing, call)
    assert said.startswith("postgres | ")
    assert "hush" not in said


@pytest.mark.parametrize("package", ["sqlalchemy", "aiosqlite", "tenacity"])
@pytest.mark.parametrize("call", ["skillweave.open('sqlite:///x.db')", "skillweave_stores.SqlSource('sqlite:///x.db')"])
def test_a_source_in_a_file_names_the_extra_that_is_missing(package: str, call: str) -> None:
    what = "x.db" if package == "aiosqlite" else "a store of skills in a database"
    assert _said([package], call).startswith(f"sql | {what} needs the package {package}, which is not installed")


def test_a_file_whose_tables_cannot_be_made_names_the_extra_that_is_missing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    said = _said(["alembic"], f"import asyncio; asyncio.run(skillweave_stores.SqlSource({url!r}).put_agents([]))")
    assert said.startswith(f"sql | {tmp_path / 'x.db'} needs the package alembic, which is not installed")


@pytest.mark.parametrize("missing", [["psycopg"], ["sqlalchemy", "psycopg"]])
@pytest.mark.parametrize("more", ["", ", ledger='postgresql://ann:hush@host/skills'"])
def test_a_database_on_postgresql_names_the_one_extra_that_brings_everything(missing: list[str], more: str) -> None:
    skills = "'skills'" if more else "'postgresql://ann:hush@host/skills'"
    said = _said(missing, f"skillweave.open({skills}{more})")
    assert said.startswith("postgres | ")
    assert " needs the package " in said
    assert "hush" not in said


def test_to_import_skillweave_loads_none_of_them() -> None:
    packages = {"sqlalchemy", "alembic", "aiosqlite", "tenacity", "psycopg", "greenlet"}
    code = f"import sys, skillweave.cli, skillweave; print({packages!r} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("scheme", ["sqlite", "postgres", "postgresql"])
def test_each_scheme_is_an_entry_point_that_opens_a_store_of_skills(scheme: str) -> None:
    assert scheme in Extensions("sources", "source").names()
    source = source_of(f"{scheme}:///skills")
    assert isinstance(source, SqlSource)
    assert source.name == ("sqlite" if scheme == "sqlite" else "postgresql")


@pytest.mark.parametrize("scheme", ["sqlite", "postgres", "postgresql"])
def test_each_scheme_is_an_entry_point_that_opens_the_graph_of_a_tenant(scheme: str) -> None:
    graph = entities_of(f"{scheme}:///graph", tenant="acme")
    assert isinstance(graph, SqlGraph)
    assert graph.tenant == "acme"


def test_a_graph_that_is_handed_in_is_itself() -> None:
    graph = MemoryGraph([Entity("a", "A")])
    assert entities_of(graph, tenant="acme") is graph


def test_a_scheme_that_nothing_brings_is_told_with_those_that_there_are() -> None:
    with pytest.raises(SkillweaveError, match=r"no entity graph for bolt:// is installed; use one of postgres, "):
        entities_of("bolt://host")


@pytest.mark.parametrize("given", ["graph.db", "", 7, None])
def test_what_is_no_graph_and_no_name_of_one_is_refused(given: object) -> None:
    with pytest.raises(InvalidValue, match=r"skillweave\.open\(entities=\.\.\.\) is .*URL"):
        entities_of(given)  # type: ignore[arg-type]
