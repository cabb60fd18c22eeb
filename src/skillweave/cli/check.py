"""`skillweave check`: what is wrong with skill files, and what to do about it."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from skillweave.cli.arguments import options
from skillweave.cli.arguments.skills import load_snapshot, sources_of
from skillweave.cli.arguments.working import working
from skillweave.cli.output.answer import Answer, Stream

if TYPE_CHECKING:
    from skillweave.cli.output.checked import Checked
    from skillweave.graph import SkillGraph
    from skillweave.registry import Snapshot

EXAMPLES = """
skillweave check --skills examples/skills
skillweave check --skills examples/skills --strict
skillweave check --skills skills --json
skillweave check --skills skills --watch
"""


def check(
    skills: options.Skills = None,
    pack: options.Packs = None,
    graph: options.Graph = None,
    strict: options.Strict = False,
    watch: options.Watch = False,
    as_json: options.AsJson = False,
) -> Answer | Stream:
    """Find what is wrong with skill files, with line and fix.

    Reports every file that is left out, every repair, every trigger that cannot work, and what the checkup of a skill
    graph finds, then which skills the keys disable-model-invocation, user-invocable and when_to_use, and $ARGUMENTS,
    are at work in. The exit code is 1 when
    there is an error. With --watch it goes on after every edit, with what changed and the new findings, as JSON one
    object per line, until you press Ctrl-C (exit code 130); it needs the extra `watch`.
    """
    from skillweave.cli.arguments.graph import graph_of

    own, notes = graph_of(graph)
    looked = partial(_looked, graph=own)
    if not watch:
        return replace(looked(load_snapshot(skills, strict=strict, packs=pack)).answer(), notes=notes)
    from skillweave.cli.watching import watched
    from skillweave.registry import Registry

    return watched(Registry(sources_of(skills, strict=strict, packs=pack)), looked)


def _looked(snapshot: "Snapshot", graph: "SkillGraph | None") -> "Checked":
    from skillweave.cli.output.checked import Checked
    from skillweave.cli.output.host_keys import by_host_key
    from skillweave.cli.output.tally import tally_of
    from skillweave.contracts import check_contracts
    from skillweave.contracts.check import check_event_types
    from skillweave.graph.findings import graph_findings
    from skillweave.select.index import compile_triggers
    from skillweave.select.task import check_task_rules
    from skillweave.text.search import MatchMode

    with working("Checking the triggers of", snapshot.loaded):
        _, about_triggers = compile_triggers(snapshot.active(), MatchMode.WORD)
    about_rules = check_task_rules(snapshot.task_rules, snapshot)
    about_events = check_event_types(snapshot)
    about_contracts = check_contracts(snapshot.values())
    about_parts = (*about_triggers, *about_rules, *about_events, *about_contracts)
    diagnostics = (*snapshot.diagnostics, *about_parts, *graph_findings(snapshot, graph))
    return Checked(tally_of(snapshot), diagnostics, by_host_key(snapshot.active()))
