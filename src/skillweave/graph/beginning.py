"""Where a conversation begins that stands nowhere yet: the first entry that may, or the scorer's choice (spec 3.2)."""

from collections.abc import Iterator

from skillweave.decisions import Evidence
from skillweave.graph.compiled import Compiled
from skillweave.graph.declared import EntryPick
from skillweave.graph.entries import is_never, judged_entries
from skillweave.graph.judging import HOLDS_NOT, Sight, judge
from skillweave.graph.move import By, Loser, Why
from skillweave.graph.notes import Notes
from skillweave.graph.scoring import EntryScoring
from skillweave.graph.taken import Taken


def begin(compiled: Compiled, sight: Sight, notes: Notes) -> Taken | None:
    """The entry that begins; None where none may, and where that is left to the model."""
    pick = compiled.declared.pick
    if pick is EntryPick.DECLARATION:
        return _first_entry(compiled, sight, notes)
    if pick is EntryPick.READ or sight.scoring is None:
        return None
    return _scored(compiled, sight, sight.scoring, notes)


def why_none(compiled: Compiled, sight: Sight) -> str:
    """Why nothing begins, in a few words."""
    pick = compiled.declared.pick
    if sight.context.between:
        return "nothing is begun yet"
    if pick is EntryPick.READ:
        return "the model begins by reading one of the entries"
    if pick is EntryPick.DECLARATION:
        return "no entry's condition holds"
    return "the entries were not scored" if sight.scoring is None else "the scorer chose no entry"


def _first_entry(compiled: Compiled, sight: Sight, notes: Notes) -> Taken | None:
    never = is_never(compiled, sight)
    hit = (position for number in sight.hits for position in compiled.by_phrase.get(number, ()))
    for position in sorted({*compiled.alone, *hit}):
        entry = compiled.declared.entries[position]
        if entry.condition is None:
            reason = f"{entry.skill!r} is the first entry that may begin, and it has no condition"
            return Taken(entry.skill, By.ENTRY, (Evidence("entry", entry.skill),), reason)
        verdict = HOLDS_NOT if never else judge(entry.condition, sight)
        if verdict.holds:
            return Taken(
                entry.skill, By.ENTRY, verdict.evidence, f"{entry.skill!r} is the first entry whose condition holds"
            )
        if verdict.raised:
            notes.failed(verdict, f"entry {entry.skill}")
    return None


def _scored(compiled: Compiled, sight: Sight, scoring: EntryScoring, notes: Notes) -> Taken | None:
    chosen = scoring.chosen
    if chosen is None:
        return None
    if chosen not in _open_entries(compiled, sight, notes):
        reason = f"the scorer {scoring.scorer!r} chose {chosen!r}, which may not begin now"
        why = Why.UNREACHABLE if chosen in compiled.wired else Why.UNKNOWN
        notes.lost(Loser(chosen, By.SCORER, why, reason))
        return None
    share = next((ranked.relevance for ranked in scoring.ranked if ranked.skill == chosen), None)
    said = "" if share is None else f" with a relevance of {share:.2f}"
    reason = f"the scorer {scoring.scorer!r} chose {chosen!r}{said}"
    return Taken(chosen, By.SCORER, (Evidence("score", scoring.scorer),), reason)


def _open_entries(compiled: Compiled, sight: Sight, notes: Notes) -> Iterator[str]:
    """The skills that a scorer may choose: of entries without a condition, or whose condition holds."""
    for entry, verdict in judged_entries(compiled, sight):
        if verdict.holds:
            yield entry.skill
        elif verdict.raised:
            notes.failed(verdict, f"entry {entry.skill}")
