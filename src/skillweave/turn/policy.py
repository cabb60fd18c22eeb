"""Policy: the tools that the agent may call now, and the checkpoints that wait for a person (spec 4.3, 5.5).

A view of State, skills and settings: nothing is fetched, rendered or counted for it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from skillweave.compose.composition import ActiveSkill, HumanVerdicts, limited, narrower, policy_of, without_asks
from skillweave.compose.policy import OWN_TOOLS, Refusal, Ruling, ToolPolicy, ToolScope
from skillweave.dialogue import Placement, ToolResult, Turn, nothing_said
from skillweave.disclose.block import SkillTools
from skillweave.frozen import EMPTY
from skillweave.injection import CurrentPolicy, Drop, PendingCheckpoint
from skillweave.limits import ToolLimits
from skillweave.registry import Snapshot
from skillweave.relations.rules import all_requirements
from skillweave.select.candidates import Selection
from skillweave.select.matchers import Matchers
from skillweave.skill import Skill
from skillweave.state.approvals import (
    calls_let_through,
    consented,
    decided,
    denied_tools,
    digests_shown,
    guards,
    kept_out,
    refused_calls,
    undecided,
    void_calls,
)
from skillweave.state.state import Approval, State, skill_of
from skillweave.turn.admit import Admission, SkillInTurn, admit_skills
from skillweave.turn.library import Inputs, Library, inputs_of
from skillweave.turn.move import Position, find_position, moment_of
from skillweave.turn.reconcile import blocks_in, reconcile


def held_to(limits: ToolLimits, turn: Turn) -> Turn:
    """The turn within the limits that the State has for its sub-agent; what the turn says only narrows them."""
    return replace(turn, limits=narrower(limits, turn.limits))


def policy_at(state: State, library: Library, matchers: Matchers, turn: Turn, now: float) -> CurrentPolicy:
    """The tool policy and the checkpoints between two turns, as the State has them.

    Of `turn` only the conversation, the placement, the transcript, the granted tools and the limits count: nobody says
    anything. `now` is the store's clock in seconds, by which claims expire.
    """
    if state.limits is not None:
        turn = held_to(state.limits, turn)
    blocks = None if turn.transcript is None else blocks_in(turn.transcript)
    context = reconcile(state, blocks, holder=turn.id, now=now)
    # A spawned agent has the skills of its plan, wherever its parent stands.
    graph = library.graph if turn.limits is None else None
    position = None if graph is None else find_position(graph, state, turn, moment_of(graph, state, turn))
    selection = Selection() if position is None else position.lead(Selection())
    inputs = inputs_of(turn, state, now, library, matchers)
    admission = admit_skills(inputs, selection, context, position)
    # What lasted one call only is not recorded: the State names the skills whose text was in the latest one. An older
    # version wrote no such names; then whatever is wanted may have been there.
    unknown = state.in_call is None and turn.placement is Placement.CALL
    in_call = frozenset(state.in_call or ())
    there = [one for one in admission.skills if one.binds_at(one.present) or unknown or one.skill.id in in_call]
    tools, checkpoints = tool_policy(inputs, admission, there, position)
    return CurrentPolicy(
        turn_id=turn.id,
        conversation=turn.conversation,
        placement=turn.placement,
        generation=library.snapshot.generation,
        revision=state.revision,
        tools=tools,
        checkpoints=checkpoints,
        rejected=rejected_texts(state, library.snapshot),
    )


_DENIAL = tuple(f"{code.value}: " for code in Refusal)


def with_denials(turn: Turn, state: State, library: Library, matchers: Matchers, now: float) -> Turn:
    """The turn with the status `denied` for the calls that were denied.

    These are the ones that the conversation's policy denies, and that were answered so. How an answer begins is never
    enough: a tool that ran may have read it anywhere.
    """
    if not any(_may_be_denied(result) for result in turn.results):
        return turn
    between = nothing_said("denied", turn.conversation, tools=turn.tools, limits=turn.limits, placement=turn.placement)
    tools = policy_at(state, library, matchers, replace(between, transcript=turn.transcript), now).tools

    def judged(result: ToolResult) -> ToolResult:
        denied = _may_be_denied(result) and tools.authorize(result.tool, result.arguments).ruling is Ruling.DENY
        return replace(result, status="denied") if denied else result

    return replace(turn, results=tuple(map(judged, turn.results)))


def _may_be_denied(result: ToolResult) -> bool:
    return result.status in ("success", "failure") and result.content.startswith(_DENIAL)


def tool_policy(
    inputs: Inputs, admission: Admission, active: Sequence[SkillInTurn], position: Position | None
) -> tuple[ToolPolicy, tuple[PendingCheckpoint, ...]]:
    """What the agent may call now, and the checkpoints that nobody has decided.

    `active` are the wanted skills whose text the model really has: only these permit anything. What the others forbid
    or ask a person about holds all the same, so that no full budget or limit takes a rule away. The policy is never
    wider for a person's no than without it, nor than the turn's limits.
    """
    turn, snapshot, approvals = inputs.turn, inputs.library.snapshot, inputs.before.approvals
    skills = {one.skill.id: one.skill for one in active}
    applying = (*admission.engaged, *admission.restraining)
    with_words = any(entry.arguments for entry in applying)
    shown = digests_shown(applying, snapshot) if with_words else EMPTY
    rejected = [snapshot.skills[skill_id] for skill_id in kept_out(approvals, snapshot)] if approvals else []
    out = [*rejected, *admission.parted]
    if admission.restraining or len(skills) < len(admission.skills):
        out += _without_text(admission, skills, snapshot)
    out = list({skill.id: skill for skill in out}.values())
    verdicts = HumanVerdicts(shown=shown)
    if approvals:
        verdicts = HumanVerdicts(
            consented=consented(approvals, skills.values()),
            let_through=decided(approvals),
            shown=shown,
            rejected=denied_tools(approvals, snapshot, skills.keys()),
            cleared=_cleared(inputs, shown, admission, (*skills.values(), *out)),
            rejected_calls=refused_calls(approvals),
        )
    policy = policy_of(
        [ActiveSkill(one.skill, one.engaged_by in inputs.matchers.decisions) for one in active],
        verdicts,
        grant=turn.tools,
        only_skill_tools=inputs.library.settings.only_skill_tools,
        kept_out=out,
        own_tools=OWN_TOOLS if inputs.skill_tools is SkillTools.OFFERED else (),
    )
    if position is not None:
        policy = replace(policy, elsewhere=_elsewhere(position, admission, skills))
    if turn.limits is not None:
        policy = limited(policy, _undecided(turn.limits, snapshot, approvals, shown, admission))
    return policy, pending_checkpoints(skills.values(), approvals, out, shown)


def _without_text(admission: Admission, active: Collection[str], snapshot: Snapshot) -> Iterator[Skill]:
    """The wanted skills of which the model has no text, over the budget or over a limit, with their companions."""
    yield from (one.skill for one in admission.skills if one.skill.id not in active)
    if not admission.restraining:
        return
    heads = [entry.skill_id for entry in admission.restraining]
    needed = (requirement.rule.skill for requirement in all_requirements(heads, snapshot))
    for skill_id in (*heads, *needed):
        if skill_id in snapshot and skill_id not in active:
            yield snapshot.skills[skill_id]


def pending_checkpoints(
    active: Iterable[Skill],
    approvals: Sequence[Approval],
    kept_out: Iterable[Skill],
    shown: Mapping[str, str],
) -> tuple[PendingCheckpoint, ...]:
    """The checkpoints that nobody has decided for the skills as they are now.

    Of the skills that a person rejected, or that found no room, `kept_out`, those that guard a tool. `shown` are, by
    skill id, the digests of texts with arguments in them.
    """
    asking = [(one, one.checkpoints) for one in active if one.checkpoints]
    if approvals:
        let_through = decided(approvals)
        asking = [(one, undecided(one, let_through, shown.get(one.id))) for one, _ in asking]
    asking += [(one, guards(one, approvals, shown.get(one.id))) for one in kept_out]
    return tuple(
        PendingCheckpoint(
            skill_id=skill.id,
            name=checkpoint.name,
            before=checkpoint.before,
            blocking=checkpoint.blocking,
            reviewer=checkpoint.reviewer,
            asks=checkpoint.asks,
            digest=shown.get(skill.id, skill.digest),
            scope=checkpoint.scope,
        )
        for skill, checkpoints in asking
        for checkpoint in checkpoints
    )


def rejected_texts(state: State, snapshot: Snapshot) -> tuple[Drop, ...]:
    """The recorded texts of the skills that a person rejected, each once: they are to leave the history."""
    if not state.approvals:
        return ()
    texts = (*state.records, *(old.record for old in state.superseded))
    found = {text.carrier: Drop(skill_of(text.key) or "", text.carrier, text.tokens) for text in texts}
    rejected = kept_out(state.approvals, snapshot)
    return tuple(drop for drop in found.values() if drop.skill_id in rejected)


def _elsewhere(position: Position, admission: Admission, active: Collection[str]) -> ToolScope:
    """The tools that belong to wired skills, with those that are engaged (spec 3.2)."""
    engaged = frozenset((*active, *(wanted.skill.id for wanted in admission.skills)))
    idle = "" if position.skill is None or position.skill in engaged else ", where its skill cannot be engaged now"
    closed = position.here.held_back.difference(position.here.reachable)
    return ToolScope(position.binding.owners, engaged, f"{position.where}{idle}", closed)


def _cleared(
    inputs: Inputs, shown: Mapping[str, str], admission: Admission, asking: Sequence[Skill]
) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The single calls that a person let through, at the checkpoints of all skills that ask here."""
    limits, snapshot, approvals = inputs.turn.limits, inputs.library.snapshot, inputs.before.approvals
    if limits is not None and limits.own_asks:
        asking = (*asking, *(snapshot[one] for one in _applying(admission) if one in snapshot))
    digests = {skill.id: (skill, shown.get(skill.id, skill.digest)) for skill in asking}
    return calls_let_through(approvals, tuple(digests.values()), decided(approvals), void_calls(inputs.before))


def _applying(admission: Admission) -> frozenset[str]:
    entries = (*admission.engaged, *admission.restraining)
    return frozenset((*(entry.skill_id for entry in entries), *(one.skill.id for one in admission.skills)))


def _undecided(
    limits: ToolLimits,
    snapshot: Snapshot,
    approvals: Sequence[Approval],
    shown: Mapping[str, str],
    admission: Admission,
) -> ToolLimits:
    """The turn's limits without those of its agent's own checkpoints that a person let through in this conversation.

    One of the same name that another of its skills still asks before the same tool goes on asking.
    """
    if not limits.own_asks:
        return limits
    let_through = decided(approvals)
    passed = {
        (checkpoint.before, name)
        for skill_id, name, digest in let_through
        if skill_id in snapshot and digest == shown.get(skill_id, snapshot[skill_id].digest)
        for checkpoint in snapshot[skill_id].checkpoints
        if checkpoint.name == name and checkpoint.before is not None and not checkpoint.per_call
    }
    asking = {
        (checkpoint.before, checkpoint.name)
        for skill_id in _applying(admission)
        if skill_id in snapshot
        for checkpoint in undecided(snapshot[skill_id], let_through, shown.get(skill_id))
        if checkpoint.blocking
    }
    return replace(limits, own_asks=without_asks(limits.own_asks, passed - asking))
