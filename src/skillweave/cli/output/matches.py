"""What the matchers say about a message, for people."""

from typing import TYPE_CHECKING

from skillweave.cli.output.page import Ink, Page, evidence_shown
from skillweave.decisions import Outcome
from skillweave.select.candidates import Candidate, Selection

if TYPE_CHECKING:
    from skillweave.injection import Fallback

SHOWN_NEAR = 2
"""So many skills below the threshold are named."""


def matched_text(selection: Selection, fallback: "Fallback | None", page: Page) -> str:
    """Which skills a message calls for, and which nearly, with the answer to a question about the skills as such."""
    lines: list[str] = []
    for candidate in selection.chosen:
        lines.append(page.entry("chosen", _title(candidate), Ink.GOOD))
        lines.append(page.entry("", evidence_shown(candidate.evidence)))
    for candidate in selection.offered:
        lines.append(page.entry("offered", _title(candidate)))
        lines.append(page.entry("", evidence_shown(candidate.evidence)))
    near = 0
    for rejected in selection.rejected:
        near += rejected.outcome is Outcome.BELOW_THRESHOLD
        if rejected.outcome is not Outcome.BELOW_THRESHOLD or near <= SHOWN_NEAR:
            lines.append(page.entry(rejected.outcome.value, _title(rejected.candidate), Ink.FAINT))
            lines.append(page.entry("", rejected.reason))
    if near > SHOWN_NEAR:
        lines.append(page.entry("", f"and {near - SHOWN_NEAR} more (--json lists all)"))
    parts = ["\n".join(lines) or page.wrap("No skill is about this message.")]
    if fallback is not None:
        parts.append(f"{page.entry('fallback', fallback.kind.value)}\n{page.excerpt(fallback.text, 10)}")
    return "\n\n".join(parts)


def _title(candidate: Candidate) -> str:
    likely = "" if candidate.probability is None else f", {candidate.probability:.0%} likely"
    return f"{candidate.skill_id} ({candidate.matcher} {candidate.score:.2f}{likely})"
