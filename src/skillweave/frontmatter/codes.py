"""What can be wrong with a file before anybody asks what its fields mean."""

from dataclasses import dataclass

from skillweave.diagnostics import Diagnostic, Location, Severity

MAX_FILE_BYTES = 1024 * 1024
"""A SKILL.md over this size is refused (spec 1.2)."""


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding: its stable `name`, how much is lost by it, and what it means."""

    name: str
    severity: Severity
    meaning: str

    def found(self, location: Location, message: str, fix: str) -> Diagnostic:
        """The diagnostic that this was found at that place."""
        return Diagnostic(code=self.name, severity=self.severity, message=message, fix=fix, location=location)


FILE_TOO_LARGE = Code("file-too-large", Severity.ERROR, "a file over 1 MiB is not read")
NOT_UTF8 = Code("not-utf-8", Severity.ERROR, "bytes that are not UTF-8; an encoding is never guessed")
BYTE_ORDER_MARK = Code("byte-order-mark", Severity.WARNING, "a UTF-8 byte order mark at the start was removed")
CRLF = Code("crlf", Severity.INFO, "Windows line ends were read as plain ones")
BLANK_BEFORE_FENCE = Code("blank-before-fence", Severity.WARNING, "blank lines before the first fence were skipped")
NO_FRONT_MATTER = Code("frontmatter-missing", Severity.ERROR, "the file does not begin with a `---` line")
UNCLOSED = Code("frontmatter-unclosed", Severity.ERROR, "no second `---` line ends the front matter")
FRONT_MATTER_TOO_LARGE = Code("frontmatter-too-large", Severity.ERROR, "front matter over 64 KiB is not read")
NOT_A_MAPPING = Code("not-a-mapping", Severity.ERROR, "the YAML or JSON is not a mapping of keys to values")
REPAIRED = Code("frontmatter-repaired", Severity.WARNING, "a value that needed quotes (a colon in it) was read as text")
TOO_MANY_REPAIRS = Code(
    "frontmatter-too-many-repairs", Severity.ERROR, "more values need quotes than are repaired in a text of that size"
)
DUPLICATE_KEY = Code("duplicate-key", Severity.WARNING, "a key appears twice; the first one counts")
YAML_INVALID = Code("yaml-invalid", Severity.ERROR, "the text is not YAML, or not of the plain kind that is read here")
YAML_ALIAS = Code("yaml-alias", Severity.ERROR, "YAML anchors and aliases are refused")
YAML_TAG = Code("yaml-tag", Severity.ERROR, "YAML tags are refused")
YAML_TOO_DEEP = Code("yaml-too-deep", Severity.ERROR, "lists and mappings nested deeper than the limit are refused")
YAML_TOO_LARGE = Code("yaml-too-large", Severity.ERROR, "a document with more text or values than the limit is refused")
JSON_INVALID = Code("json-invalid", Severity.ERROR, "the text is not JSON")

TEXT_CODES = tuple(code for code in tuple(globals().values()) if isinstance(code, Code))
"""Every code of this package, for the table of all codes."""
