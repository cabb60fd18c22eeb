"""The stored forms of an approval and of a step in its log: JSON texts."""

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

from skillweave.approvals import ApprovalCase
from skillweave.errors import SkillweaveError, StoreUnavailable

FORMAT = 1
"""The version of the document; a reader refuses a newer one instead of losing what it cannot read."""


def case_to_json(case: ApprovalCase) -> str:
    """The approval as one compact JSON text, in ASCII, without its row in the log, which has this text."""
    return _text({"v": FORMAT, **replace(case, logged="").to_dict()})


def case_from_json(text: str, approval_id: str) -> ApprovalCase:
    """The approval that `case_to_json` wrote; raises StoreUnavailable for anything else, naming the remedy."""
    try:
        data = json.loads(text)
        if data["v"] != FORMAT:
            raise ValueError(f"format {data['v']!r:.40}, this version reads {FORMAT}")
        case = ApprovalCase.from_dict(data)
        if case.id != approval_id:
            raise ValueError(f"it is that of approval {case.id!r:.60}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, SkillweaveError) as error:
        raise StoreUnavailable(
            f"approval {approval_id!r:.60} cannot be read ({type(error).__name__}: {error!s:.300}); `verify` says what "
            "its log has of it; restore its row from a copy"
        ) from error
    return case


def step_to_json(before: ApprovalCase | None, after: ApprovalCase, why: str = "") -> str:
    """What a step changed, for people who read the log, and the SHA-256 of the whole approval after it.

    The State is in the approval only: it may be long, and its SHA-256 is that of the whole.
    """
    was: dict[str, Any] = {} if before is None else replace(before, logged="").to_dict()
    now = replace(after, logged="").to_dict()
    changed = {key: value for key, value in now.items() if key != "state" and (key not in was or was[key] != value)}
    gone = dict.fromkeys(key for key in was if key not in now)
    noted = {"why": why} if why else {}
    return _text({"changed": {**gone, **changed}, **noted, "sha256": sha256_of(case_to_json(after))})


def sha256_in(document: str) -> str | None:
    """The SHA-256 that the document of a step has of the approval after it; None where it has none."""
    try:
        data = json.loads(document)
    except (ValueError, RecursionError):
        return None
    found = data.get("sha256") if isinstance(data, dict) else None
    return found if isinstance(found, str) else None


def sha256_of(text: str) -> str:
    """The SHA-256 of a stored approval, in hex."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=True, separators=(",", ":"))
