"""The table of what only `check` looks at: nothing of it keeps a skill from being loaded."""

from skillweave.diagnostics import Severity
from skillweave.frontmatter.codes import Code

EMPTY_TEXT = Code("empty-text", Severity.WARNING, "a skill without instructions: the model would be given a title only")
DIFFERS = Code("differs-from-lock", Severity.WARNING, "an added skill is not what the lock says; --locked: an error")
DEAD_LINK = Code("dead-link", Severity.WARNING, "the text names files of the skill that are not there")
UNEDITED = Code("unedited-template", Severity.INFO, "words of a template that were to be replaced")
REQUIRED_MISSING = Code("required-missing", Severity.WARNING, "a skill requires one that is not there")
REQUIRED_EXCLUDED = Code("required-excluded", Severity.ERROR, "a skill requires the same skill that it excludes")
