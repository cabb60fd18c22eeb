"""What a message says it is not about: `not X`, `instead of X`, `rather than X`, `without X` (spec 2.5)."""

import re
from typing import NamedTuple

LONGEST_BEFORE = 24
"""In so many characters before a `not` the verb is looked for that makes it a complaint."""

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
    rf"(?<![\w-])(?:(?P<instead>{_INSTEAD})|(?P<plain>{_NOT}))"
    rf"(?P<filler>(?: (?:{_FILLER})(?= ))*) [\"'`«“‘/$]?(?=\w)"
)
_COMPLAINT_WORDS = """
does doesn did didn do is are was were will would can could has have had should may might must still just
"""
_COMPLAINT = frozenset(_COMPLAINT_WORDS.split())
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
        before = folded[max(0, match.start() - LONGEST_BEFORE) : match.start()].split()[-2:]
        firm = match["instead"] or articles or _COMPLAINT.isdisjoint(before)
        found.append(Negation(match.end(), bool(firm)))
    return tuple(found)
