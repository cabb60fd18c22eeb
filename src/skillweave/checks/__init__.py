"""What is wrong with skills, beside what loading finds: triggers, texts, links, relations, rules, contracts, graph."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
check: check_skills
unedited: is_scaffold_text
""",
)
