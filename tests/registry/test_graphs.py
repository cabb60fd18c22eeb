"""The skill graphs of packs on their way into a snapshot."""

from pathlib import Path
from typing import Any

import pytest

from skillweave import Diagnostic, Registry, Severity, Skill
from skillweave.frozen import thaw
from skillweave.graph import SkillGraph
from skillweave.registry import Loaded, Precedence
from skillweave.sources import Pack
from skillweave.values import Location

SKILLS = "skills:\n  - {id: a, description: x}\n  - {id: b, description: x}\n"
GRAPH = "graph:\n  entries: [{skill: %s}]\n"


def write(tmp_path: Path, text: str, name: str = "one.yaml") -> Pack:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return Pack(tmp_path / name)


def entry(registry: Registry) -> object:
    graph: Any = registry.snapshot.graph
    return None if graph is None else graph["entries"][0]["skill"]


async def loaded(*packs: Any, precedence: Precedence = Precedence.FIRST) -> Registry:
    registry = Registry(packs, precedence=precedence)
    await registry.refresh()
    return registry


def findings(registry: Registry, code: str) -> list[Diagnostic]:
    return [finding for finding in registry.snapshot.diagnostics if finding.code == code]


async def test_the_graph_of_a_pack_stands_in_the_snapshot_with_its_place(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + GRAPH % "a"))
    assert entry(registry) == "a"
    assert registry.snapshot.graph_location == Location(f"{tmp_path}/one.yaml", 4)
    assert registry.snapshot.diagnostics == ()


async def test_without_a_graph_there_is_none(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS))
    assert (registry.snapshot.graph, registry.snapshot.graph_location) == (None, None)


async def test_the_first_source_that_has_a_graph_wins_and_a_second_is_told(tmp_path: Path) -> None:
    other = SKILLS.replace("id: ", "id: z")
    registry = await loaded(
        write(tmp_path, "skills:\n  - {id: q, description: x}\n", "none.yaml"),
        write(tmp_path, SKILLS + GRAPH % "a"),
        write(tmp_path, other + GRAPH % "za", "two.yaml"),
    )
    assert entry(registry) == "a"
    (ignored,) = findings(registry, "graph-ignored")
    assert (ignored.severity, ignored.location) == (Severity.WARNING, Location(f"{tmp_path}/two.yaml", 4))
    assert "'two'" in ignored.message
    assert "'one'" in ignored.message
    assert "first" in ignored.fix


async def test_a_changed_graph_is_a_new_snapshot(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + GRAPH % "a"))
    before = registry.snapshot
    write(tmp_path, SKILLS + GRAPH % "b")
    assert await registry.refresh()
    assert (entry(registry), registry.snapshot is before) == ("b", False)


async def test_an_unchanged_graph_keeps_the_snapshot(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + GRAPH % "a"))
    before = registry.snapshot
    write(tmp_path, SKILLS + GRAPH % "a" + "# a remark\n")
    assert not await registry.refresh()
    assert registry.snapshot is before


async def test_a_registered_skill_leaves_the_graph_as_it_is(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + GRAPH % "a"))
    registry.register(Skill("c", "C", "x"))
    assert entry(registry) == "a"


@pytest.mark.parametrize("broken", ["skills: [", SKILLS + "graph: {entry: []}\n", "graph: 5\n"])
async def test_a_broken_edit_keeps_the_last_good_graph_and_says_so(tmp_path: Path, broken: str) -> None:
    registry = await loaded(write(tmp_path, SKILLS + GRAPH % "a"))
    write(tmp_path, broken)
    await registry.refresh()
    assert entry(registry) == "a"
    kept = [finding for finding in findings(registry, "kept-last-good") if "skill graph" in finding.message]
    assert [finding.location for finding in kept] == [Location(f"{tmp_path}/one.yaml", 4)]


async def test_a_mended_graph_takes_the_place_of_the_kept_one(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + GRAPH % "a"))
    write(tmp_path, SKILLS + "graph: {entry: []}\n")
    await registry.refresh()
    write(tmp_path, SKILLS + GRAPH % "b")
    await registry.refresh()
    assert (entry(registry), registry.snapshot.diagnostics) == ("b", ())


async def test_a_graph_that_was_taken_out_is_gone(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + GRAPH % "a"))
    write(tmp_path, SKILLS)
    await registry.refresh()
    assert entry(registry) is None


async def test_a_mistake_in_a_skill_brings_no_old_graph_back(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + GRAPH % "a"))
    write(tmp_path, SKILLS + "  - just text\n")
    await registry.refresh()
    assert entry(registry) is None


async def test_a_source_that_is_away_keeps_its_graph(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + GRAPH % "a"))
    (tmp_path / "one.yaml").unlink()
    await registry.refresh()
    assert entry(registry) == "a"


EVERYWHERE = {
    "skills": ["a", {"id": "b", "description": "a"}],
    "entries": [
        {
            "skill": "a",
            "label": "a",
            "match": {"all": [{"keywords": ["a"]}, {"guard": {"current_skill_id": {"in": ["a", "other"]}}}]},
        }
    ],
    "routes": [
        {"from": "a", "to": "b", "guard": {"current_skill_id": {"ne": "b"}, "tool_name": {"eq": "a"}}},
        {"from": "*", "to": "other", "when": {"guard": {"current_skill_id": {"eq": "a"}}}},
    ],
    "limits": {"visits": {"per_skill": {"a": 3, "*": 9}, "per_run": 20}, "iterations": 4},
    "never_routes": ["a"],
    "suppress": {"a": "b"},
}


class Given:
    """A source of the skills a and b, with a graph as data."""

    name = "one"

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    async def load(self, previous: Loaded | None) -> Loaded:
        return Loaded((Skill("a", "A", "x"), Skill("b", "B", "x"), Skill("n" * 98, "N", "x")), graph=self._graph)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        raise NotImplementedError


async def test_with_namespaces_the_ids_of_a_graph_are_those_of_its_own_source() -> None:
    registry = await loaded(Given(EVERYWHERE), precedence=Precedence.NAMESPACE)
    assert registry.snapshot.graph is not None
    assert thaw(registry.snapshot.graph) == {  # type: ignore[arg-type]
        "skills": ["one__a", {"id": "one__b", "description": "a"}],
        "entries": [
            {
                "skill": "one__a",
                "label": "a",
                "match": {"all": [{"keywords": ["a"]}, {"guard": {"current_skill_id": {"in": ["one__a", "other"]}}}]},
            }
        ],
        "routes": [
            {
                "from": "one__a",
                "to": "one__b",
                "guard": {"current_skill_id": {"ne": "one__b"}, "tool_name": {"eq": "a"}},
            },
            {"from": "*", "to": "other", "when": {"guard": {"current_skill_id": {"eq": "one__a"}}}},
        ],
        "limits": {"visits": {"per_skill": {"one__a": 3, "*": 9}, "per_run": 20}, "iterations": 4},
        "never_routes": ["a"],
        "suppress": {"a": "b"},
    }
    SkillGraph.from_dict(registry.snapshot.graph, check="off")


async def test_with_namespaces_the_leaves_of_a_tree_are_renamed_too() -> None:
    decision = {"if": {"guard": {"current_skill_id": {"eq": "b"}}}, "then": "a", "else": {**_fork("b", "other")}}
    registry = await loaded(Given({"tree": decision, "default": "b"}), precedence=Precedence.NAMESPACE)
    assert thaw(registry.snapshot.graph) == {  # type: ignore[arg-type]
        "tree": {
            "if": {"guard": {"current_skill_id": {"eq": "one__b"}}},
            "then": "one__a",
            "else": _fork("one__b", "other"),
        },
        "default": "one__b",
    }


async def test_an_id_that_becomes_too_long_with_its_namespace_stays_as_it_was() -> None:
    registry = await loaded(Given({"entries": [{"skill": "n" * 98}]}), precedence=Precedence.NAMESPACE)
    assert entry(registry) == "n" * 98


@pytest.mark.parametrize(
    "odd",
    [
        {"skills": 5, "entries": {"a": 1}, "routes": "a", "tree": 7, "limits": [], "default": None},
        {"entries": [5, {"skill": 5, "match": [], "when": {"all": 3, "guard": {"x": "a"}}}]},
        {"limits": {"visits": {"per_skill": []}}},
    ],
)
async def test_data_of_a_wrong_shape_goes_through_a_namespace_unharmed(odd: Any) -> None:
    registry = await loaded(Given(odd), precedence=Precedence.NAMESPACE)
    assert thaw(registry.snapshot.graph) == _as_lists(odd)  # type: ignore[arg-type]


def _fork(then: str, otherwise: str) -> dict[str, object]:
    return {"if": {"keywords": ["x"]}, "then": then, "else": otherwise}


def _as_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_lists(item) for key, item in value.items()}
    return [_as_lists(item) for item in value] if isinstance(value, list | tuple) else value
