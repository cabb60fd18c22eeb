"""The compiled index of a set of skills on disk: found by what they say, and taken for it unread (spec 1.3)."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from skillweave.cachefile import CacheFolder, code_key, key_of
from skillweave.packed import Unpackable, pack, unpack
from skillweave.skill import Skill

if TYPE_CHECKING:
    from skillweave.select.lexical_index import LexicalIndex
    from skillweave.select.numbered import TermStore

_CODE = ("arrays", "cachefile", "diagnostics", "formats", "packed", "select", "skill", "text")
"""What decides how skills are indexed and kept."""
_LENGTH = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeptIndex:
    """Where the parts of one index are kept; `key` stands for the skills in their order and for the code."""

    cache: CacheFolder
    key: bytes

    def triggers(self, mode: str, cls: type[T], parts: Sequence[type], gather: Callable[[], T]) -> T:
        """What the triggers of the skills come to in this mode, gathered and kept where that was not done before.

        It is a value of `cls`, made of values of the classes `parts`.
        """
        key, classes = key_of(self.key, mode), (cls, *parts)
        content = self.cache.read("triggers", key)
        if content is not None:
            end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
            with suppress(Unpackable):
                found = unpack(content[_LENGTH:end], content[end:], classes)
                if isinstance(found, cls):
                    return found
        made = gather()
        data, texts = pack(made, classes)
        self.cache.write("triggers", key, (len(data).to_bytes(_LENGTH, "little"), data, texts))
        return made

    def lexical(self, skills: Sequence[Skill], terms: "TermStore | None" = None) -> "LexicalIndex":
        """The index of words of the skills, built and kept where that was not done before."""
        from skillweave.arrays import from_content, to_parts
        from skillweave.select.lexical_index import KEPT, LexicalIndex, build_lexical_index

        content = self.cache.read("words", self.key)
        if content is not None:
            with suppress(Unpackable):
                found = from_content(content, KEPT)
                if isinstance(found, LexicalIndex):
                    return found
        made = build_lexical_index(skills, terms)
        with suppress(Unpackable):  # a word with a line break: the index is as good, it is only not kept
            self.cache.write("words", self.key, to_parts(made, KEPT))
        return made


def kept_for(cache: CacheFolder, skills: Sequence[Skill]) -> KeptIndex | None:
    """Where the index of these skills is kept; None where one of them has no digest to be known by."""
    if not all(skill.digest for skill in skills):
        return None
    return KeptIndex(cache, key_of(code_key(*_CODE), *(part for skill in skills for part in _identity(skill))))


def _identity(skill: Skill) -> tuple[str, ...]:
    # The digest is of the definition alone: these also depend on who read it, how strictly, and from where.
    triggers = skill.triggers
    return (
        *(skill.digest, skill.id, skill.spelling or "", skill.name, skill.description),
        *(skill.origin.location if skill.origin else "", str(len(skill.domain_tags)), str(len(skill.extra))),
        *(repr(list_) for list_ in (triggers.keywords, triggers.verbs, triggers.patterns, triggers.never)),
    )
