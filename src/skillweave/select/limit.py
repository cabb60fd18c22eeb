"""How many of the chosen skills a turn would admit, for those who only ask what matches (spec 2.2)."""

from skillweave.decisions import Outcome
from skillweave.select.candidates import Candidate, Rejected, Selection


def within_places(selection: Selection, most: int) -> Selection:
    """The selection with `most` places, the rest `over-limit`; what a task rule gives together takes one place."""
    kept: list[Candidate] = []
    over: list[Rejected] = []
    seated: set[str] = set()
    places = most
    for candidate in selection.chosen:
        if candidate.skill_id not in seated:
            if places == 0:
                over.append(Rejected(candidate, Outcome.OVER_LIMIT, f"max_skills is {most}, and no place is left"))
                continue
            places -= 1
            seated.update(candidate.together)
        kept.append(candidate)
    return Selection(tuple(kept), (*over, *selection.rejected))
