"""The table of what can be said about a source as a whole, wherever it has its skills."""

from skillweave.diagnostics import Severity
from skillweave.frontmatter.codes import Code

NO_SKILLS = Code("no-skills", Severity.WARNING, "the source holds no skill")
