"""What a message says it is not about: `not X`, `instead of X`, `rather than X`, `without X` (spec 2.5)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

LONGEST_NAMED = 3
"""So many words after a negation are what it speaks of; fewer where the clause ends or an empty word stands between."""

_INSTEAD = (
    # English, German, French, Spanish, Portuguese, Italian, Dutch; folded, so accents may be a character or two.
    "instead of|rather than|without|other than|except(?: for)?|apart from"
    "|anstatt|statt|anstelle von|ohne|ausser"
    "|au lieu de|plut\\S{1,3}t que|sans|sauf"
    "|en lugar de|en vez de|em vez de|sin|sem|excepto|exceto"
    "|invece di|anzich\\S{1,2}|senza|tranne"
    "|in plaats van|zonder|behalve"
)
_NOT = "not|nicht|kein(?:e[nrms]?)?|pas(?: (?:de|d'|du))?|n\\S{1,3}o|non|niet|geen"
_FILLER = (
    "a|an|the|any|my|our|your|this|that|to|use|using|used|with|via|in|on|for|of|from|be|it"
    "|der|die|das|den|dem|ein|eine|einen|einem|mit"
    "|le|la|les|un|une|des|el|los|las|una|unos|il|lo|gli|i|o|os|as|um|uma|de|het|een"
)
_NEGATED = re.compile(
    rf"(?<![\w-])(?:(?P<instead>{_INSTEAD})|(?P<before>\S+ )?(?P<plain>{_NOT}))"
    rf"(?P<filler>(?: (?:{_FILLER})(?= ))*) [\"'`«“‘/$]?(?=\w)"
)
_COMPLAINT_WORDS = """
does doesn did didn do is are was were will would can could has have had should may might must still just
"""
_COMPLAINT = frozenset(_COMPLAINT_WORDS.split())
_WORD = re.compile(r"\w[\w'-]*")
_ARTICLES_WORDS = """
a an the any my our your der die das ein eine un une el la los las il lo um uma een het
"""
_ARTICLES = frozenset(_ARTICLES_WORDS.split())


class Negation(NamedTuple):
    """Where what is negated begins in the folded text; `firm` is False where it may be a complaint (`does not X`)."""

    start: int
    firm: bool


def negations_in(folded: str) -> tuple[Negation, ...]:
    """Every place of a folded text where something begins that the message is not about."""
    found: list[Negation] = []
    for match in _NEGATED.finditer(folded):
        articles = _ARTICLES.intersection(match["filler"].split())
        before = (match["before"] or "").strip()
        found.append(Negation(match.end(), bool(match["instead"] or articles or before not in _COMPLAINT)))
    return tuple(found)


def words_negated(folded: str, negations: Iterable[Negation], empty: frozenset[str]) -> frozenset[str]:
    """The words that firm negations speak of: those that follow at once, up to a mark or an `empty` word."""
    words: set[str] = set()
    for negation in negations:
        if not negation.firm:
            continue
        at = negation.start
        for _ in range(LONGEST_NAMED):
            match = _WORD.match(folded, at)
            if match is None or match[0] in empty:
                break
            words.update(part for part in re.split(r"[-_']", match[0]) if part)
            at = match.end() + 1
            if folded[match.end() : at] != " ":
                break
    return frozenset(words)
