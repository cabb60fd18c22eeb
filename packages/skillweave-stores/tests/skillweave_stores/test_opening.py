"""What URLs of databases open."""

import subprocess
import sys

import pytest

from skillweave import SkillweaveError
from skillweave.entities import Entity, MemoryGraph
from skillweave.errors import InvalidValue
from skillweave.extensions import Extensions
from skillweave.sources.named import source_of
from skillweave.stores.named import entities_of
from skillweave_stores import SqlGraph, SqlSource


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
