"""The table of everything that an evaluation can find wrong with triggers and descriptions."""

from skillweave import Severity
from skillweave.values import Code

BROKEN_TRIGGER = Code("broken-trigger", Severity.ERROR, "a declared keyword, verb or example does not select its skill")
UNPROVEN_PATTERN = Code("unproven-pattern", Severity.INFO, "a pattern matches no example and no test of its skill")
SHARED_TRIGGER = Code("shared-trigger", Severity.WARNING, "several skills declare the same keyword")
UNSPECIFIC = Code("unspecific-description", Severity.WARNING, "a description with hardly a telling word")
DEAD_DESCRIPTION = Code("dead-description", Severity.WARNING, "a description whose own words do not lead to its skill")
ALIKE = Code("alike-descriptions", Severity.WARNING, "the descriptions of two skills have nearly the same words")
COMPETING = Code("competing-skills", Severity.WARNING, "two skills stand in each other's way in the tests")
NEVER_FOUND = Code("never-found", Severity.WARNING, "no test that expects the skill finds it")
UNCLAIMED = Code("unclaimed-query", Severity.WARNING, "nothing is given or offered for a query that expects a skill")
