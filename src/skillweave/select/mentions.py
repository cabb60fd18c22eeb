"""Finding `/skill-id` and `$skill-id` in what a user wrote, and the words that follow them (spec 2.1)."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from skillweave.select.trigger_index import LONGEST_PHRASE, spellings
from skillweave.skill import Skill
from skillweave.text.boundary import edges_of, fits
from skillweave.text.folding import fold, fold_message

_OPENERS = frozenset("([{\"'`,;!?")
_PATH_LIKE = frozenset("／＼．～＄＠＃")
_OTHER = re.escape("!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~")
_NAME = re.compile(rf"[/$]([^\s{_OTHER}]{{1,{LONGEST_PHRASE}}})")
_GOES_ON = re.compile(r"[-/\\]|[.:?#&=%@+~*$][\w/]", re.ASCII)
"""After a name: the rest of a longer name, of a path, a file or an address."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A skill that the user named, where in the message, and all that follows up to the next mention, stripped."""

    skill_id: str
    start: int
    end: int
    words: str


def names_of(skills: Iterable[Skill]) -> Mapping[str, str]:
    """The ids of skills by every folded name that a mention may use: the id, and its spellings.

    An id goes before another skill's spelling, an active skill before one that is not.
    """
    ranked = sorted(skills, key=lambda skill: not skill.status.selectable)
    names = {skill.id: skill.id for skill in ranked}  # where two ids differ in their capitals, each is itself
    for skill in ranked:
        names.setdefault(fold(skill.id), skill.id)
    for skill in ranked:
        for spelling in spellings(skill):
            names.setdefault(spelling, skill.id)
    return MappingProxyType(names)


def find_mentions(text: str, names: Mapping[str, str]) -> tuple[Mention, ...]:
    """Every mention of one of these names, in the order of the text; linear in its length.

    A mention stands at the start or after white space, an opening bracket, a quote or a mark that ends a clause, and
    its name ends where the word ends. Paths and addresses (`/usr/bin/run`, `a/b`, `http://x/run`) hold none, nor do
    names of variables (`$HOME`).
    """
    if "/" not in text and "$" not in text:
        return ()
    found: list[tuple[str, int, int]] = []
    for match in _NAME.finditer(text):
        start = match.start()
        named = _longest_name(text, match, names) if _may_begin(text, start) else None
        if named is not None and not _is_variable(text[start : named[1]]):
            found.append((named[0], start, named[1]))
    following = [*(start for _, start, _ in found), len(text)][1:]
    return tuple(
        Mention(skill_id, start, end, text[end:until].strip())
        for (skill_id, start, end), until in zip(found, following, strict=True)
    )


def without_mentions(text: str, mentions: Sequence[Mention]) -> str:
    """The text with spaces in place of mentions: they address a skill, and are no words about anything."""
    if not mentions:
        return text
    places = [(0, 0), *((mention.start, mention.end) for mention in mentions), (len(text), len(text))]
    return "".join(" " * (end - start) + text[end:following] for (start, end), (following, _) in pairwise(places))


def _may_begin(text: str, at: int) -> bool:
    if at == 0:
        return True
    before = text[at - 1]
    if before.isascii():
        return before.isspace() or before in _OPENERS
    return before.isspace() or (unicodedata.category(before)[0] in "PS" and before not in _PATH_LIKE)


def _is_variable(mention: str) -> bool:
    """After a `$`, variables of the environment are written in capitals, parameters and sums of money in digits."""
    return mention[0] == "$" and not any(character.isalpha() and not character.isupper() for character in mention)


def _longest_name(text: str, match: re.Match[str], names: Mapping[str, str]) -> tuple[str, int] | None:
    """The id that the longest known name at this place stands for, and where that name ends."""
    begin = match.start(1)
    folded = fold_message(match[1])
    for length in range(min(len(folded.text), LONGEST_PHRASE), 0, -1):
        name = folded.text[:length]
        if name not in names:
            continue
        end = begin + folded.span(length - 1, length)[1]
        whole = length == len(folded.text) or folded.span(length, length + 1)[0] >= end - begin
        if whole and fits(text, begin, end, edges_of(name)) and _GOES_ON.match(text, end) is None:
            return names.get(text[begin:end], names[name]), end
    return None
