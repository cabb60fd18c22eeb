"""What users need comes from a few doors: the root, a module for each subject, the satellites, and the frameworks."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.typing import NDArray

import skillweave.adapters

ROOT = Path(__file__).parents[1]
ADAPTERS = [f"skillweave.adapters.{one.name}" for one in pkgutil.iter_modules(skillweave.adapters.__path__)]
MODULES = (
    *("api", "approvals", "client", "commands", "entities", "errors", "events", "exchange", "extensions", "graph"),
    *("ledger", "manifest", "packs", "registry", "selection", "skills", "sources", "stores", "telemetry", "tools"),
    *("turns", "values", "weaver"),
)
"""The public modules of the engine."""
SATELLITES = [path.name.replace("-", "_") for path in sorted((ROOT / "packages").iterdir()) if path.is_dir()]
DOORS = (
    "skillweave",
    *(f"skillweave.{one}" for one in MODULES if one != "commands"),
    *SATELLITES,
    "skillweave_stores.access",
    *ADAPTERS,
)
"""Where names are imported from; the hints of `commands` are read by typer alone."""
IMPORT = re.compile(r"^\s*(?:from|import) (skillweave(?:\.\w+)*)(?: import (.+))?", re.MULTILINE)
EXPLAINED = {
    "docs/concepts/extending.md": {"skillweave.formats.native"},
    "docs/concepts/ledger.md": {"skillweave.state.state"},
    "docs/concepts/service-access.md": {"skillweave_stores.access"},
}
"""Rooms that a page about how it works names itself."""
BEHIND = {
    "skillweave.adapters.bridge.Bridge",
    "skillweave.contracts.codes.Problem",
    "skillweave.exchange.run.Exchange",
    "skillweave.graph.conditions.EvalContext",
    "skillweave.graph.conditions.Lexicon",
    "skillweave.graph.conditions.Verdict",
    "skillweave.registry.snapshot.Offer",
    "skillweave.select.index.SkillIndex",
    "skillweave.select.index.TriggerIndex",
    "skillweave.select.lexical_index.LexicalIndex",
    "skillweave.select.numbered.TermStore",
    "skillweave_server.gateways.Gateway",
    "skillweave_server.keyring.KeyRing",
    "skillweave_server.meters.Meters",
    "skillweave_server.rates.Rates",
    "skillweave_server.rates.SharedCounters",
    "skillweave_server.shares.Shares",
    "skillweave_server.service.Waiting",
    "skillweave_stores.redis.keys.Keys",
    "skillweave_stores.sql.database.Database",
    "skillweave.loop_thread.LoopThread",
    "skillweave.weaver.engine.Engine",
}
"""Machinery that public classes are made with, which their own builders put in: no user writes its name."""


def exports(door: str) -> dict[str, Any]:
    module = importlib.import_module(door)
    return {name: getattr(module, name) for name in getattr(module, "__all__", ())}


def callables(export: object) -> Iterator[Any]:
    """The export and, of a class, its public methods and the getters of its properties, as far as they are ours."""
    if not inspect.isclass(export):
        if inspect.isfunction(export):
            yield export
        return
    if is_dataclass(export):
        yield export
    for owner in export.__mro__:
        if owner.__module__.startswith("skillweave"):
            for name, member in vars(owner).items():
                if not name.startswith("_") or name == "__init__":
                    found = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
                    yield from (one for one in (getattr(found, "func", found),) if inspect.isfunction(one))


def types_in(hint: object) -> Iterator[type]:
    if isinstance(hint, list):  # the arguments of a Callable
        for part in hint:
            yield from types_in(part)
    elif get_origin(hint) is not None:
        for part in get_args(hint):
            yield from types_in(part)
    elif isinstance(hint, type):
        yield hint


@cache
def for_type_checkers(module: str) -> dict[str, Any]:
    """What a module imports for type checkers alone, so that importing it stays quick."""
    found: dict[str, Any] = {}
    for block in ast.parse(inspect.getsource(importlib.import_module(module))).body:
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test):
            for node in (one for one in block.body if isinstance(one, ast.ImportFrom) and one.module):
                source = importlib.import_module(str(node.module))
                found |= {one.asname or one.name: getattr(source, one.name) for one in node.names}
            for node in (one for one in block.body if isinstance(one, ast.Import)):
                found |= {one.asname or one.name: importlib.import_module(one.name) for one in node.names}
    return found


def hints_of(one: Any) -> dict[str, Any]:
    names = for_type_checkers(one.__module__) if one.__module__.startswith("skillweave") else {}
    return get_type_hints(one, localns={"np": np, "NDArray": NDArray, **names})


@pytest.mark.parametrize("door", DOORS)
def test_the_type_hints_of_every_public_callable_resolve(door: str) -> None:
    for name, export in exports(door).items():
        for one in callables(export):
            try:
                hints_of(one)
            except NameError as error:
                pytest.fail(f"{door}.{name}: {one.__qualname__}: {error}")


def test_every_type_of_a_public_signature_comes_from_a_door() -> None:
    public = {id(export): export for door in DOORS for export in exports(door).values()}
    missing = {
        f"{kind.__module__}.{kind.__qualname__} in {one.__qualname__}"
        for export in public.values()
        for one in callables(export)
        for hint in hints_of(one).values()
        for kind in types_in(hint)
        if kind.__module__.startswith("skillweave") and not kind.__name__.startswith("_") and id(kind) not in public
        if f"{kind.__module__}.{kind.__qualname__}" not in BEHIND
    }
    assert sorted(missing) == []


def guides() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("guide", guides(), ids=lambda guide: str(guide.relative_to(ROOT)))
def test_no_guide_imports_from_behind_a_door(guide: Path) -> None:
    doors = re.compile(
        rf"skillweave(\.({'|'.join(MODULES)}|schemas|adapters\.\w+)|_(stores|server|eval|testing|texas_rrc)(\.\w+)*)?"
    )
    named = {found[1] for found in IMPORT.finditer(guide.read_text("utf-8"))}
    explained = EXPLAINED.get(str(guide.relative_to(ROOT)), set())
    assert {module for module in named - explained if not doors.fullmatch(module)} == set()


def test_the_root_exports_at_most_fifty_names() -> None:
    assert len(importlib.import_module("skillweave").__all__) <= 50


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


@pytest.mark.parametrize("satellite", SATELLITES)
def test_a_satellite_imports_public_modules_only(satellite: str) -> None:
    folder = ROOT / "packages" / satellite.replace("_", "-") / "src"
    found = {name for path in folder.rglob("*.py") for name in imports_of(path) if name.split(".")[0] == "skillweave"}
    public = {"skillweave", *(f"skillweave.{one}" for one in MODULES)}
    assert {name for name in found if not name.startswith("skillweave.adapters.")} - public == set()
