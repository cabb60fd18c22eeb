"""The pytest plugin: files of trigger tests, named `*.triggers.yaml`, are collected as tests (spec 9).

It does nothing where no file has such a name, and loads nothing of skillweave before it meets one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from skillweave import Weaver
    from skillweave_eval.answers import Level
    from skillweave_eval.cases import Case
    from skillweave_eval.reading import TestFile

SUFFIXES = (".triggers.yaml", ".triggers.yml")
SKILLS, REQUIRE = "skillweave_skills", "skillweave_require"
LONGEST_NAME = 60
_WEAVERS: "pytest.StashKey[dict[tuple[tuple[Path, ...], Path | None], Weaver]]" = pytest.StashKey()


class TestFails(Exception):
    """A trigger test does not hold; the arguments are what is not as expected."""

    __test__ = False  # the name is no test class's


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings of this plugin, for the project's configuration."""
    parser.addini(SKILLS, "folders of skills that trigger tests are about, where their files name none", type="paths")
    parser.addini(REQUIRE, "whether an expected skill must be `given`, or may be `offered`", default="offered")


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is read yet."""
    config.stash[_WEAVERS] = {}


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give back the threads in which skills were searched."""
    for weaver in config.stash.get(_WEAVERS, {}).values():
        weaver.sync.close()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "TriggerFile | None":
    """A file of trigger tests by its name."""
    if not file_path.name.endswith(SUFFIXES):
        return None
    made: TriggerFile = TriggerFile.from_parent(parent, path=file_path)
    return made


class TriggerFile(pytest.File):
    """A file of trigger tests."""

    def collect(self) -> "Iterator[TriggerTest]":
        """A test for each query, named by its id, or by its line and the query."""
        from skillweave_eval.reading import read_tests

        file = read_tests(self.path)
        weaver = self._weaver(file)
        for case in file.cases:
            name = case.id
            if name.startswith(f"{self.path.name}:"):  # it has no id of its own
                said = " ".join(case.query.split()).replace("::", ": :")
                name = f"{name.removeprefix(f'{self.path.name}:')}: {said[:LONGEST_NAME]}"
            test: TriggerTest = TriggerTest.from_parent(self, name=name, case=case, weaver=weaver)
            yield test

    def _weaver(self, file: "TestFile") -> "Weaver":
        """One weaver for all files about the same skills."""
        from skillweave.errors import InvalidData

        skills = file.library() if file.skills else (tuple(self.config.getini(SKILLS)) or file.library())
        if not skills:
            raise InvalidData(
                f"{self.path} does not say which skills it is about; add `skills: FOLDER` to it, or {SKILLS} to the "
                "configuration of pytest"
            )
        known = self.config.stash[_WEAVERS]
        key = (skills, file.graph_file())
        if key not in known:
            known[key] = _opened(*key)
        return known[key]


def _opened(skills: tuple[Path, ...], graph_file: Path | None) -> "Weaver":
    import skillweave

    graph = None
    if graph_file is not None:
        from skillweave.graph import SkillGraph
        from skillweave_eval.reading import mapping_in

        graph = SkillGraph.from_dict(mapping_in(graph_file, "name a file of a skill graph")[0])
    return skillweave.open(*skills, graph=graph)


class TriggerTest(pytest.Item):
    """One query, and what it must select."""

    def __init__(self, *, case: "Case", weaver: "Weaver", **fields: Any) -> None:  # noqa: ANN401 - pytest's own
        super().__init__(**fields)
        self.case = case
        self.weaver = weaver

    def runtest(self) -> None:
        """Ask the query; raises TestFails with what is not as expected."""
        from skillweave_eval.answers import ask
        from skillweave_eval.triggers import judge

        answer = self.weaver.sync.run(ask(self.weaver, self.case))
        result = judge(answer, self._required())
        if not result.passed:
            raise TestFails(*result.problems)

    def _required(self) -> "Level":
        from skillweave_eval.answers import Level

        wanted = str(self.config.getini(REQUIRE))
        if wanted not in (Level.GIVEN, Level.OFFERED):
            raise pytest.UsageError(f"{REQUIRE} is {wanted!r}; write given or offered")
        return Level(wanted)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """The query and what is not as expected; any other error as pytest shows it."""
        if not isinstance(excinfo.value, TestFails):
            return str(super().repr_failure(excinfo))
        where = str(self.case.place or self.path)
        return "\n".join([f"{where}: {self.case.query}", *(f"  {problem}" for problem in excinfo.value.args)])

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test stands in its file."""
        line = None if self.case.place is None or self.case.place.line is None else self.case.place.line - 1
        return self.path, line, self.name
