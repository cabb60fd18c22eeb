"""The table of hosts says what the contract suites prove, no more and no less."""

import importlib
import inspect
from pathlib import Path

import pytest

from skillweave import Placement
from skillweave_testing.hosts.contracts import (
    AdapterContract,
    CallPlacementContract,
    CheckpointContract,
    HistoryPlacementContract,
    StreamingContract,
    SyncContract,
)
from skillweave_testing.hosts.play import HostContract
from tests.cli.health.environments import EXTRAS

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "adapters.md"
MODULES = {
    "plain lists": "test_messages",
    "LangGraph": "test_langgraph",
    "LangChain": "test_langchain",
    "Agent Framework": "test_agent_framework",
    "Pydantic AI": "test_pydantic_ai",
    "OpenAI Agents": "test_openai_agents",
    "Google ADK": "test_google_adk",
}


def table() -> dict[str, dict[str, str]]:
    """The rows of both tables, by host."""
    found: dict[str, dict[str, str]] = {}
    head: list[str] = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells or cells[0] == "host":
            head = cells
        elif head and not cells[0].startswith("---"):
            found.setdefault(cells[0].strip("[").partition("]")[0], {}).update(zip(head, cells, strict=True))
    return found


def suites(host: str) -> list[type[HostContract]]:
    module = importlib.import_module(f"tests.adapters.hosts.{MODULES[host]}")
    classes = [one for _, one in inspect.getmembers(module, inspect.isclass) if one.__name__.startswith("Test")]
    return [one for one in classes if issubclass(one, HostContract)]


def proved(host: str, contract: type) -> bool:
    return any(issubclass(one, contract) for one in suites(host))


def test_every_host_is_in_the_table_once() -> None:
    assert table().keys() == MODULES.keys()


@pytest.mark.parametrize("host", MODULES)
def test_every_host_passes_the_contract_with_its_checkpoints(host: str) -> None:
    assert proved(host, AdapterContract)
    assert proved(host, CheckpointContract)


@pytest.mark.parametrize("host", MODULES)
def test_the_placements_of_a_host_are_those_that_it_passes_the_contract_in(host: str) -> None:
    contracts = {Placement.HISTORY: HistoryPlacementContract, Placement.CALL: CallPlacementContract}
    passed = {placement.value for placement, contract in contracts.items() if proved(host, contract)}
    assert set(table()[host]["placement"].split(", ")) == passed
    assert {one.placement.value for one in suites(host) if issubclass(one, AdapterContract)} == passed


@pytest.mark.parametrize("host", [host for host in MODULES if host != "plain lists"])
def test_what_is_said_of_streaming_and_blocking_runs_is_proved(host: str) -> None:
    row = table()[host]
    assert (row["streams"] == "yes") is proved(host, StreamingContract)
    assert (row["blocking runs"] == "yes") is proved(host, SyncContract)


@pytest.mark.parametrize("host", MODULES)
def test_the_extra_that_is_named_is_there(host: str) -> None:
    extra = table()[host]["extra"].strip("`")
    assert extra == "none" or extra in EXTRAS
