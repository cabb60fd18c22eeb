"""Selection: which skills this turn calls for, ranked and with evidence (spec 2.1)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from skillweave.checking import Checked
from skillweave.decisions import Evidence, Outcome
from skillweave.diagnostics import Diagnostic
from skillweave.dialogue import Message, Role, Turn, latest
from skillweave.errors import SkillweaveError, UnknownMatcher, nearest_names
from skillweave.extensions import Extensions
from skillweave.select import lexical
from skillweave.select.candidates import DENIED, NOT_ALLOWED, VETOED, Candidate, Rejected, Selection, joined, refusal
from skillweave.select.index import Kind, SkillIndex, TriggerMatch
from skillweave.select.matchers import (
    FITTED,
    NOTHING_PREPARED,
    MatchContext,
    Matcher,
    Matchers,
    Mention,
    Prepared,
    Thresholds,
    is_optional,
)
from skillweave.select.mentions import MentionMatcher, find_mentions, without_mentions
from skillweave.select.task import candidates_for
from skillweave.select.triggers import candidate_of, find_triggers, partly_read, without_denied
from skillweave.text.search import MOST_MATCHED, Folded, fold_message, without_middle

EXTENSIONS: Extensions[Callable[[], Matcher]] = Extensions(
    "matchers",
    "matcher",
    built_in={
        "explicit": "skillweave.select.selection:ExplicitMatcher",
        "lexical": "skillweave.select.selection:LexicalMatcher",
        "mention": "skillweave.select.mentions:MentionMatcher",
        "task": "skillweave.select.selection:TaskMatcher",
        "triggers": "skillweave.select.selection:TriggerMatcher",
    },
)
"""The entry points of matchers: the class of a `Matcher`, or another callable without arguments that gives one."""
MARKER = re.compile(r"SKILL_SELECT:([a-zA-Z0-9_-]+)")
LONGEST_ID = 100
MOST_UNKNOWN = 50
"""So many unknown ids of a turn are told one by one; a model that writes more of them is only counted."""
SUGGESTED = 3
"""For so many unknown ids of a turn the nearest known ones are looked up, which is slow among many skills."""

_PATH = re.compile(r"[a-zA-Z0-9_/-]*")


class ExplicitMatcher:
    """The matcher `explicit`: skills asked for by name, by the host or by the model (seed 000).

    A marker in a user or tool message never selects. An unknown id and an inactive skill are rejected, not errors.
    """

    name, strength, deliberate = "explicit", 70, True

    def match(self, context: MatchContext) -> Selection:
        """What the host named, what the model reads by a tool call, then what the latest assistant message marks."""
        index = context.skills
        chosen: list[Candidate] = []
        rejected: list[Rejected] = []
        unknown = 0
        for skill_id, pieces in asked_in(context.turn).items():
            candidate = Candidate(skill_id, 1.0, self.name, tuple(pieces))
            if skill_id not in index.snapshot:
                unknown += 1
                if unknown <= MOST_UNKNOWN:
                    rejected.append(_unknown(candidate, index.snapshot if unknown <= SUGGESTED else ()))
                continue
            # What is closed to the model, no marker and no reading opens, only the host.
            by_model = all(piece.kind != "host" for piece in pieces)
            refused = refusal(skill_id, index.snapshot, context.within, _closed(index, skill_id) if by_model else None)
            if refused is None:
                chosen.append(candidate)
            else:
                rejected.append(Rejected(candidate, *refused))
        if unknown > MOST_UNKNOWN:
            more = f"{unknown - MOST_UNKNOWN} more ids that no skill has are not listed"
            last = max(place for place, one in enumerate(rejected) if one.outcome is Outcome.UNKNOWN)
            rejected[last] = replace(rejected[last], reason=f"{rejected[last].reason}; {more}")
        return Selection(tuple(chosen), tuple(rejected))


class TaskMatcher:
    """The matcher `task`: the skills of every rule that holds for the turn's task.

    Stops no other matcher, `lexical` included: the task is the same in every turn, while each message of it may call
    for something else.
    """

    name, strength, deliberate = "task", 40, True

    def match(self, context: MatchContext) -> Selection:
        """What the rules give; a rule of which one skill cannot be given gives none."""
        task, index = context.turn.task, context.skills
        return Selection() if task is None else candidates_for(task, index.task_rules, index.snapshot, context.within)


class TriggerMatcher:
    """The matcher `triggers`: declared keywords, verbs, patterns, and ids; a `never` phrase vetoes."""

    name, strength, deliberate = "triggers", 20, False

    def match(self, context: MatchContext) -> Selection:
        """Every skill that a trigger speaks for, in the order of spec 2.2.

        Where `lexical` takes part too, an id of one word is only evidence for it; alone, every id selects.
        """
        message, within = context.message, context.within
        if message is None:
            return Selection()
        chosen: list[Candidate] = []
        rejected: list[Rejected] = []
        words_decide = not lexical.MATCHERS_OF_WORDS.isdisjoint(context.matchers)
        for match in context.triggered:
            decisive = match.hits or match.denied
            if not decisive or (decisive[0].kind is Kind.WORD_ID and words_decide):
                continue
            candidate = candidate_of(match, context.skills.active[match.position].id, message)
            if not match.hits:
                rejected.append(Rejected(candidate, Outcome.VETOED, DENIED))
            elif match.vetoes:
                rejected.append(Rejected(candidate, Outcome.VETOED, VETOED))
            elif within is not None and candidate.skill_id not in within:
                rejected.append(Rejected(candidate, Outcome.UNREACHABLE, NOT_ALLOWED))
            else:
                chosen.append(candidate)
        return Selection(tuple(chosen), tuple(rejected))


class LexicalMatcher:
    """The matcher `lexical`: the best ranked skills, where no marker, mention, host or declared trigger chose any."""

    name, strength, deliberate = lexical.MATCHER, 10, False

    def match(self, context: MatchContext) -> Selection:
        """What shared words say; an id in ordinary words is evidence for them."""
        return lexical.match_message(context)


_BUILT_IN: tuple[Matcher, ...] = (
    ExplicitMatcher(),
    MentionMatcher(),
    TaskMatcher(),
    TriggerMatcher(),
    LexicalMatcher(),
)
MATCHERS: Mapping[str, Matcher] = MappingProxyType({one.name: one for one in _BUILT_IN})
"""The built-in matchers by name, strongest first; they are entry points too, but are not looked up as such."""
DEFAULT = ("explicit", "task", "triggers", "lexical")
"""Without `mention`: not every host means a skill when its user writes a `/` or a `$`."""

_STRENGTHS = {"host": 60, "graph": 30, "hybrid": 10, **{one.name: one.strength for one in _BUILT_IN}}
"""Of everyone who engages skills; the host and the graph are not matchers, but stand in stored States beside them."""
_DECISIONS = frozenset({"host", "graph", *(one.name for one in _BUILT_IN if one.deliberate)})


def select(
    index: SkillIndex,
    turn: Turn,
    *,
    within: frozenset[str] | None = None,
    matchers: Matchers | Sequence[str | Matcher] = DEFAULT,
    prepared: Prepared = NOTHING_PREPARED,
    thresholds: Thresholds = FITTED,
) -> Selection:
    """The skills that a turn calls for, best first, those to offer, and those that were rejected, each with evidence.

    Every skill stands in at most one of the three. `thresholds` are from which probability on skills are given and
    offered. `within` limits what can be chosen. `prepared` is what
    `prepare_matchers` gave for this turn; a matcher that should have prepared and has not is not asked. Pure: it knows
    nothing of what was given before, and the same input gives the same output under any hash seed.

    Raises:
        UnknownMatcher: a name in `matchers` is not a matcher's.
    """
    if not isinstance(matchers, Matchers):
        matchers = find_matchers(matchers)
    mentions: tuple[Mention, ...] = ()
    triggered: tuple[TriggerMatch, ...] = ()
    message: Folded | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    if turn.message.role is Role.USER:
        said = turn.message.text
        if MentionMatcher.name in matchers.names:
            mentions = find_mentions(said, index.mention_names())
        # Markers and mentions address skills: neither is a word about anything.
        said = MARKER.sub(_blank, said)
        said = without_mentions(said, mentions) if mentions else said
        message = fold_message(without_middle(said))
        found = find_triggers(index.triggers, message)
        triggered = tuple(without_denied(found.matches, message))
        diagnostics = found.diagnostics if len(said) <= MOST_MATCHED else (_passed_over(said), *found.diagnostics)
    chosen: dict[str, Candidate] = {}
    offered: dict[str, Candidate] = {}
    rejected: dict[str, Rejected] = {}
    goes_on = False
    for matcher in matchers.asked:
        name = matcher.name
        if matcher in matchers.preparing and name not in prepared.values and name not in matchers.unprepared:
            continue
        so_far = tuple(chosen.values())
        own = prepared.values.get(name)
        context = MatchContext(
            index, turn, within, matchers.names, message, triggered, so_far, mentions, own, thresholds
        )
        answer = matcher.match(context)
        if name not in MATCHERS:
            answer = _within_rules(answer, matcher, context)
        for candidate in answer.chosen:
            known = chosen.get(candidate.skill_id)
            chosen[candidate.skill_id] = joined(known, candidate) if known else candidate
        for candidate in answer.offered:
            offered.setdefault(candidate.skill_id, candidate)
        for refused in answer.rejected:
            rejected.setdefault(refused.candidate.skill_id, refused)
        goes_on = goes_on or answer.goes_on
    selection = _in_order(chosen, offered, rejected, thresholds.offer_most)
    goes_on = goes_on and not chosen
    return replace(selection, diagnostics=diagnostics, goes_on=goes_on) if diagnostics or goes_on else selection


def _passed_over(said: str) -> Diagnostic:
    where = f"the first and the last {MOST_MATCHED // 2:,} of the message's {len(said):,} characters"
    return partly_read("words", where, f"no more than {MOST_MATCHED:,} are matched")


def _in_order(
    chosen: Mapping[str, Candidate], offered: Mapping[str, Candidate], rejected: dict[str, Rejected], most: int
) -> Selection:
    """Every skill once: what is chosen is not offered too, and what is offered beyond `most` is rejected."""
    shown = [candidate for skill_id, candidate in offered.items() if skill_id not in chosen]
    for candidate in shown[most:]:
        reason = f"offer_most is {most}, and others are likelier"
        rejected[candidate.skill_id] = Rejected(candidate, Outcome.OVER_LIMIT, reason)
    seen = chosen.keys() | {candidate.skill_id for candidate in shown[:most]}
    left = (refused for skill_id, refused in rejected.items() if skill_id not in seen)
    return Selection(tuple(chosen.values()), tuple(left), tuple(shown[:most]))


def find_matchers(given: Iterable[str | Matcher]) -> Matchers:
    """The matchers of these names, and those that are given themselves, as one value, strongest first.

    A name is a built-in matcher's or that of an entry point in the group `skillweave.matchers`; what was found is kept
    and given again for the same names and objects.

    Raises:
        InvalidValue: no list is given.
        UnknownMatcher: nothing installed has that name.
        SkillweaveError: a matcher cannot be loaded, has no name, strength or method `match` as it should, or has a
            name that another one has.
    """
    several = Checked("Weaver").listed("matchers", given, "names and matchers, such as ['triggers', 'lexical']")
    try:
        return _kept(several)
    except TypeError:  # one of them cannot be hashed
        return _together(several)


def matcher_names() -> tuple[str, ...]:
    """The names of all matchers that are installed: the built-in ones strongest first, then the others sorted."""
    return tuple(dict.fromkeys((*MATCHERS, *EXTENSIONS.names())))


@lru_cache(maxsize=64)
def _kept(given: tuple[str | Matcher, ...]) -> Matchers:
    return _together(given)


def _together(given: Iterable[str | Matcher]) -> Matchers:
    found: dict[str, Matcher] = {}
    for one in given:
        matcher = (MATCHERS.get(one) or _guest(one)) if isinstance(one, str) else one
        if matcher not in _BUILT_IN:
            _require_sound(matcher)
        if found.setdefault(matcher.name, matcher) is not matcher:
            raise SkillweaveError(f"two matchers are named {matcher.name!r}; leave one out")
    asked = tuple(sorted(found.values(), key=lambda matcher: -matcher.strength))
    preparing: list[Any] = [matcher for matcher in asked if hasattr(matcher, "prepare")]
    deliberate = (name for name, matcher in found.items() if matcher.deliberate)
    return Matchers(
        asked=asked,
        names=tuple(matcher.name for matcher in asked),
        preparing=tuple(preparing),
        strengths=MappingProxyType(_STRENGTHS | {name: matcher.strength for name, matcher in found.items()}),
        decisions=_DECISIONS.union(deliberate),
        unprepared=frozenset(one.name for one in preparing if is_optional(one)),
    )


def _guest(name: str) -> Matcher:
    known = matcher_names()
    if name not in known:
        raise UnknownMatcher(name, known)
    matcher = EXTENSIONS.make(name, lambda make: make())
    if matcher.name != name:
        raise SkillweaveError(f"the matcher of entry point {name!r} calls itself {matcher.name!r}; give both one name")
    return matcher


def _require_sound(matcher: Matcher) -> None:
    """Raise SkillweaveError for a guest that does not declare what a matcher declares."""
    if isinstance(matcher, type):
        raise SkillweaveError(f"the class {matcher.__name__} is given as a matcher; give what it makes")
    name = getattr(matcher, "name", None)
    if not isinstance(name, str) or not name.isprintable() or not name.strip():
        raise SkillweaveError(f"a matcher of type {type(matcher).__name__} has no name; give it a text as `name`")
    if name in _STRENGTHS and not _is_hybrid(matcher):
        raise SkillweaveError(f"a matcher is named {name!r}, as something built in is; give it another name")
    strength = getattr(matcher, "strength", None)
    if not isinstance(strength, int) or isinstance(strength, bool) or strength <= 0:
        raise SkillweaveError(f"matcher {name!r} has strength {strength!r}; give a whole number above 0")
    if not isinstance(getattr(matcher, "deliberate", None), bool):
        raise SkillweaveError(f"matcher {name!r} does not say whether it is `deliberate`; give True or False")
    if not callable(getattr(matcher, "match", None)):
        raise SkillweaveError(f"matcher {name!r} has no method `match`; give it `match(context)`")


def _is_hybrid(matcher: Matcher) -> bool:
    """Whether it is the matcher of words and vectors, which is ours, but is made anew for each embedder."""
    from skillweave.select.hybrid import HybridMatcher

    return isinstance(matcher, HybridMatcher)


def _within_rules(answer: Selection, matcher: Matcher, context: MatchContext) -> Selection:
    """Take out of a guest's answer what nobody may choose in this turn; built-in matchers do so themselves."""
    index = context.skills
    vetoed = {index.active[match.position].id for match in context.triggered if match.vetoes}
    chosen: list[Candidate] = []
    offered: list[Candidate] = []
    rejected: list[Rejected] = []
    for candidate, into in [*((one, chosen) for one in answer.chosen), *((one, offered) for one in answer.offered)]:
        skill_id = candidate.skill_id
        closed = None if matcher.deliberate else _closed(index, skill_id)
        refused = refusal(skill_id, index.snapshot, context.within, closed)
        if refused is None and skill_id in vetoed and not matcher.deliberate:
            refused = Outcome.VETOED, VETOED
        if refused is None:
            into.append(candidate)
        else:
            rejected.append(Rejected(replace(candidate, skill_id=skill_id[:LONGEST_ID]), *refused))
    return Selection(tuple(chosen), (*rejected, *answer.rejected), tuple(offered))


def asked_in(turn: Turn) -> Mapping[str, Sequence[Evidence]]:
    """Return the ids that the host named, the model reads or its latest message marks, in that order, with evidence."""
    asked: dict[str, list[Evidence]] = {}
    for skill_id in dict.fromkeys(turn.named):
        asked.setdefault(skill_id, []).append(Evidence("host", skill_id[:LONGEST_ID]))
    for read in turn.reads:
        asked.setdefault(read.skill_id, []).append(Evidence("read", read.skill_id[:LONGEST_ID]))
    message = turn.message
    spoken = message if message.role is Role.ASSISTANT else latest(Role.ASSISTANT, turn.transcript or ())
    for skill_id, evidence in _marked(spoken) if spoken else ():
        pieces = asked.setdefault(skill_id, [])
        if all(piece.kind != evidence.kind for piece in pieces):
            pieces.append(evidence)
    return asked


def _marked(message: Message) -> Iterator[tuple[str, Evidence]]:
    """Yield each marker's id and place; with a `/` right after it the id is a path, which is no skill's id."""
    text = message.text or ""
    for match in MARKER.finditer(text):
        end = match.end()
        if text.startswith("/", end):
            path = _PATH.match(text, end, end + LONGEST_ID)
            end = path.end() if path else end
        yield text[match.start(1) : end], Evidence("marker", text[match.start() : end][:LONGEST_ID], match.start(), end)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _closed(index: SkillIndex, skill_id: str) -> str | None:
    """Return why neither the model nor a match of words may select the skill; None where they may."""
    invocation = index.invocation(skill_id)
    return None if invocation.by_model else f"its `disable-model-invocation` is true: {invocation.openings(skill_id)}"


def _unknown(candidate: Candidate, known: Iterable[str]) -> Rejected:
    reason = "no skill has this id"
    if near := nearest_names(candidate.skill_id, known):
        reason += f"; did you mean {' or '.join(repr(name) for name in near)}?"
    shown = replace(candidate, skill_id=candidate.skill_id[:LONGEST_ID])
    return Rejected(shown, Outcome.UNKNOWN, reason)
