"""What a report does not prove, and what it leaves out."""

from collections.abc import Iterator, Mapping, Sequence

from skillweave.errors import nearest_names
from skillweave.graph.checked import Problem
from skillweave.graph.checkup.codes import CODES
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.wording import named


def notes_on(subject: Subject, suppressed: Mapping[str, Sequence[Problem]]) -> Iterator[str]:
    """What examples and negative phrases do not prove, what was too much to compare, what was suppressed and why."""
    yield from _on_phrases(subject)
    for budget, code in (
        (subject.shadow_pairs, "shadowed-route"),
        (subject.clash_pairs, "ambiguous-routes"),
        (subject.entry_pairs, "rules-shadowed-by-order"),
    ):
        if budget.is_spent:
            yield f"Not all pairs were compared for {named(code)}: too many of them no exact value tells apart."
    for code, reason in subject.declared.suppress.items():
        if code not in CODES:
            near = nearest_names(code, CODES)
            guess = f"; did you mean {named(near[0])}?" if near else "."
            yield f"{named(code)} is suppressed, and there is no such code{guess}"
        elif code in suppressed:
            count = len(suppressed[code])
            level = CODES[code].level.value if count == 1 else f"{CODES[code].level.value}s"
            yield f"{count} {level} of {named(code)} suppressed: {' '.join(reason.split())}"


def _on_phrases(subject: Subject) -> Iterator[str]:
    declared = subject.declared
    has_examples = any(entry.examples for entry in declared.entries)
    if (has_examples or declared.never_routes) and subject.compiled is None:
        yield "The examples and `never_routes` were not tried, as a condition of an entry cannot be compiled."
        return
    if has_examples:
        yield "Examples prove themselves only, each as the first message of a conversation; other words are not tried."
        if not subject.in_order:
            chooser = "a scorer" if subject.has_scorer else "the model"
            yield f"Which entry takes an example was not tried, because {chooser} chooses."
    if declared.never_routes:
        yield "`never_routes` stops exactly these phrases; what says the same in other words may still begin an entry."
