"""What tells definitions apart: the id made from a name, the order of versions, the digest (spec 1.1)."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from skillweave.errors import InvalidSkill
from skillweave.skill import SKILL_ID, title_of

MAX_ID = 100
"""Characters of the longest id."""

_OTHER = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_FEWEST = 2
_HASH_DIGITS = 10


def id_of(name: str) -> str:
    """The id for a name: itself, or with `-` for other characters, or `skill-` and a hash; it may be too long."""
    if SKILL_ID.fullmatch(name):
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


class Order(StrEnum):
    """How one version compares with another; `unordered` where no rule can compare them."""

    OLDER = "older"
    SAME = "same"
    NEWER = "newer"
    UNORDERED = "unordered"


def compare_versions(version: str, other: str) -> Order:
    """How the first stands to the second: by semantic-version rules where both parse, by `packaging` else."""
    if version == other:
        return Order.SAME
    for parse in (_semantic, _python):
        mine, theirs = parse(version), parse(other)
        if mine is not None and theirs is not None:
            return Order.SAME if mine == theirs else Order.NEWER if mine > theirs else Order.OLDER
    return Order.UNORDERED


def _semantic(text: str) -> Any:  # noqa: ANN401 - what orders itself beside others of its parser
    from semver import Version

    try:
        return Version.parse(text)
    except ValueError:
        return None


def _python(text: str) -> Any:  # noqa: ANN401 - as above
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text)
    except (InvalidVersion, ValueError):
        return None


def digest_of_bytes(data: bytes) -> str:
    """SHA-256 hex of a SKILL.md's bytes."""
    return hashlib.sha256(data).hexdigest()


def digest_of(definition: Mapping[str, object]) -> str:
    """SHA-256 hex of a definition as canonical JSON. Raises InvalidSkill for what JSON or UTF-8 cannot hold."""
    try:
        return digest_of_bytes(canonical_json(definition).encode())
    except UnicodeEncodeError as error:
        raise InvalidSkill("the definition holds half of a surrogate pair, which is not text; remove it") from error


def canonical_json(definition: Mapping[str, object]) -> str:
    """The one JSON text of equal data. Raises InvalidSkill for a value that JSON does not have."""
    try:
        return json.dumps(
            definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidSkill(f"the definition is not JSON data: {error}; use texts, numbers, lists, mappings") from error


def _plain(value: object) -> dict[object, object]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is not a JSON value")
