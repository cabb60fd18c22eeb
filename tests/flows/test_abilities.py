"""What skillweave can do: one test for each ability, and the line of the documentation that tells of it.

Each ability is tested in depth where its code is; here it is shown to work through the doors that people use.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import skillweave
from skillweave import Budget, Checkpoint, Outcome, Ruling, Settings, ToolResult, ToolRules
from skillweave.cli.entry import run
from skillweave.errors import GraphRefused
from skillweave.graph import Overlay, SkillGraph, graph_schema
from skillweave.ledger import Lifecycle
from skillweave.select.selection import DEFAULT
from skillweave.skills import CheckpointScope, OutputContract, SkillText, Task
from skillweave.tools import SkillTools, SpawnPlan, SpawnRejected
from skillweave_testing import FakeEmbedder, Recorder, WordCounter
from tests.skills import make_skill

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAIR = ["specification-engine", "opencode-implementer"]
PAY = Checkpoint("payment", before="pay", scope=CheckpointScope.CONVERSATION)
PAYING = make_skill("paying", keywords=["pay"], checkpoints=[PAY])

Says = Callable[[str, str], None]


@pytest.fixture
def docs_say() -> Says:
    """That a page of the documentation holds these words."""

    def say(page: str, words: str) -> None:
        text = " ".join((DOCS / page).read_text("utf-8").split())
        assert words in text, f"{page} does not say {words!r}"

    return say


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """A command's JSON, run in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str) -> Any:
        run([*arguments, "--json"])
        return json.loads(capsys.readouterr().out)

    return ran


# -- skills for a task, sub-agents, users and files --------------------------------------------------------------------


async def test_task_rules(docs_say: Says) -> None:
    injection = await skillweave.open(packs=["coding"]).weave("go on", conversation="c", task=Task(coding=True))
    assert set(injection.skills) == set(PAIR)
    docs_say("guides/tasks.md", "task_rules")


async def test_select_skills_for_a_task(docs_say: Says) -> None:
    weaver = skillweave.open(packs=["coding"])
    assert await weaver.composition.select(Task(coding=True)) == PAIR
    assert await weaver.composition.select(Task(coding=False)) == []
    docs_say("guides/tasks.md", "select_skills")


async def test_pack_coding(docs_say: Says) -> None:
    composition = await skillweave.open(packs=["coding"]).composition.compose(PAIR)
    assert composition.to_dict() == {
        "skills": PAIR,
        "allowed_tools": ["specKit", "opencode-executor"],
        "forbidden_tools": ["write", "edit"],
        "execution_protocol": ["analyze-task", "generate-spec", "validate-spec", "read-spec", "implement", "verify"],
    }
    docs_say("guides/tasks.md", "coding")


async def test_completion_of_companions_with_explanations(docs_say: Says) -> None:
    completion = await skillweave.open(packs=["coding"]).composition.complete(PAIR[:1])
    ((added, because),) = completion.added
    assert added == PAIR[1]
    assert "`specification-engine` requires `opencode-implementer`: " in because
    docs_say("concepts/relations.md", "companion")


async def test_prepare_spawn(docs_say: Says) -> None:
    weaver = skillweave.open(packs=["coding"])
    plan = await weaver.composition.prepare_spawn({"task": "build it", "skills": PAIR}, parent="c1")
    assert isinstance(plan, SpawnPlan)
    assert plan.conversation.startswith("c1/")
    assert plan.policy.authorize("write").ruling is Ruling.DENY
    rejected = await weaver.composition.prepare_spawn({"task": "build it", "skills": PAIR[:1]}, parent="c1")
    assert isinstance(rejected, SpawnRejected)
    assert [error.code for error in rejected.errors] == ["MISSING_REQUIRED"]
    docs_say("guides/sub-agents.md", "prepare_spawn")


def test_skillweave_spawn(command: Callable[..., Any], docs_say: Says) -> None:
    plan = command("compose", *PAIR, "--spawn", "build it", "--pack", "coding")
    assert plan["policy"]["allowed_tools"] == ["specKit", "opencode-executor"]
    assert command("compose", PAIR[0], "--spawn", "build it", "--pack", "coding")["errors"][0]["rule"] == "V002"
    docs_say("guides/sub-agents.md", "--spawn")


async def test_host_keys_of_public_skills(docs_say: Says) -> None:
    closed = {"id": "deploy", "description": "Deploys", "disable-model-invocation": True, "triggers": ["deploy"]}
    weaver = skillweave.open(closed, matchers=("explicit", "mention", "triggers"))
    assert (await weaver.skills.match("deploy it", conversation="c")).chosen == ()
    assert (await weaver.weave("/deploy it", conversation="c")).skills == ("deploy",)
    docs_say("guides/mentions.md", "disable-model-invocation")


async def test_mention_with_arguments(docs_say: Says) -> None:
    skill = make_skill("deploy", instructions="Deploy to $ARGUMENTS.")
    weaver = skillweave.open(skill, matchers=("mention", *DEFAULT))
    assert "Deploy to staging." in (await weaver.weave("/deploy staging", conversation="c")).messages[0].text
    assert "Deploy to prod." in (await weaver.weave("$deploy prod", conversation="c")).messages[0].text
    docs_say("guides/mentions.md", "$ARGUMENTS")


async def test_watch(tmp_path: Path, docs_say: Says) -> None:
    file = tmp_path / "greet" / "SKILL.md"
    file.parent.mkdir()
    file.write_text("---\nname: greet\ndescription: before\n---\nHello.\n")
    weaver = skillweave.open(tmp_path)
    await weaver.skills.snapshot()
    changes = weaver.skills.watch(quiet_seconds=0.05)
    waiting = asyncio.ensure_future(anext(changes))
    file.write_text("---\nname: greet\ndescription: after\n---\nHello.\n")
    assert (await asyncio.wait_for(waiting, 20)).changed == ("greet",)
    await changes.aclose()
    assert (await weaver.skills.snapshot())["greet"].description == "after"
    docs_say("concepts/sources.md", "watch")


async def test_versions_in_the_registry(docs_say: Says) -> None:
    weaver = skillweave.open({"id": "greet", "description": "greets", "version": "1.2.0"})
    await weaver.skills.snapshot()
    weaver.skills.registry.override_version("greet", "1.10.0")
    assert (await weaver.skills.snapshot())["greet"].version == "1.10.0"
    assert [one.version for one in (await weaver.skills.snapshot()).shadowed] == ["1.2.0"]
    with pytest.raises(skillweave.SkillNotFound):
        weaver.skills.registry.override_version("gret", "2.0.0")
    docs_say("concepts/sources.md", "override_version")


# -- long skills, documents and promised output ------------------------------------------------------------------------

CHAPTERS = "".join(f"## Chapter {n}\n\n" + f"c{n} word. " * 300 + "\n\n" for n in range(1, 9))


def long_skill() -> skillweave.Weaver:
    settings = Settings(budget=Budget(total=2000), skill_tools=SkillTools.OFFERED)
    skill = make_skill("book", keywords=["book"], instructions=CHAPTERS)
    return skillweave.open(skill, settings=settings, counter=WordCounter())


async def test_outline_rung_and_sections(docs_say: Says) -> None:
    weaver = long_skill()
    given = await weaver.weave("the book", conversation="c")
    assert given.messages[0].text.startswith("=== Skill Outline: Book ===")
    answer = await weaver.tools.read_skill("book", "3", conversation="c")
    assert "c3 word." in answer.text
    assert "c4 word." not in answer.text
    docs_say("guides/long-skills.md", "outline")


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("read_skill", {"skill_id": "book"}, "=== Skill Outline: Book ==="),
        ("list_skills", {}, "- book: "),
        ("search_skills", {"query": "book"}, "- book: "),
        ("read_artifact", {"skill_id": "book", "artifact_id": "x"}, "the skill has no document 'x'"),
    ],
)
async def test_tool_table(tool: str, arguments: dict[str, str], told: str, docs_say: Says) -> None:
    assert told in (await long_skill().tools.call(tool, arguments, conversation="c")).text
    docs_say("concepts/skill-tools.md", tool)


async def test_artifacts_are_read_lazily_and_within_limits(tmp_path: Path, docs_say: Says) -> None:
    folder = tmp_path / "filing"
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: filing\ndescription: files\n---\nFile it.\n")
    (folder / "references" / "long.md").write_text(CHAPTERS)
    weaver = skillweave.open(tmp_path, settings=Settings(budget=Budget(total=2000)), counter=WordCounter())
    given = await weaver.weave("x", conversation="c", named=["filing"])
    assert "references/long.md (" in given.messages[0].text
    assert "c1 word." not in given.messages[0].text
    assert "c2 word." in (await weaver.tools.read_artifact("filing", "references/long.md", "2", conversation="c")).text
    docs_say("concepts/skill-tools.md", "read_artifact")


async def test_check_output(docs_say: Says) -> None:
    schema = {"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}
    text = SkillText(instructions="Sum up.", output_contract=OutputContract("Sum", schema))
    weaver = skillweave.open(make_skill("sums", text=text))
    assert await weaver.composition.check_output("sums", {"total": 3}) == ()
    (finding,) = await weaver.composition.check_output("sums", '{"total": "three"}')
    assert finding.location is not None
    assert finding.location.path == "output#/total"
    docs_say("concepts/output-contracts.md", "check_output")


# -- how long a skill stays, and what people say -----------------------------------------------------------------------


async def test_lifecycle_message(docs_say: Says) -> None:
    weaver = skillweave.open(PAYING, settings=Settings(lifecycle=Lifecycle.MESSAGE))
    assert (await weaver.weave("pay", conversation="c")).checkpoints != ()
    assert (await weaver.weave("thanks", conversation="c")).checkpoints == ()
    docs_say("concepts/engagement.md", "`message`")


async def test_lifecycle_pinned(docs_say: Says) -> None:
    settings = Settings(lifecycle=Lifecycle.MESSAGE, lifecycles={"paying": Lifecycle.PINNED})
    weaver = skillweave.open(PAYING, settings=settings)
    await weaver.weave("pay", conversation="c")
    for _ in range(6):
        assert (await weaver.weave("thanks", conversation="c")).checkpoints != ()
    docs_say("concepts/engagement.md", "`pinned`")


async def test_disengage(docs_say: Says) -> None:
    weaver = skillweave.open(make_skill("strict", keywords=["strict"], tools=ToolRules(forbidden=("rm",))))
    given = await weaver.weave("strict", conversation="c")
    left = await weaver.ledger.disengage("c", "strict")
    assert [drop.message_id for drop in left.drops] == [given.messages[0].id]
    after = await weaver.weave("go on", conversation="c")
    assert after.tools.authorize("rm").ruling is Ruling.ALLOW
    docs_say("concepts/engagement.md", "disengage")


async def test_unload(docs_say: Says) -> None:
    weaver = skillweave.open(PAYING)
    await weaver.weave("pay", conversation="c")
    assert (await weaver.ledger.unload("c", "paying")).drops != ()
    assert (await weaver.weave("pay", conversation="c")).skills == ("paying",)
    docs_say("concepts/engagement.md", "unload")


async def test_checkpoint_before_a_tool(docs_say: Says) -> None:
    injection = await skillweave.open(PAYING).weave("pay", conversation="c")
    assert injection.tools.authorize("pay").ruling is Ruling.ASK
    assert injection.tools.authorize("look").ruling is Ruling.ALLOW
    docs_say("concepts/checkpoints.md", "before")


async def test_approvals_are_kept_in_the_state(docs_say: Says) -> None:
    weaver = skillweave.open(PAYING)
    await weaver.weave("pay", conversation="c")
    await weaver.approvals.decide("c", "paying", "payment", "approved", by="Kim")
    (approval,) = (await weaver.ledger.state("c")).approvals
    assert (approval.skill_id, approval.checkpoint, approval.by) == ("paying", "payment", "Kim")
    assert (await weaver.weave("pay", conversation="c")).tools.authorize("pay").ruling is Ruling.ALLOW
    await weaver.approvals.decide("c", "paying", "payment", "rejected", by="Kim")
    after = await weaver.weave("pay", conversation="c")
    assert {decision.outcome for decision in after.decisions} == {Outcome.FORBIDDEN}
    assert after.tools.authorize("pay").ruling is Ruling.DENY
    docs_say("concepts/checkpoints.md", "decide")


# -- what happens, told ------------------------------------------------------------------------------------------------


async def test_structured_events_with_typed_payloads(docs_say: Says) -> None:
    recorder = Recorder()
    weaver = skillweave.open(PAYING, observers=[recorder])
    await weaver.weave("pay", conversation="c")
    assert sorted(recorder.types) == ["checkpoint.pending", "skill.injected", "turn.decided"]
    for event in recorder.events:
        assert list(event.to_dict()) == ["id", "event_type", "conversation", "turn_id", "payload"]
    docs_say("concepts/events.md", "turn.decided")


async def test_emits(tmp_path: Path, docs_say: Says) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(
        "pack: {name: demo}\n"
        "events:\n  TABLE_UPDATE: {type: object, required: [rows]}\n"
        "skills:\n  - {id: table, description: makes tables, emits: [TABLE_UPDATE]}\n"
    )
    recorder = Recorder()
    weaver = skillweave.open(pack, observers=[recorder])
    await weaver.weave("x", conversation="c", named=["table"])
    await weaver.emit("c", "table", "TABLE_UPDATE", {"rows": []})
    assert recorder.types[-1] == "TABLE_UPDATE"
    with pytest.raises(skillweave.SkillweaveError, match="rows"):
        await weaver.emit("c", "table", "TABLE_UPDATE", {})
    docs_say("concepts/events.md", "emits")


async def test_observers_never_break_a_turn(docs_say: Says) -> None:
    broken, listening = Recorder(failure=RuntimeError("no")), Recorder()
    weaver = skillweave.open(PAYING, observers=[broken, listening])
    injection = await weaver.weave("pay", conversation="c")
    assert injection.skills == ("paying",)
    assert [found.code for found in injection.diagnostics] == ["observer-failed"]
    assert "turn.decided" in listening.types
    docs_say("concepts/events.md", "observers")


async def test_opentelemetry_behind_an_extra(docs_say: Says) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from skillweave.telemetry import OpenTelemetry

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    weaver = skillweave.open(PAYING, observers=[OpenTelemetry(tracer_provider=provider)])
    await weaver.weave("pay", conversation="c")
    (span,) = exporter.get_finished_spans()
    assert any(key.startswith("gen_ai.skill.") for event in span.events for key in event.attributes or {})
    docs_say("concepts/telemetry.md", "gen_ai.skill")


# -- a skill graph -----------------------------------------------------------------------------------------------------

DESK = {
    "entries": [
        {"skill": "triage", "match": {"keywords": ["help"]}},
        {"skill": "voice", "base": True, "match": {"regex": "."}},
    ],
    "routes": [
        {"from": "triage", "to": "refund", "on_tool": "classify", "guard": {"risk": {"lt": "high"}}},
        {"from": "refund", "to": "closing", "on_tool": "pay", "on_status": "success"},
        {"from": "closing", "to": "triage"},
    ],
    "scales": {"risk": ["low", "high"]},
}
DESK_SKILLS = [
    make_skill("triage", tools=ToolRules(allowed=("classify",))),
    make_skill("refund", tools=ToolRules(allowed=("pay",))),
    make_skill("closing"),
    make_skill("voice"),
]
LOW_RISK = ToolResult("classify", '{"risk": "low"}')


def desk(**options: Any) -> skillweave.Weaver:
    return skillweave.open(*DESK_SKILLS, graph=SkillGraph.from_dict(DESK), **options)


async def moved(weaver: skillweave.Weaver, *results: ToolResult, **fields: Any) -> skillweave.Injection:
    return await weaver.weave("", role="tool", conversation="c", results=results, **fields)


async def test_a_graph_leads_from_skill_to_skill(docs_say: Says) -> None:
    weaver = desk()
    begun = await weaver.weave("help", conversation="c")
    assert "triage" in begun.skills
    assert (await moved(weaver, LOW_RISK)).skills == ("refund",)
    picked = await weaver.weave("SKILL_SELECT:closing", role="assistant", conversation="c")
    assert picked.skills == ("closing",)
    docs_say("concepts/skill-graph.md", "on_tool")


def test_the_spellings_of_a_graph_are_one(docs_say: Says) -> None:
    import jsonschema

    read = SkillGraph.from_dict(DESK)
    built = (
        SkillGraph.builder()
        .entry("triage", match={"keywords": ["help"]})
        .entry("voice", match={"regex": "."}, base=True)
        .route("triage", "refund", on_tool="classify", guard={"risk": {"lt": "high"}})
        .route("refund", "closing", on_tool="pay", on_status="success")
        .route("closing", "triage")
        .scales(risk=["low", "high"])
        .build()
    )
    assert built.digest == read.digest == SkillGraph.from_dict(read.to_dict()).digest
    jsonschema.validate(read.to_dict(), graph_schema())
    docs_say("guides/skill-graph.md", "Both spellings are one graph")


def test_guards_compare_by_type_and_scale(docs_say: Says) -> None:
    graph = SkillGraph.from_dict(DESK)
    for risk, to in (("low", "refund"), ("high", "triage"), (1, "triage"), (None, "triage")):
        answer = {"tool": "classify", "result": {"risk": risk}}
        assert graph.next_skill({"current": "triage", "last_tool": answer}) == to
    docs_say("concepts/skill-graph.md", "never true, also for `ne` and `not_in`")


async def test_only_what_can_be_reached_may_be_opened(docs_say: Says) -> None:
    weaver = desk()
    begun = await weaver.weave("help", conversation="c")
    assert begun.reachable == ("refund",)
    assert "From here you may go to: refund" in begun.tail
    refused = await weaver.tools.call("read_skill", {"skill_id": "closing"}, conversation="c")
    assert "'closing' cannot be reached from 'triage'" in refused.text
    docs_say("concepts/skill-graph.md", "can be reached")


async def test_tools_belong_to_places(docs_say: Says) -> None:
    weaver = desk()
    begun = await weaver.weave("help", conversation="c")
    assert begun.tools.offers(["classify", "pay"]) == ("classify",)
    assert begun.tools.authorize("pay").ruling is Ruling.DENY
    assert (await moved(weaver, LOW_RISK)).tools.offers(["classify", "pay"]) == ("pay",)
    docs_say("concepts/skill-graph.md", "Tools belong to places.")


def test_a_move_explains_itself() -> None:
    high = {"tool": "classify", "result": {"risk": "high"}}
    context = {"current": "triage", "last_tool": high, "pick": "closing"}
    move = SkillGraph.from_dict(DESK).explain(context)
    assert (move.to, move.by) == ("triage", "stay")
    assert [closed.guard for closed in move.guards_closed] == ["risk < high"]
    assert [(loser.to, loser.why) for loser in move.losers] == [("closing", "unreachable")]


async def test_base_skills_apply_beside_the_cursor(docs_say: Says) -> None:
    weaver = desk()
    await weaver.weave("help", conversation="c")
    await moved(weaver, LOW_RISK)
    assert {entry.skill_id for entry in (await weaver.ledger.state("c")).engaged} == {"refund", "voice"}
    docs_say("concepts/skill-graph.md", "base: true")


async def test_a_decision_tree_engages_one_leaf(docs_say: Says) -> None:
    tree = {"tree": {"if": {"keywords": ["refund"]}, "then": "refund", "else": "triage"}}
    weaver = skillweave.open(*DESK_SKILLS, graph=SkillGraph.from_dict(tree))
    for words, leaf in (("hello", "triage"), ("my refund", "refund")):
        await weaver.weave(words, conversation="c")
        assert [entry.skill_id for entry in (await weaver.ledger.state("c")).engaged] == [leaf]
    docs_say("concepts/skill-graph.md", "exactly one leaf is engaged")


@pytest.mark.parametrize("pick", ["keyword", "lexical", "embedding"])
async def test_a_scorer_chooses_the_entry_or_abstains(pick: str, docs_say: Says) -> None:
    entries = [{"skill": name, "examples": [text]} for name, text in (("refund", "money"), ("triage", "crash"))]
    data = {"entries": entries, "pick": {"by": pick, "min_score": 0.1}}
    graph = SkillGraph.from_dict(data, embedder=FakeEmbedder())
    for words, to in (("it went into a crash", "triage"), ("good morning", None)):
        weaver = skillweave.open(*DESK_SKILLS, graph=graph)
        injection = await weaver.weave(words, conversation="c")
        assert injection.move is not None
        assert injection.move.to == to
    docs_say("concepts/skill-graph.md", f"| `{pick}` |")


def test_limits_stop_a_run(docs_say: Says) -> None:
    graph = SkillGraph.from_dict({**DESK, "limits": {"visits": 1}})
    move = graph.explain({"current": "closing", "pick": "triage", "visits": {"triage": 1, "closing": 1}})
    assert (move.to, move.by) == ("closing", "stopped")
    docs_say("concepts/skill-graph.md", "## Limits")


async def test_the_cursor_outlives_the_process(tmp_path: Path, docs_say: Says) -> None:
    recorder = Recorder()
    await desk(ledger=tmp_path / "state.db").weave("help", conversation="c")
    again = desk(ledger=tmp_path / "state.db", observers=[recorder])
    for _ in range(2):
        assert (await moved(again, LOW_RISK, turn_id="t2")).move is not None
        cursor = (await again.ledger.state("c")).cursor
        assert cursor is not None
        assert (cursor.skill, dict(cursor.visits)) == ("refund", {"triage": 1, "refund": 1})
    assert recorder.types.count("cursor.moved") >= 1
    docs_say("concepts/skill-graph.md", "any process goes on with it")


def test_a_checkup_finds_mistakes_and_can_be_told_why_not(docs_say: Says) -> None:
    wrong = {**DESK, "scales": {}}
    assert [one.code for one in SkillGraph.from_dict(wrong, check="off").checkup().problems] == ["untyped-comparison"]
    with pytest.raises(GraphRefused, match="risk"):
        SkillGraph.from_dict(wrong)
    told = SkillGraph.from_dict({**wrong, "suppress": {"untyped-comparison": "we know"}}).checkup()
    assert told.ok
    assert any("we know" in note for note in told.notes)
    docs_say("guides/skill-graph.md", "suppressed with a reason")


def test_a_graph_is_drawn_with_a_run_on_top(docs_say: Says) -> None:
    graph = SkillGraph.from_dict(DESK)
    run_so_far = Overlay(["triage"], "refund", graph.reachable_skills("refund"))
    assert graph.to_mermaid(run_so_far).startswith("flowchart TD")
    assert 'class="node skill current"' in graph.to_svg(run_so_far)
    docs_say("guides/skill-graph.md", "support-desk-run.svg")


async def test_a_script_is_played_as_a_test(docs_say: Says) -> None:
    graph = SkillGraph.from_dict(DESK)
    steps = [{"user": "help", "expect": "triage"}, {"pick": "closing", "expect": {"by": "stay"}}]
    assert (await graph.simulate(steps)).ok
    assert not (await graph.simulate([{"user": "help", "expect": "refund"}])).ok
    docs_say("guides/skill-graph.md", "graph simulate")


@pytest.mark.parametrize("pack", ["support-triage", "coding-pipeline"])
def test_two_graphs_come_along(pack: str, command: Callable[..., Any], docs_say: Says) -> None:
    assert command("graph", "check", pack)["problems"] == []
    assert command("graph", "next", pack, "--ctx", '{"user": "We need a refund"}')["by"] == "entry"
    assert command("graph", "reachable", pack)["reachable"]
    docs_say("guides/tasks.md", f"`{pack}`")


# -- at the command line -----------------------------------------------------------------------------------------------


def test_init(command: Callable[..., Any], docs_say: Says) -> None:
    command("init", "tidy-desk", "--in", "skills", "--description", "Tidies a desk")
    assert command("check", "--strict")["loaded"] == 1
    docs_say("guides/write-a-skill.md", "skillweave init")


def test_doctor(command: Callable[..., Any], docs_say: Says) -> None:
    told = json.dumps(command("doctor"))
    assert "jsonschema" in told
    assert "watchfiles" in told
    docs_say("concepts/cli.md", "skillweave doctor")


def test_shell_completion(docs_say: Says) -> None:
    # The shell is the one that runs the command, which a lone command would take the place of.
    line = '"$0" -m skillweave --show-completion; exit $?'
    done = subprocess.run(["bash", "-c", line, sys.executable], capture_output=True, text=True, timeout=120, check=True)
    assert "complete " in done.stdout
    docs_say("concepts/cli.md", "--install-completion")


def test_configuration_files(command: Callable[..., Any], tmp_path: Path, docs_say: Says) -> None:
    (tmp_path / "skillweave.toml").write_text(
        f'skills = ["{(ROOT / "examples" / "skills").as_posix()}"]\nbudget = 77\n'
    )
    assert command("weave", "hm")["tokens"]["left"] <= 77
    docs_say("concepts/configuration.md", "skillweave.toml")


def test_progress_bars(docs_say: Says) -> None:
    import io

    from skillweave.cli.arguments.skills import LoadingBar

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    tell = LoadingBar(stream).part()
    assert tell is not None
    for done in range(0, 1001, 100):
        tell(done, 1000)
    assert "Reading skills" in stream.getvalue()
    docs_say("concepts/cli.md", "progress")


# -- measured and written down -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("saved in one turn", "100 skills, catalog as fallback"),
        ("turns given the right skill", "1,000 skills, catalog in every call"),
        ("whole turn, memory", "follow-up, skill present, 1,000 skills"),
        ("whole turn, memory", "follow-up, skill present, 10,000 skills"),
        ("memory of one process", "ready to select among 10,000 skills, resident"),
    ],
)
def test_benchmarks(table: str, row: str, docs_say: Says) -> None:
    tables = (ROOT / "benchmarks" / "last_run.txt").read_text("utf-8").split("\n### ")
    (measured,) = (part for part in tables if part.startswith(f"{table}\n"))
    cells = [line.split("|")[1:3] for line in measured.splitlines() if line.startswith("|")]
    figures = [figure for case, figure in cells if case.strip() == row]
    assert figures
    assert all(any(letter.isdigit() for letter in figure) for figure in figures)
    docs_say("../benchmarks/README.md", "Profile of one turn")


@pytest.mark.parametrize(
    "page",
    [
        "guides/write-a-skill.md",
        "guides/selection.md",
        "guides/ledger.md",
        "guides/budgets.md",
        "guides/tools.md",
        "concepts/index.md",
        "reference/index.md",
    ],
)
def test_docs(page: str) -> None:
    assert len((DOCS / page).read_text("utf-8")) > 500
