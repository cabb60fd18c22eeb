"""How skills are selected: matchers, rerankers, embedders, candidates, and the text they read."""

from skillweave.embedders import embedder_of
from skillweave.factory import with_embedder
from skillweave.select.candidates import Candidate, Rejected, Selection
from skillweave.select.index import SkillIndex, build_index
from skillweave.select.matchers import (
    Hindered,
    MatchContext,
    Matchers,
    Prepared,
    PreparingMatcher,
    Thresholds,
    prepare_matchers,
)
from skillweave.select.own_fit import NEVER_SURE, OwnFit
from skillweave.select.reranker import Choice, RerankedMatcher, Reranker
from skillweave.select.selection import DEFAULT, find_matchers, select
from skillweave.text.embedding import Vectors
from skillweave.text.search import BrokenPattern, MatchMode, Pattern, compile_pattern, fold
from skillweave.text.words import LIGHT_WORDS, STOP_WORDS, words_of
from skillweave.tokens.counter import Tiktoken

__all__ = [
    "DEFAULT",
    "LIGHT_WORDS",
    "NEVER_SURE",
    "STOP_WORDS",
    "BrokenPattern",
    "Candidate",
    "Choice",
    "Hindered",
    "MatchContext",
    "MatchMode",
    "Matchers",
    "OwnFit",
    "Pattern",
    "Prepared",
    "PreparingMatcher",
    "Rejected",
    "RerankedMatcher",
    "Reranker",
    "Selection",
    "SkillIndex",
    "Thresholds",
    "Tiktoken",
    "Vectors",
    "build_index",
    "compile_pattern",
    "embedder_of",
    "find_matchers",
    "fold",
    "prepare_matchers",
    "select",
    "with_embedder",
    "words_of",
]
