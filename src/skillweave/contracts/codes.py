"""The table of everything that can be said about a JSON Schema, and about a value that is checked against it."""

from skillweave.diagnostics import Severity
from skillweave.frontmatter.codes import Code

SCHEMA_INVALID = Code("schema-invalid", Severity.ERROR, "a JSON Schema against the rules of its draft; not checked")
SCHEMA_DRAFT = Code("schema-draft", Severity.ERROR, "a JSON Schema of a draft that is not known here; not checked")
SCHEMA_REFERENCE = Code("schema-reference", Severity.ERROR, "a reference that leads nowhere; nothing is ever fetched")
SCHEMA_PATTERN = Code("schema-pattern", Severity.ERROR, "a pattern that can't be matched in linear time; not checked")
SCHEMA_TOO_LARGE = Code("schema-too-large", Severity.ERROR, "a JSON Schema beyond the limits; not checked")
MISMATCH = Code("schema-mismatch", Severity.ERROR, "a value that breaks a rule of the schema")
MORE_MISMATCHES = Code("more-mismatches", Severity.ERROR, "more broken rules than are listed one by one")
NOT_JSON = Code("not-json", Severity.ERROR, "no JSON where the schema asks for it")
VALUE_TOO_LARGE = Code("value-too-large", Severity.ERROR, "a value beyond the limits; not checked")
UNFINISHED = Code("check-unfinished", Severity.ERROR, "a check that would take more work than one may; given up")
SEVERAL_BLOCKS = Code("several-json-blocks", Severity.WARNING, "an answer with several JSON blocks; the last is read")
