"""Each adapter needs its framework, and says in one line which extra brings it; in environments without the package."""

from pathlib import Path

import pytest

from tests.cli.health.environments import EXTRAS, Environment, environment_with, needed, packages_of

ADAPTERS = {
    "agent_framework": "agent-framework",
    "agent_framework.spawn": "agent-framework",
    "google_adk": "google-adk",
    "langchain": "langchain",
    "langgraph": "langgraph",
    "langgraph.spawn": "langgraph",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai",
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Only what skillweave cannot do without."""
    return environment_with(tmp_path_factory.mktemp("bare") / "env", needed())


@pytest.mark.parametrize(("module", "extra"), ADAPTERS.items())
def test_without_its_framework_an_adapter_names_the_extra_in_one_line(
    bare: Environment, module: str, extra: str
) -> None:
    said = bare.importing(f"skillweave.adapters.{module}")
    assert said.startswith("skillweave.errors.MissingExtra: ")
    assert said.endswith(f"which is not installed: pip install 'skillweave[{extra}]'")


@pytest.mark.soak
@pytest.mark.parametrize("extra", sorted(set(ADAPTERS.values())))
def test_the_extra_is_all_that_its_adapters_need(tmp_path: Path, extra: str) -> None:
    environment = environment_with(tmp_path / "env", [*needed(), *packages_of(extra)])
    modules = [f"skillweave.adapters.{module}" for module, its in ADAPTERS.items() if its == extra]
    assert environment.importing(*modules) == ""


@pytest.mark.parametrize("module", ["messages", "messages.openai_style", "bridge", "approval", "spawning"])
def test_plain_message_lists_and_what_adapters_share_need_no_framework(bare: Environment, module: str) -> None:
    assert bare.importing(f"skillweave.adapters.{module}") == ""


def test_every_framework_has_an_extra() -> None:
    assert set(ADAPTERS.values()) <= EXTRAS.keys()
