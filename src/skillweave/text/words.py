"""The words of a text: how it is cut, which of them say nothing, and when two count as the same."""

import re
from collections.abc import Iterator
from itertools import groupby

from skillweave.text.plain import MARKS, lower_words, plain_text
from skillweave.text.search import UNSPACED_RUN, fold

_STOP = """
about above after again all also am an and any are aren as at be because been before being below between both but
by can cannot could couldn did didn do does doesn doing don down during each few for from further get had has hasn
have haven having he her here hers him his how if in into is isn it its itself just let like ll make may me might
more most must my myself need needs no nor not now of off on once only or other our ours out over own please re
really same shall she should shouldn so some such than that the their them then there these they this those through
to too under until up us use used using ve very want wants was wasn we were weren what when where which while who
whom whose why will with won would wouldn you your yours
"""
STOP_WORDS = frozenset(_STOP.split())
"""English words that say nothing about what a message is about; they are neither indexed nor looked for."""
_DROPPED = STOP_WORDS.union("abcdefghijklmnopqrstuvwxyz0123456789")

_WORD = re.compile(f"[\\w{MARKS}]{{2,}}|[^\\W\\d](?:\\+\\+|#)(?!\\w)|[^\\W\\d\x00-\x7f]")
_ASCII_WORD = re.compile(r"[a-z0-9]{2,}|[a-z](?:\+\+|#)(?!\w)")


def words_of(text: str) -> list[str]:
    """The content words of a text, folded, in order: two or more letters or digits, or `c++`, `c#`; no stop words.

    A run of a script without spaces counts as its overlapping pairs of characters.
    """
    plain = plain_text(text)
    if plain is None:
        return list(_mixed_words(text)) if "\n" in text else _folded_words(text)
    cut = lower_words(plain)
    return _folded_words(plain) if cut is None else [word for word in cut if word not in _DROPPED]


def _mixed_words(text: str) -> Iterator[str]:
    # Folding is slow, and most lines of most texts with an accent have none.
    for odd, lines in groupby(text.split("\n"), lambda line: plain_text(line) is None):
        block = "\n".join(lines)
        yield from _folded_words(block) if odd else words_of(block)


def _folded_words(text: str) -> list[str]:
    folded = fold(text).replace("_", " ")
    ascii_only = folded.isascii()
    found = (_ASCII_WORD if ascii_only else _WORD).findall(folded)
    words = [word for word in found if word not in STOP_WORDS]
    if not ascii_only and UNSPACED_RUN.search(folded):
        return [piece for word in words for piece, _, _ in _pieces(word, 0)]
    return words


def word_spans(folded: str) -> dict[str, tuple[int, int]]:
    """The distinct content words of a folded text, each with the span of its first occurrence in that text."""
    text = folded.replace("_", " ")
    ascii_only = text.isascii()
    unspaced = not ascii_only and UNSPACED_RUN.search(text) is not None
    spans: dict[str, tuple[int, int]] = {}
    for match in (_ASCII_WORD if ascii_only else _WORD).finditer(text):
        word = match[0]
        if word in spans or word in STOP_WORDS:
            continue
        if not unspaced:
            spans[word] = match.span()
            continue
        for piece, start, end in _pieces(word, match.start()):
            spans.setdefault(piece, (start, end))
    return spans


def _pieces(word: str, offset: int) -> list[tuple[str, int, int]]:
    """A word with characters of unspaced scripts as pairs of these, the rest of it whole."""
    pieces: list[tuple[str, int, int]] = []
    done = 0
    for run in UNSPACED_RUN.finditer(word):
        start, end = run.span()
        if done < start:
            pieces.append((word[done:start], offset + done, offset + start))
        width = 2 if end - start > 1 else 1
        pieces.extend((word[at : at + width], offset + at, offset + at + width) for at in range(start, end - width + 1))
        done = end
    if done < len(word):
        pieces.append((word[done:], offset + done, offset + len(word)))
    return pieces


_SIBILANT_E = ("sse", "xe", "che", "she", "zze")


def singular(word: str) -> str:
    """The form under which a folded word is compared with others: without the `s` of a plural, and what comes with it.

    A rule of spelling, no dictionary: the form need not be a word (`movies` and `movie` are both `movy`). Words of
    three letters, and an `s` after `s` or `u`, stay as they are.
    """
    if len(word) < 4:
        return word
    stem = word[:-1] if word[-1] == "s" and word[-2] not in "su" else word
    if stem.endswith("ie") and len(stem) > 3:
        return stem[:-2] + "y"
    return stem[:-1] if stem.endswith(_SIBILANT_E) else stem


_LIGHT = """
able across actually ago ah alone already although always amount answer anybody anyone anything anyway around ask asked
asking asks away back bad became become begin behind believe best better big bit body bring brother came care case cases
certain child children come comes coming couple course cut daughter day days dear done door early easy eight else end
ends enough especially even evening ever every everybody everyone everything exactly explain eye eyes fact family far
fast father feel feeling fell felt fine first five follow forget found four friend friends front fun gave general gets
getting give given gives go goes going gone good got great half hand hands happen happened happens happy hard head hear
heard hello help helped helps hey hi high hold home hope hour hours house however hundred idea instead keep keeps kept
kind knew know known knows large last late later least leave left less lets life line little live living long longer
look looked looking looks lost lot lots love low main many matter maybe mean means meant men middle mine minute minutes
moment money month months morning mother move much name named nearly never new next nice night nine nobody none nothing
number often oh ok okay old ones open opposite others ought outside part parts past people perhaps person pick piece
place places point possible problem problems put question questions quick quickly quiet quite rather read ready real
reason remember rest right round run said sat saw say saying says second see seem seemed seems seen sense seven several
short show shows side simple simply since sister sit situation six slow slowly small somebody someone something
sometimes son soon sorry start started starts stay step stick still stood stop straight strange stuff sudden suddenly
suggest sure take taken takes taking talk talked talking tell tells ten thank thanks thing things think thinking third
though thought three time times tired today together told tomorrow tonight took toward tried tries true try trying turn
turned twice two understand unless usual usually various wait walk warm way ways week weeks well went whatever white
whole wife wish within without wonder word words work worked working works world worry worse wrong year years yes
yesterday yet young
"""
LIGHT_WORDS = frozenset(_LIGHT.split())
"""Everyday English words: ranking counts them like others, but sharing them hardly shows that a skill is meant."""
