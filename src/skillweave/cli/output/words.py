"""Figures and lists as people read them."""

from collections.abc import Iterable, Sequence

from skillweave.decisions import Evidence


def tokens_shown(count: int) -> str:
    """`1,087 tokens`."""
    return f"{count:,} token{'' if count == 1 else 's'}"


def counted(count: int, noun: str) -> str:
    """`1 skill`, `22 skills`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Iterable[str], none: str = "none") -> str:
    """The names with commas."""
    return ", ".join(names) or none


def evidence_shown(evidence: Sequence[Evidence]) -> str:
    """`keyword 'bonjour', terms 'letter'`; at most five pieces."""
    shown = [f"{piece.kind} {piece.text[:60]!r}" for piece in evidence[:5]]
    return listed(shown, none="no evidence") + (f" and {len(evidence) - 5} more" if len(evidence) > 5 else "")
