"""One turn, from what the conversation holds to the Injection: a step a file, `run.py` their order (spec 5)."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
admit: engage
move: GraphBinding bind
disclose: SEPARATOR_TOKENS
reconcile: Presence blocks_in digest_of in_own_words may_hold_ours split_at_blocks spoken_in
""",
)
