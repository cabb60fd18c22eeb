"""What skills together let an agent do: the merged set of seed 002, and the policy that each call is judged by."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
composition: ActiveSkill HumanVerdicts closed compose_ids compose_skills limited limits_of policy_of
entries: covers inside intersection meet narrow union without
matching: Called Reading is_readable permits prohibits reading_of
shell: LONGEST_COMMAND commands_in real_name words_in
policy: OWN_TOOLS
spawn: prepare_spawn
""",
)
