"""The pytest plugin, in a pytest of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SKILL = "---\nname: {0}\ndescription: Makes {0}.\ntriggers: [{0}]\n---\nBrew."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("tea", "coffee"):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(SKILL.format(name))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def ran(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest with our plugin alone: the others that are installed take seconds to load."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    variables = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "skillweave_eval.pytest_plugin", **variables}
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def write(project: Path, text: str, name: str = "skills/tea/tea.triggers.yaml") -> None:
    (project / name).write_text(text)


def test_each_query_is_a_test_with_a_name_and_a_place(project: Path) -> None:
    write(project, "tests:\n- {query: Some tea please, expect: tea}\n- {id: cold, query: Some ice, expect: [tea]}\n")
    done = ran(project, "-rA")
    assert done.returncode == 1
    assert "skills/tea/tea.triggers.yaml::2: Some tea please" in done.stdout
    assert "FAILED skills/tea/tea.triggers.yaml::cold" in done.stdout
    assert "tea.triggers.yaml:3: Some ice\n  tea is silent; nothing is found" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_project_without_such_files_is_left_alone(project: Path) -> None:
    write(project, "tests: [{query: x, expect: y}]", "skills/tea/tests.yaml")
    found_by_itself = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "", "PYTEST_PLUGINS": ""}
    done = ran(project, "-p", "no:langsmith_plugin", "-p", "no:schemathesis", "--trace-config", **found_by_itself)
    assert done.returncode == 5  # no tests were collected
    assert "skillweave_eval.pytest_plugin" in done.stdout


def test_importing_the_plugin_loads_nothing_else_of_skillweave(project: Path) -> None:
    code = (
        "import sys, skillweave_eval.pytest_plugin; "
        "print(sorted(name for name in sys.modules if name.startswith('skillweave')), 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    loaded, numpy = done.stdout.rsplit(" ", 1)
    assert loaded == str(["skillweave_eval", "skillweave_eval.pytest_plugin"])
    assert numpy.strip() == "False"


def test_the_configuration_says_which_skills_and_what_is_enough(project: Path) -> None:
    ini = (project / "pytest.ini").read_text()
    (project / "pytest.ini").write_text(f"{ini}skillweave_skills = skills\nskillweave_require = given\n")
    (project / "tests").mkdir()
    write(project, "tests:\n- {query: Coffee please, expect: coffee}\n", "tests/all.triggers.yaml")
    assert ran(project).returncode == 0


def test_a_file_that_says_nothing_of_its_skills_is_an_error_with_the_remedy(project: Path) -> None:
    (project / "tests").mkdir()
    write(project, "tests: [{query: x, expect: y}]", "tests/all.triggers.yaml")
    done = ran(project)
    assert "add `skills: FOLDER` to it, or skillweave_skills to the configuration of pytest" in done.stdout


def test_a_broken_file_is_an_error_that_names_the_line(project: Path) -> None:
    write(project, "tests:\n- {query: Some tea please}\n")
    assert "tea.triggers.yaml:2: the test expects nothing" in ran(project).stdout


def test_a_file_may_name_a_skill_graph(project: Path) -> None:
    (project / "graph.yaml").write_text(
        "entries: [{skill: tea, match: {keywords: [tea]}}]\n"
        "routes: [{from: tea, to: coffee, when: {keywords: [more]}}]\n"
    )
    write(
        project,
        "skills: skills\ngraph: graph.yaml\ntests:\n- {query: Something more, expect: coffee, cursor: tea}\n",
        "all.triggers.yaml",
    )
    assert ran(project).returncode == 0
