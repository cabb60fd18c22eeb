"""The agent of the example over a service on a real socket: what its tool is called with after a person's verdict."""

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "langgraph_service.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("langgraph_service", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def url(example: ModuleType) -> Iterator[str]:
    with example.own_service() as address:
        yield address


class Seen:
    """What was judged, and what the tool was called with; a person decides as it is said."""

    def __init__(self, example: ModuleType, monkeypatch: pytest.MonkeyPatch, said: Mapping[str, Any]) -> None:
        self.judged: list[Any] = []
        self.ran: list[Any] = []
        judge = example.Skills.judge

        def judging(skills: Any, call: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
            verdict = judge(skills, call, arguments)
            self.judged.append((arguments["amount"], verdict["ruling"]))
            return verdict

        def paying(number: str, amount: float) -> str:
            self.ran.append((number, amount))
            return "paid"

        def decide(http: httpx.Client, approval: str) -> None:
            http.post(f"approvals/{approval}/decide", json={"by": "Zoë", **said}).raise_for_status()

        monkeypatch.setattr(example.Skills, "judge", judging)
        monkeypatch.setattr(example.pay_invoice, "func", paying)
        monkeypatch.setattr(example, "decide", decide)


def test_a_changed_call_is_judged_again_and_runs_with_the_new_arguments_alone(
    example: ModuleType, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"verdict": "modified", "arguments": {"number": "INV-20417", "amount": 45}}
    seen = Seen(example, monkeypatch, said)
    example.play(url)
    assert seen.judged == [(90, "ask"), (45, "allow")]
    assert seen.ran == [("INV-20417", 45)]


def test_an_approved_call_runs_as_the_model_wrote_it(
    example: ModuleType, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Seen(example, monkeypatch, {"verdict": "approved"})
    example.play(url)
    assert seen.ran == [("INV-20417", 90)]


def test_a_rejected_call_does_not_run(example: ModuleType, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(example, monkeypatch, {"verdict": "rejected", "note": "It never arrived."})
    example.play(url)
    assert seen.judged == [(90, "ask"), (90, "deny")]
    assert seen.ran == []
