"""`$ARGUMENTS`: where a skill's text takes the words of the user who mentioned it (spec 1.1)."""

import re
from dataclasses import replace
from hashlib import sha256

from skillweave.skill import Skill, SkillText

LONGEST_ARGUMENTS = 2_000
"""Characters of a mention's arguments; the rest is cut, and the decision says so."""
MOST_PLACES = 20
"""So many places of one skill are filled; with more of them, a text could grow a thousandfold."""

WORD = "$ARGUMENTS"
PLACE = re.compile(r"(?<!\\)\$ARGUMENTS(?![\w\[])")
"""With `\\` before it the word is meant to be read; `$ARGUMENTS[0]` is a form of other hosts and stays as it is."""


def takes_arguments(skill: Skill) -> bool:
    """Whether the instructions or steps have a place for the user's words."""
    return any(PLACE.search(part) is not None for part in _parts_with_word(skill.text))


def filled(text: SkillText, arguments: str) -> SkillText:
    """The text with the arguments, which may be empty, in the first 20 of its places; others stay as they are."""
    if not _parts_with_word(text):
        return text
    left = MOST_PLACES

    def words(place: re.Match[str]) -> str:
        nonlocal left
        left -= 1
        return arguments if left >= 0 else place[0]

    return replace(
        text,
        instructions=None if text.instructions is None else PLACE.sub(words, text.instructions),
        steps=tuple(PLACE.sub(words, step) for step in text.steps),
    )


def digest_in_use(skill: Skill, arguments: str = "") -> str:
    """The skill's digest, combined with arguments if its text takes them; a record with another one is outdated."""
    # Most turns have no arguments, and this is asked for every skill of every turn: it must cost one call then.
    if not arguments or not takes_arguments(skill):
        return skill.digest
    return sha256(f"{skill.digest}\n{arguments}".encode("utf-8", "surrogatepass")).hexdigest()


def _parts_with_word(text: SkillText) -> list[str]:
    return [part for part in (text.instructions or "", *text.steps) if WORD in part]
