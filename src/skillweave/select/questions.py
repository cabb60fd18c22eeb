"""Questions about the skills as such, which call for no skill but for the catalog (spec 2.3)."""

import re
from enum import StrEnum

from skillweave.text.search import fold

LONGEST_QUESTION = 300
"""Characters; a longer message asks for something else."""


class Question(StrEnum):
    """What a message wants to know: which skills there are, which there are about a subject, or every one of them."""

    CAPABILITIES = "capabilities"
    ABOUT = "about"
    ALL_SKILLS = "all-skills"


_SENTENCE_END = re.compile(r"[.!?;:\n\r。！？।]+")
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

_ABOUT = re.compile(
    r"""(?:
      (?: do \s you \s have \s | are \s there \s | have \s you \s got \s )? (?: what | which | any | some ) \s
        (?: of \s (?: the | your ) \s )? SKILLS
        (?: (?: do | can | would ) \s (?: you | we | i ) \s (?: have | offer | know | use | need ) \s
          | (?: are \s )? (?: there \s | available \s )* )
    | (?: list | show | name ) \s (?: me \s | us \s )? (?: all \s )? (?: the \s | your \s )? SKILLS
    | what \s can \s you \s do \s
    ) (?: for | about | on | with | around | regarding | related \s to | to \s do \s with ) \s
      (?! (?: me | us | you | that | this | it ) \s ) (?: \S+ \s ){1,6}""".replace(
        "SKILLS", r"(?: skills? | capabilities ) \s"
    ),
    re.VERBOSE,
)
_IN_OTHER_LANGUAGES = frozenset(
    " ".join(fold(sentence).split())
    for sentence in """
was kannst du | was kannst du alles | was können sie | was kannst du für mich tun | womit kannst du mir helfen
welche skills hast du | welche fähigkeiten hast du | welche skills gibt es | zeig mir deine skills
que peux-tu faire | que sais-tu faire | qu'est-ce que tu peux faire | que pouvez-vous faire
quelles sont tes compétences
qué puedes hacer | que puedes hacer | qué sabes hacer | qué habilidades tienes | cuáles son tus habilidades
cosa puoi fare | cosa sai fare | che cosa puoi fare | quali competenze hai | quali skill hai
o que você pode fazer | o que você sabe fazer | o que podes fazer | quais são suas habilidades
wat kun je | wat kun je doen | wat kan je | welke skills heb je | co potrafisz | co umiesz | co możesz zrobić
ne yapabilirsin | neler yapabilirsin | neler yapabilirsiniz | vad kan du göra | hvad kan du
что ты умеешь | что вы умеете
何ができますか | 何ができるの | 何ができる | どんなことができますか
どんなスキルがありますか | 你能做什么 | 你会做什么 | 你可以做什么
你有哪些技能 | 你会什么 | 뭘 할 수 있어 | 무엇을 할 수 있나요 | 무엇을 할 수 있어요 | 뭐 할 수 있어 | 어떤 스킬이 있어
आप क्या कर सकते हैं | तुम क्या कर सकते हो | ماذا يمكنك أن تفعل
""".replace("\n", " | ").split(" | ")
    if sentence.strip()
)


def question_in(text: str) -> Question | None:
    """What the message asks about the skills as such, None for anything else.

    English in many forms, other languages in the usual ones.

    A whole sentence of the message must be the question: "What can our team do?" and "list the skills in this CV" are
    not about the agent.
    """
    if len(text) > LONGEST_QUESTION:
        return None
    asked = [_question(sentence) for sentence in _SENTENCE_END.split(text)]
    for question in (Question.ALL_SKILLS, Question.CAPABILITIES, Question.ABOUT):
        if question in asked:
            return question
    return None


def _question(sentence: str) -> Question | None:
    words = " ".join([*_WORD.findall(fold(sentence)), ""])
    opening = _OPENING.match(words)
    start = opening.end() if opening else 0
    if _ALL_SKILLS.fullmatch(words, start):
        return Question.ALL_SKILLS
    if _CAPABILITIES.fullmatch(words, start) or " ".join(fold(sentence).strip("¿¡ ").split()) in _IN_OTHER_LANGUAGES:
        return Question.CAPABILITIES
    return Question.ABOUT if _ABOUT.fullmatch(words, start) else None
