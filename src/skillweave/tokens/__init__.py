"""How many tokens a text costs: the counter's port, and a real vocabulary that works offline (spec 5.2)."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
counter: LONGEST_RUN
few: FEW_CHARACTERS few_texts merged
ranks: BETWEEN VOCABULARIES ranks_of
""",
)
