"""The matcher `mention`: skills that the user asks for as `/skill-id` or `$skill-id` (spec 2.1)."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise

from skillweave.decisions import Evidence
from skillweave.formats.arguments import LONGEST_ARGUMENTS, takes_arguments
from skillweave.select.candidates import MOST_EVIDENCE, Candidate, Rejected, Selection, refusal
from skillweave.select.index import LONGEST_PHRASE
from skillweave.select.matchers import MatchContext, Mention
from skillweave.skill import Skill
from skillweave.text.search import edges_of, fits, fold_message

MATCHER = "mention"

_OPENERS = frozenset("([{\"'`,;!?")
_PATH_LIKE = frozenset("／＼．～＄＠＃")
_OTHER = re.escape("!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~")
_NAME = re.compile(rf"[/$]([^\s{_OTHER}]{{1,{LONGEST_PHRASE}}})")
_GOES_ON = re.compile(r"[-/\\]|[.:?#&=%@+~*$][\w/]", re.ASCII)
"""After a name: the rest of a longer name, of a path, a file or an address."""
_UNKEPT = re.compile("[\0\ud800-\udfff]")
"""NUL and halves of surrogate pairs: the ledger keeps arguments, and not every store can keep these."""


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
    """Return the id that the longest known name at this place stands for, and where that name ends."""
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


class MentionMatcher:
    """The matcher `mention`: what the user mentions, in first-seen order; only a user's message mentions anything.

    What follows the first mention of a skill are its arguments. No `never` phrase vetoes it. An inactive skill, and one
    whose `user-invocable` is false, is rejected; a name that no skill has is ordinary text.
    """

    name, strength, deliberate = MATCHER, 50, True

    def match(self, context: MatchContext) -> Selection:
        """Choose the mentioned skills."""
        mentioned: dict[str, list[Mention]] = {}
        for mention in context.mentions:
            mentioned.setdefault(mention.skill_id, []).append(mention)
        index = context.skills
        chosen: list[Candidate] = []
        rejected: list[Rejected] = []
        for skill_id, mentions in mentioned.items():
            candidate = _candidate(index.snapshot[skill_id], mentions)
            invocation = index.invocation(skill_id)
            closed = None if invocation.by_user else f"its `user-invocable` is false: {invocation.openings(skill_id)}"
            refused = refusal(skill_id, index.snapshot, context.within, closed)
            if refused is None:
                chosen.append(candidate)
            else:
                rejected.append(Rejected(candidate, *refused))
        return Selection(tuple(chosen), tuple(rejected))


def _candidate(skill: Skill, mentions: list[Mention]) -> Candidate:
    evidence = [Evidence(MATCHER, skill.id, mention.start, mention.end) for mention in mentions[:MOST_EVIDENCE]]
    if not takes_arguments(skill):
        return Candidate(skill.id, 1.0, MATCHER, tuple(evidence))
    words = mentions[0].words
    if len(words) > LONGEST_ARGUMENTS:
        evidence.insert(1, Evidence("arguments", f"cut to {LONGEST_ARGUMENTS:,} of {len(words):,} characters"))
        words = words[:LONGEST_ARGUMENTS].rstrip()
    return Candidate(skill.id, 1.0, MATCHER, tuple(evidence[:MOST_EVIDENCE]), _UNKEPT.sub("\ufffd", words))
