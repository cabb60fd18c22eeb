"""The examples run as they stand, and say what they are there to show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

LOOP_IN_HISTORY = (
    "skill   invoice-checking: injected (triggers: keyword 'invoice', a pattern; given in full)",
    "model   had Invoice Checking; 3 of 4 tools",
    "tool    search_ledger: ran",
    "tool    change_vendor_record: refused, TOOL_FORBIDDEN",
    "model   had Invoice Checking; 3 of 4 tools; 100% of the call before unchanged",
    "model   had Invoice Checking; 3 of 4 tools; 100% of the call before unchanged",
    "model   had Invoice Checking; 3 of 4 tools; 100% of the call before unchanged",
    "person  is asked whether pay_invoice may run",
    "tool    pay_invoice: not run, the conversation goes on without it",
    "model   had Invoice Checking; 3 of 4 tools; 100% of the call before unchanged",
    "skill   meeting-minutes: injected (explicit: marker 'SKILL_SELECT:meeting-minutes'; given in full)",
    "model   had Invoice Checking, Meeting Minutes; 3 of 4 tools; 100% of the call before unchanged",
    "-       the host replaces its history by a summary",
    "skill   meeting-minutes: injected (engaged earlier by explicit; given in full)",
    "skill   invoice-checking: injected (engaged earlier by triggers; given in full)",
    "person  is asked whether pay_invoice may run",
    "person  Ann Lee says yes to pay_invoice",
    "tool    pay_invoice: ran",
)
"""What happens in history placement, the same in each style: each text is given once, and again when it is gone."""

LONG_HANDBOOK = (
    "injected: triggers: keyword 'coffee machine'; given as an outline, to be read in sections",
    "=== Skill Section: Machine Service, 2 Pump ===",
    "=== Skill Section: Machine Service, 2.2 Pressure valve ===",
    "machine-service: already-present: section 2.2 is in the context already",
    "=== Skill Section: Machine Service, 7.3 Door switch ===",
)
LANGCHAIN_AGENT = (
    "model   sees Invoice Checking; may call search_ledger, pay_invoice",
    "tool    search_ledger: ran",
    "tool    change_vendor_record: blocked",
    "tool    read_skill: ran",
    "person  payment_release: Ann Lee approves",
    "model   sees Invoice Checking, Meeting Minutes; may call search_ledger, pay_invoice",
    "tool    pay_invoice: ran",
    "skill   invoice-checking: triggers: keyword 'invoice'; given in full",
    "skill   meeting-minutes: explicit: read 'meeting-minutes'; given in full",
)
LANGGRAPH_AGENT = (
    "model     There is a skill for that. SKILL_SELECT:exception-filing",
    "given     === Skill Activated: Exception Filing ===",
    "blocked   change_record: TOOL_FORBIDDEN: this call of `change_record` is forbidden by",
    "hidden    change_record",
    "pauses    pre_filing before submit_filing: Are all notices and the plat there?",
    "-         the process ends; the next one reads the files",
    "person    approved by Ann Lee",
    "ran       submit_filing: the filing for Ranch 1H has number 117",
    "synthesis The filing for Ranch 1H is submitted under number 117; two operators get a notice.",
)
LANGGRAPH_SERVICE = (
    "service   gives invoice-checking",
    "agent     pauses; a person has to decide",
    "person    is asked about pay_invoice with {'number': 'INV-20417', 'amount': 90}",
    "person    Ann Lee says modified, with {'number': 'INV-20417', 'amount': 45}",
    "agent     hears: modified by Ann Lee",
    "tool      pay_invoice runs with number=INV-20417, amount=45",
    "agent     Only half of INV-20417 had arrived, so 45.00 are paid.",
)
AGENT_FRAMEWORK_AGENT = (
    "user: What is 2+2?",
    "model   has no skill (hidden: nothing)",
    "user: Is invoice INV-20417 from Brandt GmbH right?",
    "model   has Skill Activated: Invoice Checking (hidden: change_vendor_record)",
    "tool    three payments to Brandt, all to DE02 1203 0000",
    "tool    TOOL_FORBIDDEN",
    "model   has Skill Activated: Invoice Checking (hidden: change_vendor_record)",
    "agent   I pay it.",
    "person  approved by Kim Park",
    "tool    INV-20417 paid",
    "agent   INV-20417 is paid.",
)
OPENAI_AGENTS_AGENT = (
    "tool    search_ledger: ran",
    "tool    change_vendor_record: blocked",
    "skills  invoice-checking",
    "hidden  change_vendor_record",
    "person  is asked: Are payee, account number and total the ones that were checked, and may they be paid?",
    "person  Ann Lee approves",
    "tool    pay_invoice: ran",
    "tool    read_skill: ran",
    "skills  invoice-checking, meeting-minutes",
)
PYDANTIC_AI_AGENT = (
    "call    has skills: Invoice Checking; hidden: change_vendor_record",
    "tool    search_ledger: success, three payments to Brandt, all to DE02 1203 0000 0000 2020 51",
    "tool    change_vendor_record: failed, TOOL_FORBIDDEN: this call of `change_vendor_record` is forbi",
    "call    has skills: Invoice Checking; hidden: change_vendor_record",
    (
        "pause   pay_invoice waits for accountant: Are payee, account number and total the ones that were checked, and"
        " may they be paid?"
    ),
    "person  approved by Kim Vogt",
    "tool    pay_invoice: success, INV-20417 is paid",
    "call    has skills: Invoice Checking, Meeting Minutes; hidden: change_vendor_record",
)
GOOGLE_ADK_AGENT = (
    "call    has skills: Invoice Checking; hidden: change_vendor_record",
    "tool    search_ledger: three payments to Brandt, all to DE02 1203 0000 0000 2020 51",
    "tool    change_vendor_record: TOOL_FORBIDDEN: this call of `change_vendor_record` is forbi",
    "call    has skills: Invoice Checking; hidden: change_vendor_record",
    (
        "pause   pay_invoice waits for accountant: Are payee, account number and total the ones that were checked, and"
        " may they be paid?"
    ),
    "person  approved by Kim Vogt",
    "tool    pay_invoice: INV-20417 is paid",
    "call    has skills: Invoice Checking, Meeting Minutes; hidden: change_vendor_record",
)
CODING_LANGGRAPH = (
    "lead   ran     spawn_subagent: the sub-agent is not started: `specification-engine` requires `opencode-implemen",
    "coder  ran     specKit: stored specs/double.md, 2 acceptance criteria",
    "coder  blocked write: TOOL_FORBIDDEN: this call of `write` is forbidden by a skill in force; allowed:",
    "coder  ran     opencode-executor: wrote double.py, 129 characters",
    "coder  says    Both criteria hold: test_criterion_1 and test_criterion_2 are green.",
    "lead   says    double.py is written, and both criteria of its specification hold.",
    "files  double.md, double.py, test_double.py",
)
CODING_AGENT_FRAMEWORK = (
    "lead   sees    spawn_subagent",
    "lead   heard   the sub-agent is not started: `specification-engine` requires `opencode-implementer`: A specific",
    "coder  sees    specKit, opencode-executor",
    "coder  heard   stored specs/double.md, 2 acceptance criteria",
    "coder  heard   TOOL_FORBIDDEN: this call of `write` is forbidden by a skill in force; allowed: `specKit`, `open",
    "coder  heard   wrote double.py, 129 characters",
    "lead   heard   Both criteria hold: test_criterion_1 and test_criterion_2 are green.",
    "files  double.md, double.py, test_double.py",
)
SKILL_GRAPH = (
    "move     start -> ticket-triage, by entry",
    "given    ticket-triage, support-voice",
    "offered  classify_ticket",
    "stays    at ticket-triage",
    "move     ticket-triage -> refund-request, by route",
    "stays    at refund-request",
    "offered  lookup_order, issue_refund",
    "move     refund-request -> ticket-follow-up, by route",
    "why      the route from 'refund-request' to 'ticket-follow-up' fires",
    "-        the process ends; the next one opens the same ledger",
    "move     ticket-follow-up -> ticket-triage, by route",
    "given    nothing new",
    "move     ticket-triage -> human-handover, by route",
    "offered  assign_to_person",
    "trail    ticket-triage -> refund-request -> ticket-follow-up -> ticket-triage -> human-handover",
)
STRANGERS_SCRIPT = (
    "$ skillweave add stranger.zip --in skills",
    "0 findings. No finding is no reason to trust a skill.",
    "$ skillweave approve word-count --skills skills",
    "model reads: - scripts/count.py (126 bytes)",
    "$ skillweave approve word-count --skills skills --run scripts/count.py -- 'bonjour tout le monde'",
)
SAYS = {
    "skill_graph.py": SKILL_GRAPH,
    "coding_langgraph.py": CODING_LANGGRAPH,
    "coding_agent_framework.py": CODING_AGENT_FRAMEWORK,
    "messages_loop.py": ("OpenAI style, history placement", *LOOP_IN_HISTORY),
    "long_handbook.py": LONG_HANDBOOK,
    "strangers_script.py": STRANGERS_SCRIPT,
    "openai_agents_agent.py": OPENAI_AGENTS_AGENT,
    "agent_framework_agent.py": AGENT_FRAMEWORK_AGENT,
    "langgraph_agent.py": LANGGRAPH_AGENT,
    "langgraph_service.py": LANGGRAPH_SERVICE,
    "langchain_agent.py": LANGCHAIN_AGENT,
    "pydantic_ai_agent.py": PYDANTIC_AI_AGENT,
    "google_adk_agent.py": GOOGLE_ADK_AGENT,
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


def test_all_styles_and_placements_give_the_model_each_skill_once_in_every_call() -> None:
    lines = run("messages_loop.py")
    parts = "\n".join(lines).strip().split("\n\n")
    had = [[line.split(";")[0] for line in part.splitlines() if line.startswith("model")] for part in parts]
    one, both = "model   had Invoice Checking", "model   had Invoice Checking, Meeting Minutes"
    assert had == [[one] * 5 + [both] * 4] * 6


def test_a_desk_refuses_what_belongs_to_another_place_in_words() -> None:
    lines = run("skill_graph.py")
    (read,) = (line for line in lines if line.startswith("read "))
    (refused,) = (line for line in lines if line.startswith("refused "))
    assert "'ticket-follow-up' cannot be reached from 'ticket-triage'; what can be is: human-handover" in read
    assert "it belongs to `refund-request`, and the conversation is at `ticket-triage`" in refused


def test_a_body_of_20_000_tokens_is_used_within_a_budget_of_2_000() -> None:
    lines = run("long_handbook.py")
    body, budget = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", lines[0]))
    held = [int(re.findall(r"[\d,]*\d", line)[0].replace(",", "")) for line in lines if line.startswith("context:")]
    assert body > 20_000
    assert budget == 2_000
    assert max(held) <= budget
    assert any(line.startswith("does not fit; the host takes out") for line in lines)
