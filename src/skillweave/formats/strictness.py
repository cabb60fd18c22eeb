"""How much a reader of SKILL.md lets pass (spec 1.2)."""

from enum import Enum


class Strictness(Enum):
    """Lenient loads all that has front matter and a description; strict what the open specification accepts."""

    LENIENT = "lenient"
    STRICT = "strict"
