"""The tool policy of a turn: what the skills in force say together, and what people said at their checkpoints."""

from collections.abc import Sequence

from skillweave.compose.force import InForce, policy_of
from skillweave.compose.limits import limited
from skillweave.compose.policy import ToolPolicy
from skillweave.ledger.approvals import consented, decided, denied_tools, digests_shown, kept_out
from skillweave.plan import Plan
from skillweave.skill import Skill


def kept_out_skills(plan: Plan) -> list[Skill]:
    """The skills that a person rejected as they are now, and the engaged ones that cannot be without one of them."""
    skills = plan.snapshot.skills
    return [*(skills[skill_id] for skill_id in kept_out(plan.before.approvals, plan.snapshot)), *plan.parted]


def tools_in(plan: Plan, in_force: Sequence[InForce]) -> ToolPolicy:
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
    )
    return limited(policy, plan.turn.limits)
