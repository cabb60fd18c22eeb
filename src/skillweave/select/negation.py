"""What a message says it is not about: `not X`, `instead of X`, `rather than X`, `without X` (spec 2.5)."""

import re
from typing import NamedTuple

LONGEST_BEFORE = 24
"""In so many characters before a `not` the verb is looked for that makes it a complaint."""

_INSTEAD = (
    # English, German, French, Spanish, Portuguese, Italian, Dutch; folded, so accents may be a character or two.
    "instead of|rather than|without"
    "|anstatt|anstelle von|ohne"
    "|au lieu de|plut\\S{1,3}t que"
    "|en lugar de|en vez de|em vez de"
    "|invece di|anzich\\S{1,2}|senza"
    "|in plaats van|zonder"
)
_NOT = "not|nicht|kein(?:e[nrms]?)?|n(?:a|\u00e3|a\u0303)o|niet|geen"
_BESIDE_ARTICLES = "statt|sans|sin|sem|non|pas(?: (?:de|d'|du))?"
"""Words that are others in English: an article of their own language behind them makes them a firm negation."""
_FILLER = (
    "a|an|the|any|my|our|your|this|that|to|use|using|used|with|via|be|it"
    "|der|die|das|den|dem|ein|eine|einen|einem|mit"
    "|le|la|les|un|une|des|el|los|las|una|unos|il|lo|gli|i|o|os|as|um|uma|de|het|een"
)
_NEGATED = re.compile(
    rf"(?<![\w-])(?:(?P<instead>{_INSTEAD})|(?P<plain>{_NOT})|(?P<beside>{_BESIDE_ARTICLES}))"
    rf"(?P<filler>(?: (?:{_FILLER})(?= ))*) [\"'`«“‘/$]?(?=\w)"
)
_COMPLAINT_WORDS = """
does doesn did didn do is are was were will would can could has have had should may might must still just
"""
_COMPLAINT = frozenset(_COMPLAINT_WORDS.split())
_ARTICLES_WORDS = """
der die das den dem ein eine einen einem le la les un une des el los las una unos il lo gli os as um uma
"""
_ARTICLES = frozenset(_ARTICLES_WORDS.split())


class Negation(NamedTuple):
    """Where what is negated begins in the folded text; `firm` is False where it may be none (`does not X`)."""

    start: int
    firm: bool


def negations_in(folded: str) -> tuple[Negation, ...]:
    """Every place of a folded text where something begins that the message is not about."""
    found: list[Negation] = []
    for match in _NEGATED.finditer(folded):
        filler = match["filler"].split()
        before = folded[max(0, match.start() - LONGEST_BEFORE) : match.start()].split()[-2:]
        if before[-1:] == ["why"]:  # "why not X" asks for it
            continue
        if match["beside"]:
            firm = not _ARTICLES.isdisjoint(filler)
        else:
            firm = bool(match["instead"]) or "use" in filler or _COMPLAINT.isdisjoint(before)
        found.append(Negation(match.end(), firm))
    return tuple(found)
