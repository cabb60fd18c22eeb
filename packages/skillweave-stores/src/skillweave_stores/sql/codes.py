"""The table of everything that can be said about the rows of a SQL database."""

from skillweave import Severity
from skillweave.values import Code

DAMAGED_ROW = Code("damaged-row", Severity.ERROR, "a row of a database that is no skill or no agent; left out")
NO_CONTENT = Code("artifact-without-content", Severity.WARNING, "a listed artifact of which the database has no row")
