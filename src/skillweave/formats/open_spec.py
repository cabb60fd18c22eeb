"""What the open Agent Skills specification accepts, no more and no less (spec 1.2)."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from skillweave.diagnostics import Diagnostic, Severity
from skillweave.formats import codes
from skillweave.formats.fields import Findings, shown
from skillweave.frontmatter.codes import BLANK_BEFORE_FENCE, BYTE_ORDER_MARK, DUPLICATE_KEY, REPAIRED, Code

MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
SPEC_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""The six fields of the open specification."""

_REFUSED_REPAIRS = frozenset(code.name for code in (BYTE_ORDER_MARK, BLANK_BEFORE_FENCE, DUPLICATE_KEY, REPAIRED))


def check_open_spec(fields: Mapping[str, object], folder: str, findings: Findings) -> None:
    """Reports everything in front matter that the open specification does not allow."""
    for key in fields:
        if key not in SPEC_FIELDS:
            known = ", ".join(SPEC_FIELDS)
            _report(findings, codes.SPEC_FIELD, key, f"is none of {known}", "move it under `metadata` or remove it")
    _check_name(fields.get("name"), folder, findings)
    _check_length(fields, "description", MAX_DESCRIPTION, findings)
    if "compatibility" in fields:
        _check_length(fields, "compatibility", MAX_COMPATIBILITY, findings)
    for key in ("license", "allowed-tools"):
        if key in fields and not isinstance(fields[key], str):
            _report(findings, codes.SPEC_VALUE, key, f"is {shown(fields[key])}, not text", "write one text")
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, Mapping):
        _report(findings, codes.SPEC_VALUE, "metadata", f"is {shown(metadata)}, not a mapping", "write keys with texts")
        return
    for key, value in metadata.items():
        if not isinstance(value, str):
            message = f"holds {shown(value)} under `{key}`, not text"
            _report(findings, codes.SPEC_VALUE, "metadata", message, "write one text")


def by_open_spec(diagnostic: Diagnostic) -> Diagnostic:
    """The finding as strict reading sees it: an error where something was repaired that the open format refuses."""
    return replace(diagnostic, severity=Severity.ERROR) if diagnostic.code in _REFUSED_REPAIRS else diagnostic


def _check_name(name: object, folder: str, findings: Findings) -> None:
    if not isinstance(name, str) or not name.strip():
        _report(findings, codes.SPEC_NAME, "name", "is missing or no text", "write the folder's name")
        return
    normal = unicodedata.normalize("NFKC", name.strip())
    if normal != unicodedata.normalize("NFKC", folder):
        _report(findings, codes.SPEC_NAME, "name", f"is not its folder's, {folder[:100]!r}", "make them equal")
    fault = name_fault(normal)
    if fault is not None:
        fix = "write lowercase letters and digits with single hyphens between"
        _report(findings, codes.SPEC_NAME, "name", fault, fix)


def name_fault(name: str) -> str | None:
    """What the open specification has against a name; None for one that it allows."""
    if len(name) > MAX_NAME:
        return f"has {len(name)} characters; {MAX_NAME} are allowed"
    if name != name.lower():
        return "has capital letters"
    if name.startswith("-") or name.endswith("-") or "--" in name:
        return "has a hyphen at an end or two in a row"
    if not all(character.isalnum() or character == "-" for character in name):
        return "has characters other than letters, digits and hyphens"
    return None


def _check_length(fields: Mapping[str, object], key: str, most: int, findings: Findings) -> None:
    value = fields.get(key)
    if not isinstance(value, str) or not value.strip():
        _report(findings, codes.SPEC_VALUE, key, "is missing, empty or no text", f"write 1 to {most} characters")
    elif len(value) > most:
        message = f"has {len(value)} characters; {most} are allowed"
        _report(findings, codes.SPEC_VALUE, key, message, "shorten it, and move the rest to the body")


def _report(findings: Findings, code: Code, key: str, message: str, fix: str) -> None:
    findings.report(code, (key,), f"`{key[:60]}` {message}", fix)


_SEPARATORS = re.compile(r"[\s,]+")
_UNNESTED = re.compile(r"(?:[^()]|\([^()]*\))*")
_TOOL = re.compile(r"(?:[^\s,()]|\([^()]*\))+")
_PATTERN = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of a text, and whether commas part them, which the open specification does not have."""

    tools: tuple[str, ...]
    commas: bool


def split_tools(text: str) -> ToolList:
    """The tools in the text, split at spaces and commas outside of parentheses that match."""
    if "(" not in text or text.count("(") != text.count(")"):
        return ToolList(tuple(part for part in _SEPARATORS.split(text) if part), "," in text)
    if _UNNESTED.fullmatch(text):
        return ToolList(tuple(_TOOL.findall(text)), "," in _PATTERN.sub("", text))
    cuts = list(_separators(text))
    edges = [-1, *cuts, len(text)]
    parts = (text[start + 1 : end] for start, end in pairwise(edges))
    return ToolList(tuple(part for part in parts if part), any(text[cut] == "," for cut in cuts))


def join_tools(tools: Sequence[str]) -> str | None:
    """The tools as one text, None where reading it back would not give the same tools."""
    text = " ".join(tools)
    return text if split_tools(text) == ToolList(tuple(tools), commas=False) else None


def _separators(text: str) -> Iterator[int]:
    depth = 0
    for index, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif depth <= 0 and (character == "," or character.isspace()):
            yield index
