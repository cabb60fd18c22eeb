"""The table of everything that can be said about a skill's definition."""

from collections.abc import Mapping
from types import MappingProxyType

from skillweave.diagnostics import Severity
from skillweave.frontmatter.codes import TEXT_CODES, Code

FRONT_MATTER_GUESSED = Code(
    "frontmatter-guessed",
    Severity.WARNING,
    "no front matter; the heading, the first paragraph and the folder's name are taken for it",
)
NAME_MISSING = Code("name-missing", Severity.WARNING, "no name is given; the folder's name is taken")
NAME_DIFFERS = Code("name-differs", Severity.WARNING, "the name is not the folder's; the name counts")
NAME_TOO_LONG = Code("name-too-long", Severity.WARNING, "a name over the 64 characters of the open specification")
ID_REPAIRED = Code("id-repaired", Severity.WARNING, "a name that is not an id was made one; its spelling is kept")
ID_TOO_LONG = Code("id-too-long", Severity.ERROR, "an id over 100 characters is refused")
DESCRIPTION_TOO_LONG = Code(
    "description-too-long", Severity.WARNING, "a description over the 1024 characters of the open specification; kept"
)
TOOLS_RESPELLED = Code("tools-respelled", Severity.WARNING, "`allowed-tools` is a list or has commas; read as meant")
OPEN_HOST = Code("open-host", Severity.ERROR, "an allowing tool entry with a `*` in an address's host; left out")
KEPT_AS_EXTRA = Code("kept-as-extra", Severity.WARNING, "a field of an unexpected type; kept, but means nothing here")
COMMAND_IN_BODY = Code("command-in-body", Severity.WARNING, "a !`command` in the body, which is never run")
HOST_KEY = Code("host-key", Severity.WARNING, "a host key whose value means nothing; read the safer way")
MANY_ARGUMENTS = Code("many-arguments", Severity.WARNING, "more places for $ARGUMENTS than are filled")
CONTROL_CHARACTERS = Code("control-characters", Severity.WARNING, "NUL characters in the body; kept")
FIELD_MISSING = Code("field-missing", Severity.ERROR, "a field without which the definition means nothing")
BAD_VALUE = Code("bad-value", Severity.ERROR, "a value of the wrong type or outside its choices; left out")
EMPTY_ITEM = Code("empty-item", Severity.ERROR, "an empty entry in a list of names or triggers; left out")
NOT_A_LIST = Code("not-a-list", Severity.WARNING, "one text where a list is expected; read as a list of one")
NOT_TEXT = Code("not-text", Severity.WARNING, "a number or truth value where text is expected; read as text")
MISSPELLED_KEY = Code("misspelled-key", Severity.WARNING, "a key that means nothing and looks like one that does")
MISPLACED_KEY = Code(
    "misplaced-key", Severity.WARNING, "a key that means something under `x-skillweave`, at the top of front matter"
)
UNKNOWN_KEY = Code("unknown-key", Severity.WARNING, "a key inside a mapping of ours that means nothing")
FIELD_TWICE = Code("field-twice", Severity.WARNING, "a field given in two places; the inner one counts")
AGENT = Code("bad-agent", Severity.ERROR, "an agent that cannot be used as it is written; left out as a whole")
TASK_RULE = Code("task-rule", Severity.ERROR, "a task rule that cannot be used as it is written; left out as a whole")
CONTEXT = Code("bad-context", Severity.ERROR, "a part of `context:` that cannot be used; left out as a whole")
GRAPH = Code("bad-graph", Severity.ERROR, "a skill graph that cannot be read; left out as a whole")
SPEC_FIELD = Code("spec-field", Severity.ERROR, "strict: a field that the open specification does not have")
SPEC_NAME = Code("spec-name", Severity.ERROR, "strict: a name that the open specification does not allow")
SPEC_VALUE = Code("spec-value", Severity.ERROR, "strict: a value that the open specification does not allow")

FIELD_CODES = tuple(code for code in tuple(globals().values()) if isinstance(code, Code))
"""Every code of this table."""
CODES: Mapping[str, Code] = MappingProxyType({code.name: code for code in (*TEXT_CODES, *FIELD_CODES)})
"""Every code by its name: those of the text (fences, YAML) and those of the fields."""
