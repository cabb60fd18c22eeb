"""The four spellings of a skill, in and out; whatever one of them has no place for goes under `x-skillweave`."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.formats.fields import SkillRead
    from skillweave.formats.identity import Order, compare_versions, digest_of, id_of
    from skillweave.formats.native import Spelling, from_dict, to_dict
    from skillweave.formats.skill_md import read_skill_md, to_open_skill_md, to_skill_md
    from skillweave.formats.spelling import (
        from_definition,
        from_tiers,
        read_any,
        spelling_of,
        to_definition,
        to_manifest,
        to_tiers,
    )
    from skillweave.formats.strictness import Strictness

__all__ = [
    "Order",
    "SkillRead",
    "Spelling",
    "Strictness",
    "compare_versions",
    "digest_of",
    "from_definition",
    "from_dict",
    "from_tiers",
    "id_of",
    "read_any",
    "read_skill_md",
    "spelling_of",
    "to_definition",
    "to_dict",
    "to_manifest",
    "to_open_skill_md",
    "to_skill_md",
    "to_tiers",
]


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


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
