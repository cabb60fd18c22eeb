"""Which triggers a message hits, and which of them it negates: `not X`, `instead of X` (spec 2.2, 2.5)."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from skillweave.decisions import Evidence
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.select.candidates import MOST_EVIDENCE, Candidate
from skillweave.select.index import IDS, KIND_NAMES, Hit, Kind, TriggerIndex, TriggerMatch
from skillweave.text.search import Folded, fold

MATCHER = "triggers"
LONGEST_QUOTE = 200
"""Characters of a matched text shown in evidence; its span is exact all the same."""
_JOINS = ("-", "_")
_SCORES = {Kind.PATTERN: 1.0, Kind.KEYWORD: 0.8, Kind.VERB: 0.8, Kind.ID: 0.6, Kind.WORD_ID: 0.6}


class Triggered(NamedTuple):
    """Every skill with a hit or a veto, and what of a long message was not looked at."""

    matches: list[TriggerMatch]
    diagnostics: tuple[Diagnostic, ...] = ()


def find_triggers(index: TriggerIndex, message: Folded) -> Triggered:
    """Finds every skill with a hit or a veto, in the order of spec 2.2; those with a veto alone come last.

    A diagnostic says where the message is too long for what is looked for in it.
    """
    hits: dict[int, list[Hit]] = {}
    never = Kind.NEVER
    by_pattern, by_phrase = index.patterns.search(message.original), index.automaton.search(message.text)
    for number, (start, end) in by_pattern.spans.items():
        owners = index.pattern_claims[number]
        length = len(fold(message.original[start:end]))
        hit = Hit(Kind.PATTERN, start, end, length, len(owners))
        for position in owners:
            hits.setdefault(position, []).append(hit)
    for number, (start, end) in by_phrase.spans.items():
        claims = index.claims[number]
        if any(kind in IDS for _, kind in claims) and _is_part(message.text, start, end):
            claims = tuple(claim for claim in claims if claim[1] not in IDS)
            if not claims:
                continue
        first, last = message.span(start, end)
        hit = Hit(claims[0][1], first, last, end - start, len(claims))
        for position, kind in claims:
            if kind is not hit.kind:
                hit = hit._replace(kind=kind)
            hits.setdefault(position, []).append(hit)
    matches = [
        # Nearly all skills have one hit, which needs no sorting.
        TriggerMatch(position, (found[0],))
        if len(found) == 1 and found[0].kind is not never
        else _match(position, found)
        for position, found in hits.items()
    ]
    if len(matches) > 1:
        matches.sort(key=_order)
    whole = by_pattern.read >= len(message.original) and by_phrase.read >= len(message.text)
    return Triggered(matches, () if whole else tuple(_unread(message, by_pattern.read, by_phrase.read)))


def _unread(message: Folded, by_pattern: int, by_phrase: int) -> Iterator[Diagnostic]:
    if by_pattern < len(message.original):
        where = f"the first and the last {by_pattern // 2:,} of the message's {len(message.original):,} characters"
        yield partly_read("patterns", where, "the patterns are large")
    if by_phrase < len(message.text):
        where = f"the first {by_phrase:,} of the message's {len(message.text):,} characters"
        yield partly_read("keywords", where, "it has more than a million places where one stands")


MESSAGE_PARTLY_READ = "message-partly-read"
"""The code of the diagnostic of a turn whose message is too long to be matched whole."""


def partly_read(what: str, where: str, why: str) -> Diagnostic:
    """The finding that a message is too long to be matched whole."""
    return Diagnostic(
        code=MESSAGE_PARTLY_READ,
        severity=Severity.WARNING,
        message=f"the {what} of skills were looked for only in {where}, because {why}",
        fix="put long material into a file or a tool's result, and the request into the message",
    )


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether a place is a part of a longer name: `data-lake` is in `data-lake-export`."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return (before in _JOINS and text[start - 2 : start - 1].isalnum()) or (
        after in _JOINS and text[end + 1 : end + 2].isalnum()
    )


def without_denied(matches: Iterable[TriggerMatch], message: Folded) -> Iterator[TriggerMatch]:
    """The matches without the hits of which the message says that it is not about them (`not X`, `instead of X`).

    An id is denied by every such word, a keyword or verb only where it can't be a complaint (`does not deploy`). What
    a pattern finds is what its author meant.
    """
    negations = negations_in(message.text)
    firm = {message.span(each.start, each.start + 1)[0]: each.firm for each in negations}
    for match in matches:
        denied = [hit for hit in match.hits if hit.start in firm and (firm[hit.start] or hit.kind in IDS)]
        denied = [hit for hit in denied if hit.kind is not Kind.PATTERN]
        if denied:
            match = match._replace(hits=tuple(hit for hit in match.hits if hit not in denied), denied=tuple(denied))
        yield match


def _order(match: TriggerMatch) -> tuple[int, int, int, int, int]:
    return match.order() if match.hits else (9, 0, 0, 0, match.position)


def candidate_of(match: TriggerMatch, skill_id: str, message: Folded) -> Candidate:
    """The candidate that the hits make, with up to eight of them as evidence; a veto is listed first."""
    hits = (*match.vetoes[:1], *match.hits, *match.denied)
    evidence = tuple([evidence_of(hit, message) for hit in hits[:MOST_EVIDENCE]])
    score = _SCORES[match.hits[0].kind] if match.hits else 0.0
    return Candidate(skill_id, score, MATCHER, evidence)


def evidence_of(hit: Hit, message: Folded) -> Evidence:
    """The words that matched, as they stand in the message, and where."""
    kind, start, end = hit.kind, hit.start, hit.end
    if end - start > LONGEST_QUOTE:
        return Evidence(KIND_NAMES[kind], f"{message.original[start : start + LONGEST_QUOTE]}…", start, end)
    return Evidence(KIND_NAMES[kind], message.original[start:end], start, end)


def _match(position: int, found: list[Hit]) -> TriggerMatch:
    found.sort(key=lambda hit: (hit.kind, hit.start, -hit.end))
    declared = [hit for hit in found if hit.kind <= Kind.VERB]
    ids = [hit for hit in found if hit.kind in (Kind.ID, Kind.WORD_ID)]
    vetoes = [hit for hit in found if hit.kind is Kind.NEVER]
    # However many of its spellings occur, the id is one trigger.
    one = [min(ids, key=lambda hit: (hit.kind, -hit.length))] if ids else []
    return TriggerMatch(position, (*declared, *one), tuple(vetoes))


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
