"""What skillweave says about one turn: what became of each considered skill, and on what evidence."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import ClassVar

from skillweave.codec import Portable


class Outcome(StrEnum):
    """What became of a considered skill in one turn (spec 5.5)."""

    INJECTED = "injected"
    ALREADY_PRESENT = "already-present"
    REFRESHED = "refreshed"
    UPGRADED = "upgraded"
    ADOPTED = "adopted"
    HELD = "held"
    OFFERED = "offered"
    OVER_BUDGET = "over-budget"
    OVER_LIMIT = "over-limit"
    BELOW_THRESHOLD = "below-threshold"
    CONFLICT = "conflict"
    UNMET = "unmet"
    VETOED = "vetoed"
    UNREACHABLE = "unreachable"
    NOT_AT_CURSOR = "not-at-cursor"
    FORBIDDEN = "forbidden"
    INACTIVE = "inactive"
    UNKNOWN = "unknown"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Evidence(Portable):
    """Why a matcher spoke: the `kind` of hit, the matched `text`, and its span in characters of the original message.

    `kind` is one of marker, host, read, mention, arguments, task, pattern, keyword, verb, id, never, terms, meaning,
    reranker, like, companion; `start` and `end` are None where the evidence is not a place in the message.
    """

    kind: str
    text: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Decision(Portable):
    """One considered skill: its outcome, the stage that decided, and the evidence.

    `score` is in [0, 1] and compares within one `matcher` only; `tokens` is what the skill costs, or would have cost
    when it was left out, None where nothing was rendered. `probability` is how likely the skill was wanted, None where
    nobody estimated it.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        "skill_id",
        "outcome",
        "stage",
        "score",
        "matcher",
        "evidence",
        "tokens",
        "probability?",
        "...",
    )

    skill_id: str
    outcome: Outcome
    stage: str
    reason: str
    score: float | None = None
    matcher: str | None = None
    evidence: tuple[Evidence, ...] = ()
    tokens: int | None = None
    probability: float | None = None

    def without_message_text(self) -> "Decision":
        """The decision as it may be kept: what a pattern matched is somebody's words, only its place stays.

        Keywords and terms are the skill's own words.
        """
        if not any(piece.kind == "pattern" for piece in self.evidence):
            return self
        kept = (replace(piece, text="") if piece.kind == "pattern" else piece for piece in self.evidence)
        return replace(self, evidence=tuple(kept))


_NOUNS = {"terms": ("word", "words"), "keyword": ("keyword", "keywords")}
"""How one piece and several pieces of a kind are called; other kinds go by their own name."""


def evidence_in_words(evidence: Iterable[Evidence]) -> str:
    """`keyword 'invoice', words 'check', 'total'`: neighbours of one kind under one name; empty where there is none."""
    groups = ((kind, [piece.text for piece in pieces]) for kind, pieces in groupby(evidence, key=lambda one: one.kind))
    told: list[str] = []
    for kind, texts in groups:
        one, several = _NOUNS.get(kind, (kind, kind))
        told.append(f"{one if len(texts) == 1 else several} {', '.join(map(repr, texts))}")
    return ", ".join(told)
