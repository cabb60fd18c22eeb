"""Ids made from names (spec 1.1)."""

import hashlib
import re
import unicodedata

from skillweave.skill import is_skill_id, title_of

MAX_ID = 100
"""Characters of the longest id."""

_OTHER = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_FEWEST = 2
_HASH_DIGITS = 10


def id_of(name: str) -> str:
    """The id that a name stands for: the name itself where it is one, else with `-` for each run of other characters.

    What leaves fewer than 2 characters becomes `skill-` and 10 hex digits of the SHA-256 of the name's NFC form. The
    result may still be over 100 characters long and is no id then; `is_skill_id` tells.
    """
    if is_skill_id(name):
        return name
    normal = unicodedata.normalize("NFC", name)
    made = _OTHER.sub("-", normal)
    if made != normal:
        made = made.strip("-")
    if len(made.replace("-", "")) < _FEWEST:
        digest = hashlib.sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()
        return f"skill-{digest[:_HASH_DIGITS]}"
    return made


def namespaced(namespace: str, skill_id: str) -> str:
    """The id of a skill in a namespace, `org__name`."""
    return f"{id_of(namespace)}__{skill_id}"


def default_name(skill_id: str, spelling: str | None) -> str:
    """The display name of a skill that states none: its name as spelled by its author, else its id in title case."""
    return (spelling or "").strip() or title_of(skill_id)
