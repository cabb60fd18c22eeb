"""The examples run as they stand, and say what they are there to show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

LOOP_IN_HISTORY = (
    "skill   invoice-checking: injected (triggers: keyword 'invoice', a pattern; given in full)",
    "model   had Invoice Checking; 2 of 3 tools",
    "tool    search_ledger: ran",
    "tool    change_vendor_record: refused, TOOL_FORBIDDEN",
    "model   had Invoice Checking; 2 of 3 tools; 100% of the call before unchanged",
    "model   had Invoice Checking; 2 of 3 tools; 100% of the call before unchanged",
    "model   had Invoice Checking; 2 of 3 tools; 100% of the call before unchanged",
    "skill   meeting-minutes: injected (explicit: marker 'SKILL_SELECT:meeting-minutes'; given in full)",
    "model   had Invoice Checking, Meeting Minutes; 2 of 3 tools; 100% of the call before unchanged",
    "-       the host replaces its history by a summary",
    "skill   meeting-minutes: injected (engaged earlier by explicit; given in full)",
    "skill   invoice-checking: injected (engaged earlier by triggers; given in full)",
)
"""What happens in history placement, the same in both styles: each text is given once, and again when it is gone."""

LONG_HANDBOOK = (
    "injected: triggers: keyword 'coffee machine'; given as an outline, to be read in sections",
    "=== Skill Section: Machine Service, 2 Pump ===",
    "=== Skill Section: Machine Service, 2.2 Pressure valve ===",
    "machine-service: already-present: section 2.2 is in the context already",
    "=== Skill Section: Machine Service, 7.3 Door switch ===",
)
SAYS = {
    "messages_loop.py": ("OpenAI style, history placement", *LOOP_IN_HISTORY),
    "long_handbook.py": LONG_HANDBOOK,
}
"""The lines that an example must print, in this order, others between them."""


def run(example: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / example], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.strip() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_every_example_runs_and_prints_what_it_shows(example: str) -> None:
    lines = iter(run(example))
    assert [line for line in SAYS[example] if line not in lines] == []


def test_both_styles_and_placements_give_the_model_each_skill_once_in_every_call() -> None:
    lines = run("messages_loop.py")
    parts = "\n".join(lines).strip().split("\n\n")
    had = [[line.split(";")[0] for line in part.splitlines() if line.startswith("model")] for part in parts]
    one, both = "model   had Invoice Checking", "model   had Invoice Checking, Meeting Minutes"
    assert had == [[one] * 4 + [both] * 2] * 4


def test_a_body_of_20_000_tokens_is_used_within_a_budget_of_2_000() -> None:
    lines = run("long_handbook.py")
    body, budget = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", lines[0]))
    held = [int(re.findall(r"[\d,]*\d", line)[0].replace(",", "")) for line in lines if line.startswith("context:")]
    assert body > 20_000
    assert budget == 2_000
    assert max(held) <= budget
    assert any(line.startswith("does not fit; the host takes out") for line in lines)
