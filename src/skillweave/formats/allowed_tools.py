"""The open specification's `allowed-tools`: `Bash(git add:*) Read`, also with commas (spec 1.2)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

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
    """The tools in the text, parted by spaces or commas; an argument pattern in parentheses stays whole.

    Where parentheses do not match, they part nothing and keep nothing together.
    """
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
