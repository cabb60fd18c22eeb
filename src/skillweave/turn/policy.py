"""The tool policy of a turn: what the skills in force say together, and what people said at their checkpoints."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from skillweave.compose.composition import ActiveSkill, limited, policy_of, without_asks
from skillweave.compose.policy import ALL_IN_SCOPE, OWN_TOOLS, ToolPolicy, ToolScope
from skillweave.disclose.block import SkillTools
from skillweave.limits import ToolLimits
from skillweave.skill import Skill
from skillweave.state.approvals import consented, decided, denied_tools, digests_shown, kept_out, undecided
from skillweave.turn.admit import Plan


def kept_out_skills(plan: Plan) -> list[Skill]:
    """The skills that a person rejected as they are now, and the engaged ones that cannot be without one of them."""
    skills = plan.snapshot.skills
    return [*(skills[skill_id] for skill_id in kept_out(plan.before.approvals, plan.snapshot)), *plan.parted]


def tools_in(plan: Plan, in_force: Sequence[ActiveSkill]) -> ToolPolicy:
    """What the agent may call now, never wider for a person's no than without it, nor than the turn's limits."""
    approvals, snapshot = plan.before.approvals, plan.snapshot
    skills = {member.skill.id: member.skill for member in in_force}
    policy = policy_of(
        in_force,
        grant=plan.turn.tools,
        enforce=plan.settings.enforce,
        consented=consented(approvals, skills.values()),
        let_through=decided(approvals),
        shown=digests_shown(plan.engaged, snapshot),
        kept_out=kept_out_skills(plan),
        rejected=denied_tools(approvals, snapshot, skills.keys()),
        own_tools=OWN_TOOLS if plan.skill_tools is SkillTools.OFFERED else (),
    )
    return limited(replace(policy, elsewhere=_elsewhere(plan, skills)), _undecided(plan))


def _elsewhere(plan: Plan, in_force: Collection[str]) -> ToolScope:
    """The tools that belong to wired skills, with those that are engaged (spec 3.2)."""
    position = plan.position
    if position is None:
        return ALL_IN_SCOPE
    engaged = frozenset((*in_force, *(wanted.skill.id for wanted in plan.wanted)))
    idle = "" if position.skill is None or position.skill in engaged else ", where its skill cannot be engaged now"
    return ToolScope(position.wiring.owners, engaged, f"{position.where}{idle}")


def _undecided(plan: Plan) -> ToolLimits | None:
    """The turn's limits without those of its agent's own checkpoints that a person let through in this conversation.

    One of the same name that another of its skills still asks before the same tool goes on asking.
    """
    limits, snapshot = plan.turn.limits, plan.snapshot
    if limits is None or not limits.own_asks:
        return limits
    shown, let_through = digests_shown(plan.engaged, snapshot), decided(plan.before.approvals)
    passed = {
        (checkpoint.before, name)
        for skill_id, name, digest in let_through
        if skill_id in snapshot and digest == shown.get(skill_id, snapshot[skill_id].digest)
        for checkpoint in snapshot[skill_id].checkpoints
        if checkpoint.name == name and checkpoint.before is not None
    }
    applying = {*(entry.skill_id for entry in plan.engaged), *(wanted.skill.id for wanted in plan.wanted)}
    asking = {
        (checkpoint.before, checkpoint.name)
        for skill_id in applying
        if skill_id in snapshot
        for checkpoint in undecided(snapshot[skill_id], let_through, shown.get(skill_id))
        if checkpoint.blocking
    }
    return replace(limits, own_asks=without_asks(limits.own_asks, passed - asking))
