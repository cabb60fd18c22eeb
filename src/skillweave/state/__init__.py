"""What a conversation was given and what is engaged in it: one versioned value, pure steps (spec 5.4)."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
approvals: CONSENT LONGEST_NOTE MOST_APPROVALS NOTICE_END consented decide decided denied_tools kept_out
approvals: rejection_notice undecided waits withdraw
codec: decision_from_json decision_to_json state_from_json state_to_json
state: CLAIM_SECONDS adopt claim clear confirm evict expire held_keys hold reject release resume skill_key unload
""",
)
