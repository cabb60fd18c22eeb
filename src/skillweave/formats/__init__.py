"""The four spellings of a skill, in and out; whatever one of them has no place for goes under `x-skillweave`."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.formats.fields import SkillRead
    from skillweave.formats.identity import Order, compare_versions, digest_of, id_of
    from skillweave.formats.native import Spelling, from_dict, to_dict
    from skillweave.formats.skill_md import Strictness, read_skill_md, to_open_skill_md, to_skill_md
    from skillweave.formats.spelling import (
        from_definition,
        from_tiers,
        read_any,
        spelling_of,
        to_definition,
        to_manifest,
        to_tiers,
    )

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

_HOMES = {
    **dict.fromkeys(("Order", "compare_versions", "digest_of", "id_of"), "identity"),
    **dict.fromkeys(("Spelling", "from_dict", "to_dict"), "native"),
    **dict.fromkeys(("Strictness", "read_skill_md", "to_open_skill_md", "to_skill_md"), "skill_md"),
    "SkillRead": "fields",
}


def __getattr__(name: str) -> object:
    """Load a name at its first use: a turn needs `$ARGUMENTS`, and no reader of files."""
    if name not in __all__:
        raise AttributeError(f"module 'skillweave.formats' has no attribute {name!r}; it exports {', '.join(__all__)}")
    value: object = getattr(import_module(f"skillweave.formats.{_HOMES.get(name, 'spelling')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
