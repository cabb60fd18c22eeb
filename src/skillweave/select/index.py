"""What a snapshot needs to be searched, compiled once: its triggers, ids and, on demand, its words (spec 1.3, 2.2)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillweave.cachefile import CacheFolder, code_key, key_of
from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.formats.host_keys import BY_ALL, Invocation, invocation_of
from skillweave.registry import Snapshot
from skillweave.select.task import check_task_rules
from skillweave.select.trigger_limits import MOST_PHRASES, GatheredPatterns, about, too_many_phrases
from skillweave.skill import Skill
from skillweave.task import TaskRule
from skillweave.text.search import (
    Automaton,
    MatchMode,
    Patterns,
    compile_automaton,
    compile_patterns,
    fold,
)
from skillweave.text.stems import inflected
from skillweave.text.words import STOP_WORDS

if TYPE_CHECKING:
    from skillweave.select.lexical_index import LexicalIndex
    from skillweave.select.numbered import TermStore

LONGEST_PHRASE = 500
"""Folded characters of a keyword: a longer one is a mistake, and repeats inside it make the automaton slow to build."""
MOST_NARROWED = 256
"""So many different limits of what may be chosen are remembered."""
_CODE = ("cachefile", "diagnostics", "formats", "select", "skill", "text")
"""What decides how skills are indexed and kept."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class SkillIndex:
    """The compiled triggers of a snapshot's active skills, by position in registry order, and on demand their words.

    `active` leaves out what is closed to the model: no marker, trigger or word selects that. `closed` says who may ask
    for the active skills that not everybody may ask for. `task_rules` are the host's, then those of the snapshot.
    `kept` is where its parts are kept on disk and under which key, None for nowhere; `terms` the words of skills that
    were indexed before.
    `diagnostics` are about triggers: `empty-keyword`, `long-keyword`, `too-many-keywords`, `broken-pattern`,
    `ascii-pattern`, `too-many-patterns`, and about task rules: `task-rule-unknown-skill`. Safe to share between
    threads.
    """

    snapshot: Snapshot
    active: tuple[Skill, ...]
    positions: Mapping[str, int]
    triggers: "TriggerIndex"
    diagnostics: tuple[Diagnostic, ...] = ()
    closed: Mapping[str, Invocation] = field(default_factory=dict)
    task_rules: tuple[TaskRule, ...] = ()
    kept: tuple[CacheFolder, bytes] | None = field(default=None, repr=False)
    terms: "TermStore | None" = field(default=None, repr=False)
    _lexical: "list[LexicalIndex]" = field(default_factory=list, repr=False)
    _mentioned: list[Mapping[str, str]] = field(default_factory=list, repr=False)
    _narrowed: dict[frozenset[str], tuple[int, ...]] = field(default_factory=dict, repr=False)
    _building: Lock = field(default_factory=Lock, repr=False)

    def invocation(self, skill_id: str) -> Invocation:
        """Return who may ask for the skill."""
        return self.closed.get(skill_id, BY_ALL)

    def positions_within(self, ids: frozenset[str]) -> tuple[int, ...]:
        """The positions of those of the ids that are active, ascending; remembered for the places of a skill graph."""
        known = self._narrowed.get(ids)
        if known is None:
            known = tuple(sorted(self.positions[each] for each in ids if each in self.positions))
            if len(self._narrowed) >= MOST_NARROWED:
                self._narrowed.clear()
            self._narrowed[ids] = known
        return known

    def mention_names(self) -> Mapping[str, str]:
        """The ids of all skills, inactive ones too, by the folded names of a mention; made at the first call."""
        with self._building:
            if not self._mentioned:
                self._mentioned.append(names_of(self.snapshot.values()))
            return self._mentioned[0]

    def lexical(self) -> "LexicalIndex":
        """The index of words, built at the first call (about half a second for 1,000 skills), then kept."""
        with self._building:
            if not self._lexical:
                from skillweave.select.lexical_index import LexicalIndex, build_lexical_index
                from skillweave.select.near_words import NearWords

                build = partial(build_lexical_index, self.active, self.terms)
                if self.kept is None:
                    self._lexical.append(build())
                else:
                    cache, key = self.kept
                    self._lexical.append(cache.kept("words", key, LexicalIndex, (NearWords,), build))
            return self._lexical[0]


def build_index(
    snapshot: Snapshot,
    *,
    mode: MatchMode = MatchMode.WORD,
    task_rules: Sequence[TaskRule] = (),
    cache: CacheFolder | None = None,
    terms: "TermStore | None" = None,
) -> SkillIndex:
    """Compile the index of a snapshot: skills that may be selected are matched, the others are known by their ids.

    `task_rules` are the host's own. In `cache` what is compiled is kept, and found by the content of the skills;
    `terms` are the words of the skills that were indexed before, so that only changed ones are read.
    """
    selectable = snapshot.active()
    closed = {skill.id: invocation for skill in selectable if (invocation := invocation_of(skill)) != BY_ALL}
    active = tuple(skill for skill in selectable if skill.id not in closed or closed[skill.id].by_model)
    # Without a digest a skill cannot be known by what it says.
    kept = (cache, _key_of(active)) if cache is not None and all(skill.digest for skill in active) else None

    def gather() -> Triggers:
        return gather_triggers(active, mode)

    parts = (Kind, MatchMode, Diagnostic, Severity, Location)
    if kept is None:
        gathered = gather()
    else:
        gathered = kept[0].kept("triggers", key_of(kept[1], mode.value), Triggers, parts, gather)
    positions = MappingProxyType({skill.id: position for position, skill in enumerate(active)})
    rules = (*task_rules, *snapshot.task_rules)
    diagnostics = (*gathered.diagnostics, *check_task_rules(rules, snapshot))
    triggers = gathered.compiled()
    return SkillIndex(snapshot, active, positions, triggers, diagnostics, MappingProxyType(closed), rules, kept, terms)


def _key_of(skills: Sequence[Skill]) -> bytes:
    """The key of the skills in their order, as this release indexes them."""
    return key_of(code_key(*_CODE), *(part for skill in skills for part in _identity(skill)))


def _identity(skill: Skill) -> tuple[str, ...]:
    # The digest is of the definition alone: these also depend on who read it, how strictly, and from where.
    triggers = skill.triggers
    return (
        *(skill.digest, skill.id, skill.spelling or "", skill.name, skill.description),
        *(skill.origin.location if skill.origin else "", str(len(skill.domain_tags)), str(len(skill.extra))),
        *(
            repr(list_)
            for list_ in (triggers.keywords, triggers.verbs, triggers.patterns, triggers.never, skill.phrases)
        ),
    )


class Kind(IntEnum):
    """What sort of trigger hit, strongest first; `WORD_ID` is an id of one word, or with spaces in it."""

    PATTERN = 0
    KEYWORD = 1
    VERB = 2
    ID = 3
    WORD_ID = 4
    NEVER = 5


_TIERS = {Kind.PATTERN: 0, Kind.KEYWORD: 1, Kind.VERB: 1, Kind.ID: 2, Kind.WORD_ID: 2}
KIND_NAMES = {
    Kind.PATTERN: "pattern",
    Kind.KEYWORD: "keyword",
    Kind.VERB: "verb",
    Kind.ID: "id",
    Kind.WORD_ID: "id",
    Kind.NEVER: "never",
}
"""What evidence and findings call the kinds."""
IDS = frozenset({Kind.ID, Kind.WORD_ID})
"""The kinds of trigger that are a skill's own id."""
_SEPARATORS = re.compile(r"[-_\s]+")


class Hit(NamedTuple):
    """One trigger of one skill in the message: the original span, the length in folded characters, who shares it."""

    # A tuple, as is the match below: both are made for every hit of every message, at half the cost of a dataclass.

    kind: Kind
    start: int
    end: int
    length: int
    sharing: int


class TriggerMatch(NamedTuple):
    """All distinct hits of one skill, strongest kind first, then by place.

    `vetoes` are its `never` phrases, `denied` the hits of which the message says that it is not about them.
    """

    position: int
    hits: tuple[Hit, ...]
    vetoes: tuple[Hit, ...] = ()
    denied: tuple[Hit, ...] = ()

    @property
    def kind(self) -> Kind:
        """The strongest kind of hit; NEVER when only a `never` phrase occurs."""
        return self.hits[0].kind if self.hits else Kind.NEVER

    def order(self) -> tuple[int, int, int, int, int]:
        """The key of spec 2.2: kind, distinct hits, longest hit, fewest skills sharing it, registry position."""
        if len(self.hits) == 1:
            hit = self.hits[0]
            return _TIERS[hit.kind], -1, -hit.length, hit.sharing, self.position
        longest = max(hit.length for hit in self.hits)
        sharing = min(hit.sharing for hit in self.hits if hit.length == longest)
        return _TIERS[self.kind], -len(self.hits), -longest, sharing, self.position


@dataclass(frozen=True, slots=True, eq=False)
class TriggerIndex:
    """The triggers of skills by position; `claims` and `pattern_claims` say whose each phrase and pattern is."""

    automaton: Automaton
    claims: tuple[tuple[tuple[int, Kind], ...], ...]
    patterns: Patterns
    pattern_claims: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Triggers:
    """What the triggers of skills come to before anything is compiled: each phrase and pattern once, and whose it is.

    A phrase is its folded text and its match mode; `claims` say by skill position what kind of trigger it is there.
    """

    phrases: tuple[tuple[str, MatchMode], ...] = ()
    claims: tuple[tuple[tuple[int, Kind], ...], ...] = ()
    patterns: tuple[str, ...] = ()
    pattern_claims: tuple[tuple[int, ...], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def compiled(self) -> TriggerIndex:
        """The triggers, ready to be searched in one pass."""
        automaton, patterns = compile_automaton(self.phrases), compile_patterns(self.patterns)
        return TriggerIndex(automaton, self.claims, patterns, self.pattern_claims)


def compile_triggers(skills: Iterable[Skill], mode: MatchMode) -> tuple[TriggerIndex, tuple[Diagnostic, ...]]:
    """Compile the triggers of skills, given in registry order, and report what is wrong with them.

    An empty or overlong keyword and a broken pattern are left out with a diagnostic; the skill's other triggers still
    count. In substring mode keywords, verbs and `never` phrases match anywhere, ids still as words.
    """
    gathered = gather_triggers(skills, mode)
    return gathered.compiled(), gathered.diagnostics


def gather_triggers(skills: Iterable[Skill], mode: MatchMode) -> Triggers:
    """The triggers of skills in registry order, with what is wrong with them; see `compile_triggers`."""
    phrases: dict[tuple[str, MatchMode], dict[int, Kind]] = {}
    patterns = GatheredPatterns()
    diagnostics: list[Diagnostic] = []
    for position, skill in enumerate(skills):
        diagnostics += too_many_phrases(skill)
        for kind, phrase in _declared_phrases(skill):
            folded = fold(phrase)
            if finding := _check_phrase(skill, kind, folded):
                diagnostics.append(finding)
                continue
            text = " ".join(folded.split()) if mode is MatchMode.WORD else folded
            _claim(phrases.setdefault((text, mode), {}), position, kind)
            for form in inflected(text) if kind is Kind.VERB and mode is MatchMode.WORD else ():
                _claim(phrases.setdefault((form, mode), {}), position, kind)
        for spelling in spellings(skill):
            kind = Kind.ID if _is_written_as_id(spelling) else Kind.WORD_ID
            _claim(phrases.setdefault((spelling, MatchMode.WORD), {}), position, kind)
        diagnostics += patterns.add(position, skill)
    claims = tuple(tuple(claims.items()) for claims in phrases.values())
    owners = tuple(map(tuple, patterns.claims.values()))
    return Triggers(tuple(phrases), claims, tuple(patterns.claims), owners, tuple(diagnostics))


def spellings(skill: Skill) -> tuple[str, ...]:
    """Return the folded ways to write a skill's id and its spelling: as they are, or joined by `-`, `_` or a space."""
    found: dict[str, None] = {}
    for written in (skill.id, skill.spelling or skill.id):
        folded = fold(written).strip()
        words = [word for word in _SEPARATORS.split(folded) if word]
        for spelled in (folded, "-".join(words), "_".join(words), " ".join(words)):
            if spelled.strip("-_ ") and len(spelled) <= LONGEST_PHRASE:
                found[spelled] = None
    return tuple(found)


def names_of(skills: Iterable[Skill]) -> Mapping[str, str]:
    """Map every folded name that a mention may use (the id and its spellings) to the skill's id.

    An id goes before another skill's spelling, an active skill before one that is not.
    """
    ranked = sorted(skills, key=lambda skill: not skill.status.selectable)
    names = {skill.id: skill.id for skill in ranked}  # where two ids differ in their capitals, each is itself
    for skill in ranked:
        names.setdefault(fold(skill.id), skill.id)
    for skill in ranked:
        for spelling in spellings(skill):
            names.setdefault(spelling, skill.id)
    return MappingProxyType(names)


def _claim(claims: dict[int, Kind], position: int, kind: Kind) -> None:
    """Note who declares a phrase; where one skill declares it twice, a veto counts, else the strongest kind."""
    before = claims.get(position)
    if before is None or kind is Kind.NEVER or (before is not Kind.NEVER and kind < before):
        claims[position] = kind


def _declared_phrases(skill: Skill) -> Iterator[tuple[Kind, str]]:
    triggers = skill.triggers
    for kind, phrases in (
        (Kind.KEYWORD, triggers.keywords),
        (Kind.VERB, triggers.verbs),
        (Kind.NEVER, triggers.never),
    ):
        for phrase in phrases[:MOST_PHRASES]:
            yield kind, phrase


def _is_written_as_id(spelling: str) -> bool:
    """Whether nobody writes this by chance: joined, of two words that are not stop words.

    `code-review` is; `code review`, `review` and `how-to` are not.
    """
    return " " not in spelling and sum(word not in STOP_WORDS for word in _SEPARATORS.split(spelling) if word) >= 2


def _check_phrase(skill: Skill, kind: Kind, folded: str) -> Diagnostic | None:
    name = KIND_NAMES[kind]
    if not folded.strip():
        message = f"skill {skill.id!r} has an empty {name} among its triggers, which would match every message"
        return about(skill, "empty-keyword", Severity.ERROR, message, "Remove it, or write the word that was meant.")
    if len(folded) > LONGEST_PHRASE:
        message = f"skill {skill.id!r} has a {name} of {len(folded)} characters, more than {LONGEST_PHRASE}"
        return about(skill, "long-keyword", Severity.ERROR, message, "Write the words that people say, one by one.")
    return None
