"""What a skill promises to produce, and whether it was produced: JSON Schema on values of others (seed 002)."""

from skillweave.contracts.check import check_against, check_schema
from skillweave.contracts.output import OutputMismatch, check_contracts, check_output, require_output
from skillweave.contracts.prepare import JsonSchema, PreparedSchema, prepare_schema
from skillweave.doors import door

__all__ = [
    "JsonSchema",
    "OutputMismatch",
    "PreparedSchema",
    "check_against",
    "check_contracts",
    "check_output",
    "check_schema",
    "prepare_schema",
    "require_output",
]

__getattr__ = door(
    __name__,
    """
check: MOST check_event_types
codes: fragment shown
output: MAX_TEXT read_answer
plain: Limits NotPlain
""",
)
