"""The four spellings of a skill, in and out; whatever one of them has no place for goes under `x-skillweave`."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
arguments: LONGEST_ARGUMENTS MOST_PLACES digest_in_use filled takes_arguments
codes: CODES FIELD_CODES
fields: SkillRead
host_keys: BY_ALL Invocation invocation_of when_to_use_of
identity: Order canonical_json compare_versions default_name digest_of id_of namespaced
mending: Mended mend_skill_md
native: FIELDS TEXT_FIELDS Spelling from_dict to_dict
open_spec: ToolList join_tools split_tools
skill_md: read_skill_md to_open_skill_md to_skill_md
spelling: from_definition from_tiers read_any spelling_of to_definition to_manifest to_tiers
strictness: Strictness
task_rules: MOST_RULES RulesRead read_task_rules
""",
)
