"""How skills stand to each other: what they require and exclude, which go together, which may enter (spec 4.1)."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
admit: Admission Group form_groups rank
rules: Form ToolEntry all_requirements exclusions name_shown read_entry requirements rule_shown standing_shown
task: explain_task select_skills
validate: Links circles require_names
""",
)
