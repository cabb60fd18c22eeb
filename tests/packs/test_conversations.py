"""Whole conversations through the graphs of the built-in packs, kept in SQLite and gone on with in other processes."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import skillweave
from skillweave import Injection, Message, Outcome, Role, Ruling, ToolCall, ToolResult, Turn, Weaver
from skillweave_testing import WordCounter

SUPPORT_TOOLS = {
    "ticket-triage": ("lookup_customer", "classify_ticket"),
    "refund-request": ("lookup_order", "issue_refund"),
    "ticket-follow-up": ("send_summary", "close_ticket"),
    "human-handover": ("assign_to_person", "check_assignment"),
}
ALL_TOOLS = tuple(tool for tools in SUPPORT_TOOLS.values() for tool in tools)

ELSEWHERE = """
import asyncio, json, sys
import skillweave
from skillweave.dialogue import Message, Role, ToolResult, Turn
from skillweave_testing.fakes import WordCounter

async def main(ledger, pack, turns):
    weaver = skillweave.open(packs=[pack], ledger=ledger, counter=WordCounter())
    for number, (said, tool, content) in enumerate(turns):
        message = Message(Role.TOOL if said is None else Role.USER, said)
        results = () if tool is None else (ToolResult(tool, content),)
        injection = await weaver.weave(Turn(f"elsewhere-{number}", "c", message, results=results))
        print(json.dumps(injection.to_dict()))
    await weaver.ledger.store.close()

asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
"""


@dataclass
class Host:
    """One process of a host: it opens the ledger anew, and keeps what it was given as a transcript would."""

    ledger: Path
    pack: str
    given: list[str] = field(default_factory=list)
    turns: int = 0
    opened: Weaver | None = None

    @property
    def weaver(self) -> Weaver:
        if self.opened is None:
            self.opened = skillweave.open(packs=[self.pack], ledger=self.ledger, counter=WordCounter())
        return self.opened

    async def turn(self, said: str | None = None, *results: ToolResult, role: Role = Role.USER) -> Injection:
        self.turns += 1
        message = Message(Role.TOOL if said is None else role, said)
        injection = await self.weaver.weave(Turn(f"t{self.turns}", "c", message, results=results))
        self.given += injection.skills
        return injection

    async def close(self) -> None:
        store: Any = self.weaver.ledger.store
        await store.close()
        self.opened = None

    def elsewhere(self, *turns: tuple[str | None, str | None, str]) -> list[Any]:
        """The turns in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-c", ELSEWHERE, str(self.ledger), self.pack, json.dumps(turns)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        injections = [json.loads(line) for line in done.stdout.splitlines()]
        self.given += [one["skill_id"] for injection in injections for one in injection["decisions"] if _given(one)]
        return injections


def _given(decision: Any) -> bool:
    return decision["outcome"] in (Outcome.INJECTED, Outcome.REFRESHED, Outcome.UPGRADED)


def place(injection: Injection) -> tuple[str, str | None]:
    assert injection.move is not None
    return injection.move.by, injection.move.to


async def test_a_conversation_goes_on_in_another_process_where_it_stood(tmp_path: Path) -> None:
    host = Host(tmp_path / "state.db", "support-triage")
    first = await host.turn("Hello, it is about my account")
    assert place(first) == ("entry", "ticket-triage")
    assert first.skills == ("ticket-triage", "support-voice")
    second = await host.turn(None, ToolResult("classify_ticket", '{"category": "refund", "risk": "low"}'))
    assert place(second) == ("route", "refund-request")
    await host.close()

    third, fourth = host.elsewhere(
        ("It is order 4711", "lookup_order", '{"refundable": true}'), (None, "issue_refund", "{}")
    )
    assert (third["move"]["by"], third["move"]["from"], third["move"]["to"]) == (
        "stay",
        "refund-request",
        "refund-request",
    )
    assert [one["skill_id"] for one in third["decisions"] if _given(one)] == []
    assert (fourth["move"]["by"], fourth["move"]["to"]) == ("route", "ticket-follow-up")

    fifth = await host.turn("No, I would like to talk to a real person")
    assert place(fifth) == ("route", "human-handover")
    cursor = (await host.weaver.ledger.state("c")).cursor
    assert cursor is not None
    assert cursor.trail == ("ticket-triage", "refund-request", "ticket-follow-up", "human-handover")
    assert dict(cursor.visits) == dict.fromkeys(cursor.trail, 1)
    await host.close()
    assert host.given == [
        "ticket-triage",
        "support-voice",
        "refund-request",
        "ticket-follow-up",
        "human-handover",
    ], "nothing is given twice"


async def test_only_the_tools_of_the_skill_at_the_cursor_are_offered(tmp_path: Path) -> None:
    host = Host(tmp_path / "state.db", "support-triage")
    steps: tuple[tuple[str | None, tuple[ToolResult, ...], str], ...] = (
        ("Hello", (), "ticket-triage"),
        (None, (ToolResult("classify_ticket", '{"category": "refund"}'),), "refund-request"),
        (None, (ToolResult("issue_refund", "{}"),), "ticket-follow-up"),
        ("A lawyer will hear of it", (), "human-handover"),
    )
    for said, results, skill in steps:
        injection = await host.turn(said, *results)
        assert injection.tools.offers(ALL_TOOLS) == SUPPORT_TOOLS[skill]
        denied = {tool for tool in ALL_TOOLS if injection.tools.authorize(tool).ruling is Ruling.DENY}
        assert denied == {*ALL_TOOLS} - {*SUPPORT_TOOLS[skill]}
    await host.close()


async def test_a_skill_that_is_come_back_to_is_not_given_again(tmp_path: Path) -> None:
    host = Host(tmp_path / "state.db", "support-triage")
    await host.turn("I want a refund")
    await host.turn(None, ToolResult("issue_refund", "{}"))
    again = await host.turn("SKILL_SELECT:refund-request", role=Role.ASSISTANT)
    assert place(again) == ("pick", "refund-request")
    assert again.skills == ()
    assert again.tools.offers(ALL_TOOLS) == SUPPORT_TOOLS["refund-request"]
    await host.close()
    assert sorted(host.given) == ["refund-request", "support-voice", "ticket-follow-up"]


async def test_a_pick_of_what_cannot_be_reached_is_refused_with_what_can(tmp_path: Path) -> None:
    host = Host(tmp_path / "state.db", "coding-pipeline")
    await host.turn("Add a login form")
    refused = await host.turn("SKILL_SELECT:pipeline-release", role=Role.ASSISTANT)
    assert place(refused) == ("stay", "pipeline-specify")
    (decision,) = [one for one in refused.decisions if one.skill_id == "pipeline-release"]
    assert decision.outcome is Outcome.UNREACHABLE
    assert "pipeline-plan" in decision.reason
    assert refused.reachable == ("pipeline-plan", "pipeline-review")
    await host.close()


async def test_failing_tests_lead_back_to_the_code_until_the_limit_of_visits(tmp_path: Path) -> None:
    host = Host(tmp_path / "state.db", "coding-pipeline")
    await host.turn("Add a login form")
    await host.turn(None, ToolResult("save_spec", "{}"))
    injection = await host.turn(None, ToolResult("save_plan", "{}"))
    for _ in range(3):
        assert place(injection) == ("route", "pipeline-implement")
        await host.turn(None, ToolResult("apply_change", "{}"))
        await host.turn(None, ToolResult("record_review", '{"verdict": "approved"}'))
        injection = await host.turn(None, ToolResult("run_tests", '{"failed": 1}', "failure"))
    await host.turn(None, ToolResult("apply_change", "{}"))
    await host.turn(None, ToolResult("record_review", '{"verdict": "approved"}'))
    stopped = await host.turn(None, ToolResult("run_tests", '{"failed": 1}', "failure"))
    assert place(stopped) == ("stopped", "pipeline-test")
    assert stopped.move is not None
    assert "the limit of 4 visits of 'pipeline-implement' is reached" in stopped.move.reason
    await host.close()
    assert len(host.given) == len({*host.given}), "nothing is given twice"


async def test_a_release_waits_for_a_person_in_whatever_process_it_is_asked_for(tmp_path: Path) -> None:
    host = Host(tmp_path / "state.db", "coding-pipeline")
    await host.turn("Review my pull request")
    await host.turn(None, ToolResult("record_review", '{"verdict": "approved"}'))
    released = await host.turn(None, ToolResult("run_tests", '{"failed": 0}'))
    assert place(released) == ("route", "pipeline-release")
    (waiting,) = released.checkpoints
    assert (waiting.name, waiting.before) == ("release-approval", "publish_release")
    assert released.tools.authorize("publish_release").ruling is Ruling.ASK
    await host.close()

    (elsewhere,) = host.elsewhere(("Is it out?", None, ""))
    assert [one["name"] for one in elsewhere["checkpoints"]] == ["release-approval"]
    await host.weaver.approvals.decide(
        "c",
        "pipeline-release",
        "release-approval",
        "approved",
        by="the release manager",
        digest=waiting.digest,
        call=ToolCall("call-1", "publish_release", {"version": "1.2.0"}),
    )
    now = await host.weaver.current_policy("c")
    rulings = [
        (await host.weaver.authorize(now, "publish_release", {"version": version}, call_id="call-1")).ruling
        for version in ("1.3.0", "1.2.0", "1.2.0")
    ]
    assert rulings == [Ruling.ASK, Ruling.ALLOW, Ruling.ASK]
    await host.close()
