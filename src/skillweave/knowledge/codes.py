"""The table of what can be said about the entity of a turn, and about the rules for its context as a whole."""

from skillweave.diagnostics import Severity
from skillweave.frontmatter.codes import Code

ENTITY_UNKNOWN = Code("entity-unknown", Severity.WARNING, "a turn names an entity that nobody knows")
ENTITY_AMBIGUOUS = Code("entity-ambiguous", Severity.WARNING, "a turn names an entity by a name that several have")
ENTITY_UNAVAILABLE = Code("entity-unavailable", Severity.WARNING, "what knows the entities did not answer in time")
ENTITY_OVERRULED = Code("entity-overruled", Severity.WARNING, "the message names another entity than the memory does")
CONTEXT_INCOMPLETE = Code("entity-context-incomplete", Severity.WARNING, "not all that is known of an entity came")
NO_RULES = Code("entities-without-context", Severity.WARNING, "entities are known, but no source says what is shown")
NO_TAGS = Code("context-unknown-tag", Severity.INFO, "a domain tag of a skill of which `context: tags` says nothing")
UNREADABLE = Code("context-unreadable", Severity.ERROR, "a source gives rules of entity context that cannot be read")
