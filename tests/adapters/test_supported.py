"""An adapter is used with the versions of its framework that it was tested with, or not at all."""

import shutil
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from skillweave import __version__
from skillweave.adapters.supported import require_version
from skillweave.errors import MissingExtra
from tests.cli.health.environments import EXTRAS, environment_with, needed, packages_of

ADAPTERS = [
    ("agent_framework", "agent-framework-core", "agent-framework"),
    ("google_adk", "google-adk", "google-adk"),
    ("langchain", "langchain", "langchain"),
    ("langgraph", "langgraph", "langgraph"),
    ("openai_agents", "openai-agents", "openai-agents"),
    ("pydantic_ai", "pydantic-ai-slim", "pydantic-ai"),
]
EACH_ADAPTER = pytest.mark.parametrize(("module", "package", "extra"), ADAPTERS)


@EACH_ADAPTER
def test_the_installed_release_is_a_supported_one(module: str, package: str, extra: str) -> None:
    require_version(package, extra)


def test_a_package_that_is_not_installed_is_named_with_its_extra() -> None:
    with pytest.raises(MissingExtra, match=r"skillweave\[langchain\]"):
        require_version("no-such-framework", "langchain")


@EACH_ADAPTER
def test_a_release_outside_the_range_is_refused_on_import_with_the_range_and_the_command(
    tmp_path: Path, module: str, package: str, extra: str
) -> None:
    environment = environment_with(tmp_path / "env", [*needed(), *packages_of(extra)])
    [ours] = [Requirement(text) for text in EXTRAS[extra] if text.startswith(package)]
    for found in ("0.0.1", "99.0", "a-fork"):
        environment.relabel(package, found)
        assert environment.importing(f"skillweave.adapters.{module}") == (
            f"skillweave.errors.UnsupportedVersion: {package} {found} is installed, and this adapter supports "
            f"{ours.specifier}: pip install '{package}{ours.specifier}'"
        )


def test_a_copy_of_skillweave_without_its_metadata_says_that_it_is_not_installed(tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", [*needed(), *packages_of("langchain")])
    shutil.rmtree(environment.site / f"skillweave-{__version__}.dist-info")
    said = environment.importing("skillweave.adapters.langchain")
    assert said.endswith("needs the package skillweave, which is not installed: pip install 'skillweave[langchain]'")
