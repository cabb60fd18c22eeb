"""The table of what can be said about something that a source holds and that is not stored."""

from skillweave import Severity
from skillweave.values import Code

NOT_STORED = Code(
    "not-stored", Severity.ERROR, "a skill or an agent that loads, and that the store refuses or that lacks a document"
)
NOT_KEPT = Code("not-kept", Severity.WARNING, "a part of a pack that a store of skills has no place for")
