"""How a skill's rules spell a tool: `Tool`, `Tool(prefix:*)`, `Tool(exact)`, `mcp__server__*` (spec 4.3)."""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class Form(StrEnum):
    """What an entry covers: the whole tool, calls whose text begins so or is so; `broken` cannot be read."""

    TOOL = "tool"
    PREFIX = "prefix"
    EXACT = "exact"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One entry of a tool list; a `tool` that ends in `*` stands for all tools whose names begin so."""

    tool: str
    form: Form = Form.TOOL
    argument: str = ""

    def names(self, tool: str) -> bool:
        """Whether the entry is about that tool."""
        return tool.startswith(self.tool[:-1]) if self.tool.endswith("*") else tool == self.tool


@lru_cache(maxsize=4096)
def read_entry(text: str) -> ToolEntry:
    """The entry that the text spells; never fails: what cannot be read is `broken`, allows nothing, forbids its tool.

    `Tool(prefix *)` and `Tool(*)`, which public skills use, are read as `Tool(prefix:*)` and `Tool(:*)`.
    """
    name, parenthesis, rest = text.strip().partition("(")
    name = name.rstrip()
    stem, star, tail = name.partition("*")
    argument = rest[:-1].strip() if rest.endswith(")") else ""
    if not name or tail or (parenthesis and (star or not argument)):
        return ToolEntry(stem + star, Form.BROKEN)
    if not parenthesis:
        return ToolEntry(name)
    if argument == "*" or argument.endswith((":*", " *")):
        return ToolEntry(name, Form.PREFIX, argument[:-2].rstrip())
    return ToolEntry(name, Form.EXACT, argument)
