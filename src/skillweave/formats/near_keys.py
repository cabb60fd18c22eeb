"""Keys that mean nothing where they stand, and look like ours: misspelled ones, and those that belong elsewhere."""

from collections.abc import Collection, Container, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from skillweave.formats.codes import MISPLACED_KEY, MISSPELLED_KEY
from skillweave.formats.fields import Fields
from skillweave.formats.host_keys import BY_USER, NOT_BY_MODEL, WHEN_TO_USE
from skillweave.formats.native import EXTENSION, FIELDS, TEXT_FIELDS
from skillweave.formats.open_spec import SPEC_FIELDS
from skillweave.skill import RelationKind

_LONGEST = 40
"""A longer key is nobody's slip of the pen."""
_ALIKE = 0.8

FRONT_KEYS = (
    *SPEC_FIELDS,
    *("version", "triggers", "domain_tags", EXTENSION),
    *(NOT_BY_MODEL, BY_USER, WHEN_TO_USE),
)
"""The keys that mean something at the top of front matter."""
_HOST_KEYS = frozenset(key.replace("_", "-") for key in (NOT_BY_MODEL, BY_USER, WHEN_TO_USE))
"""Those that mean the same with `-` and with `_` in them."""
_INSIDE: Mapping[str, str] = MappingProxyType(
    {
        **{part.name: f"`{EXTENSION}: {{{part.name}: ...}}`" for part in (*FIELDS, *TEXT_FIELDS)},
        **{kind.value: f"`{EXTENSION}: {{relations: [{{kind: {kind.value}, skill: ...}}]}}`" for kind in RelationKind},
        **{f"{which}_tools": f"`{EXTENSION}: {{tools: {{{which}: [...]}}}}`" for which in ("forbidden", "preapproved")},
        "tools": "`allowed-tools` for tools that need no approval, "
        f"`{EXTENSION}: {{tools: {{allowed: [...], forbidden: [...]}}}}` for rules",
        "hitl_checkpoints": f"`{EXTENSION}: {{checkpoints: ...}}`",
    }
)
"""The keys that mean something under `x-skillweave` only, and how they are written there."""
_OF_OTHERS = frozenset({"name", "artifacts", "details", "instructions", "requirements", "status", "steps"})
"""Common words, which public skills use as keys of their own."""


def right_key(key: str, stated: Container[str]) -> str | None:
    """The key of front matter that was meant by one that means nothing; None where it is nobody's slip."""
    near = _near(key, FRONT_KEYS)
    return None if near is None or near in stated else near


def report_near_keys(fields: Fields, unread: Collection[str]) -> None:
    """Report each key of front matter that nobody read and that looks like one of ours, with what to write."""
    for key in unread:
        if key in FRONT_KEYS or key.replace("_", "-") in _HOST_KEYS:
            continue
        meant = right_key(key, fields)
        if meant is not None:
            fields.report(MISSPELLED_KEY, key, f"means nothing and looks like `{meant}`", f"write `{meant}`")
            continue
        inside = key if key in _INSIDE else _near(key, tuple(_INSIDE))
        if inside is not None and inside not in _OF_OTHERS:
            what = "means nothing at the top of front matter"
            fields.report(MISPLACED_KEY, key, what, f"write {_INSIDE[inside]}")


def _near(key: str, known: Collection[str]) -> str | None:
    """The only known key that this one is a slip for, whatever its case and its `-` and `_` are."""
    if len(key) > _LONGEST:
        return None
    plain = {_plain(one): one for one in known}
    found = get_close_matches(_plain(key), plain, n=2, cutoff=_ALIKE)
    if not found or (len(found) > 1 and found[0] != _plain(key)):
        return None
    return plain[found[0]]


def _plain(key: str) -> str:
    return key.strip().lower().replace("_", "-").replace(" ", "-")
