"""The SHA-256 of a definition (spec 1.1)."""

import hashlib
import json
from collections.abc import Mapping

from skillweave.errors import InvalidSkill


def digest_of_bytes(data: bytes) -> str:
    """SHA-256 hex of a SKILL.md's bytes."""
    return hashlib.sha256(data).hexdigest()


def digest_of(definition: Mapping[str, object]) -> str:
    """SHA-256 hex of a definition as canonical JSON: keys sorted, no spaces, UTF-8.

    Raises InvalidSkill for a value that JSON does not have, and for half of a surrogate pair.
    """
    try:
        return digest_of_bytes(canonical_json(definition).encode())
    except UnicodeEncodeError as error:
        raise InvalidSkill("the definition holds half of a surrogate pair, which is no text; remove it") from error


def canonical_json(definition: Mapping[str, object]) -> str:
    """The one JSON text of equal data. Raises InvalidSkill for a value that JSON does not have."""
    try:
        return json.dumps(
            definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidSkill(f"the definition is no JSON data: {error}; use text, numbers, lists and mappings") from error


def _plain(value: object) -> dict[object, object]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no JSON value")
