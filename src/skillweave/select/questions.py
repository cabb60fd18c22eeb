"""Questions about the skills as such, which call for no skill but for the catalog (spec 2.3)."""

import re
from enum import StrEnum

from skillweave.text.search import fold

LONGEST_QUESTION = 300
"""Characters; a longer message asks for something else."""


class Question(StrEnum):
    """What a message wants to know: which skills there are, or the full documents of all."""

    CAPABILITIES = "capabilities"
    ALL_SKILLS = "all-skills"


_SENTENCE_END = re.compile(r"[.!?;:\n\r]+")
_WORD = re.compile(r"\w+")
# The grammars below read a sentence's folded words, each followed by one space.
_OPENING = re.compile(
    r"""(?:
      (?: hi | hey | hello | ok | okay | so | well | and | but | now | then | please | thanks | also | there ) \s
    | (?: tell | let ) \s (?: me | us ) \s (?: know \s )?
    | do \s you \s know \s | i \s (?: want | would \s like | d \s like ) \s to \s know \s
    | (?: can | could | would ) \s you \s (?: please \s )? (?= (?: tell | list | show | display | print | give ) \s )
    )+""",
    re.VERBOSE,
)
_CLOSING = r"""(?:
      please \s | thanks \s | thank \s you \s | for \s (?: me | us ) \s | here \s | today \s | now \s | right \s now \s
    | exactly \s | actually \s | again \s | at \s all \s | as \s an? \s (?: assistant | agent | ai ) \s
    | in \s (?: this | our ) \s (?: chat | conversation | session ) \s
    )*"""
_CAPABILITIES = re.compile(
    r"""(?:
      what \s (?: all \s | else \s | exactly \s )? (?: can | could ) \s (?: you | u ) \s
        (?: all \s )? (?: do | help (?: \s (?: me | us ) )? (?: \s with )? | offer ) \s
    | what \s (?: all \s | else \s )? (?: you | u ) \s can \s do \s
    | what \s (?: kinds? \s of \s | sorts? \s of \s )? (?: things | tasks ) \s can \s you \s do \s
    | what \s (?: else \s )? are \s you \s (?: able \s to \s do | capable \s of (?: \s doing )? | good \s at ) \s
    | what \s do \s you \s (?: do | offer ) \s
    | what \s can \s (?: i | we ) \s ask (?: \s you )? (?: \s for | \s to \s do | \s about )? \s
    | how \s can \s you \s (?: help | assist ) (?: \s (?: me | us ) )? \s
    | do \s you \s have \s (?: any \s | some \s )? SKILLS
    | (?: what | which ) \s (?: are \s )? (?: all \s )? (?: of \s )? (?: the \s | your \s )? (?: available \s )? SKILLS
        (?: (?: do | can ) \s (?: you | we | i ) \s (?: have | offer | know | use | support | ask \s for ) \s
          | (?: you | we ) \s have \s
          | (?: are \s | is \s )? (?: there \s | available \s | installed \s | loaded \s | active \s )+ )?
    | (?: what | which ) \s features \s do \s you \s (?: have | offer | support ) \s
    | (?: list | show | display | name | print | give ) \s (?: me \s | us \s )? (?: all \s )? (?: of \s )?
        (?: your | the ) \s (?: available \s )? SKILLS
    | (?: list | name ) \s (?: me \s | us \s )? (?: all \s )? (?: available \s )? SKILLS
    | show \s (?: me \s | us \s )? (?: available \s )? SKILLS
    )""".replace("SKILLS", r"(?: skills? | capabilities | abilities ) \s")
    + _CLOSING,
    re.VERBOSE,
)
_ALL_SKILLS = re.compile(
    r"""(?: show | display | print | give | load | open ) \s (?: me \s | us \s )? (?:
      (?: all | every ) \s (?: of \s )? (?: the \s | your \s )? (?: available \s | single \s )?
        skills? \s (?: (?: documents? | documentation | docs? | instructions ) \s )?
    | (?: the \s )? full \s (?: documents | documentation | docs | text ) \s of \s (?: all | every ) \s (?: the \s )?
        skills? \s
    ) (?: in \s full \s )?"""
    + _CLOSING,
    re.VERBOSE,
)


def question_in(text: str) -> Question | None:
    """What the message asks about the skills as such, None for anything else; English only.

    A whole sentence of the message must be the question: "What can our team do?" and "list the skills in this CV" are
    not about the agent.
    """
    if len(text) > LONGEST_QUESTION:
        return None
    asked = [_question(sentence) for sentence in _SENTENCE_END.split(text)]
    for question in (Question.ALL_SKILLS, Question.CAPABILITIES):
        if question in asked:
            return question
    return None


def _question(sentence: str) -> Question | None:
    words = " ".join([*_WORD.findall(fold(sentence)), ""])
    opening = _OPENING.match(words)
    start = opening.end() if opening else 0
    if _ALL_SKILLS.fullmatch(words, start):
        return Question.ALL_SKILLS
    return Question.CAPABILITIES if _CAPABILITIES.fullmatch(words, start) else None
