"""What a turn says while the ledger does not answer."""

from skillweave.decisions import Outcome
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.errors import StoreUnavailable
from skillweave.select.candidates import Rejected, Selection

UNKNOWN_RULES = (
    "the ledger does not answer, so that nobody knows which skills restrict tools and what people decided; "
    "try again when it does"
)
"""Why no tool may be called while nobody knows who denies it."""


def unavailable(error: StoreUnavailable, *, closing: bool, known: bool) -> Diagnostic:
    """The finding that the ledger does not answer: what becomes of skills and of the rules of earlier turns."""
    given = "withheld" if closing else "given without being recorded"
    if known:
        rules = "the tool rules are those of the conversation as it was read"
    elif closing:
        rules = "no tool may be called, as the rules of earlier turns are not known"
    else:
        rules = "the tool rules, checkpoints and rejections of earlier turns are not known and do not hold"
    return Diagnostic(
        code="ledger-unavailable",
        severity=Severity.ERROR,
        message=f"the ledger does not answer, so skills are {given}: {error}; {rules}",
        fix="see to the store; until then a skill may be given more than once or not at all",
    )


def withheld(selection: Selection, error: StoreUnavailable) -> Selection:
    """The selection with nothing chosen, and why."""
    reason = f"withheld while the ledger does not answer: {error}"
    failed = tuple(Rejected(candidate, Outcome.FAILED, reason) for candidate in selection.chosen)
    return Selection((), (*failed, *selection.rejected))
