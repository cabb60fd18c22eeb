"""Move: where the conversation stands in the skill graph, and what that makes of the selection (spec 3.2)."""

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from skillweave.compose.policy import ToolOwners
from skillweave.decisions import Evidence, Outcome
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.dialogue import Turn
from skillweave.graph.compiled import CompiledGraph, needs_scoring
from skillweave.graph.conditions import EvalContext
from skillweave.graph.graph import SkillGraph
from skillweave.graph.move import Cursor, Move, MoveContext, Why
from skillweave.graph.moving import Notes, advance, at, context_of, is_never, move_from, reachable_from, refusal
from skillweave.graph.scoring import EntryScoring
from skillweave.registry import Snapshot
from skillweave.relations.rules import Form, all_requirements, name_shown, read_entry
from skillweave.select.candidates import Candidate, Rejected, Selection
from skillweave.select.index import SkillIndex
from skillweave.select.selection import asked_in
from skillweave.skill import Skill
from skillweave.state.approvals import kept_out
from skillweave.state.state import Engaged, State
from skillweave.turn.reconcile import is_replay, spoken_in

MOST_PLACES = 256
"""So many places of the cursor are remembered: each has a set of nearly all skills."""


@dataclass(frozen=True, slots=True)
class CursorScope:
    """What a place of the cursor allows: the ids that matchers may choose, and the wired ones that are held back.

    `reachable` are the skills that the model may go to from here, of those that can be given; base entries apply
    anyway.
    """

    within: frozenset[str]
    held_back: frozenset[str]
    reachable: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class GraphBinding:
    """A graph, its indexes, and one generation of skills; safe to share between threads.

    `free` are the skills that no cursor holds back: those outside the graph, and its base entries. `owners` are the
    tools that only wired skills list, by name, with these skills. `granted` are the ids that the agent may have, None
    for all.
    """

    graph: SkillGraph
    compiled: CompiledGraph
    index: SkillIndex
    free: frozenset[str]
    owners: ToolOwners
    granted: frozenset[str] | None = None
    _places: dict[str | None, CursorScope] = field(default_factory=dict, repr=False)

    def grants(self, skill_id: str) -> bool:
        """Whether the agent may have the skill."""
        return self.granted is None or skill_id in self.granted

    def here(self, skill_id: str | None) -> CursorScope:
        """What the cursor on that skill allows, None for nowhere: the skill, what it requires, and all that is free."""
        known = self._places.get(skill_id)
        if known is None:
            if len(self._places) >= MOST_PLACES:
                self._places.clear()
            known = self._places[skill_id] = self._look(skill_id)
        return known

    def _look(self, skill_id: str | None) -> CursorScope:
        named = () if skill_id is None else (skill_id,)
        needed = (requirement.rule.skill for requirement in all_requirements(named, self.index.snapshot))
        allowed = frozenset((*named, *needed))
        onward = (one for one in reachable_from(self.compiled, skill_id) if one not in (skill_id, *self.compiled.base))
        held_back = frozenset(self.compiled.wired).difference(allowed, self.compiled.base)
        return CursorScope(self.free | allowed, held_back, tuple(filter(self._opens, onward)))

    def _opens(self, skill_id: str) -> bool:
        return skill_id in self.index.positions and self.grants(skill_id)


def bind(graph: SkillGraph, index: SkillIndex, granted: frozenset[str] | None = None) -> GraphBinding:
    """The graph beside the skills of an index, each known to the graph as it is loaded."""
    snapshot = index.snapshot
    known = graph.with_skills(snapshot.skills)
    wired = known.compiled.wired
    free = frozenset(skill_id for skill_id in snapshot.skills if skill_id not in wired).union(known.compiled.base)
    return GraphBinding(known, known.compiled, index, free, _owners(known, snapshot), granted)


def _owners(graph: SkillGraph, snapshot: Snapshot) -> ToolOwners:
    wired = graph.compiled.wired
    known = (snapshot.skills[skill_id] for skill_id in wired if skill_id in snapshot)
    shared = (tool for skill in snapshot.values() if skill.id not in wired for tool in _tools(skill))
    return ToolOwners.among(((tool, skill.id) for skill in known for tool in _tools(skill)), shared)


def _tools(skill: Skill) -> Iterator[str]:
    allowed = None if skill.tools is None else skill.tools.allowed
    for entry in map(read_entry, allowed or ()):
        if entry.form is not Form.BROKEN:
            yield entry.tool


MATCHER = "graph"
_BASE = "base"
_NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """One turn's place: the move, the cursor after it, and the skill that is engaged for it, None for none.

    In a tree `skill` is the leaf, and there is no cursor. `here` is what may be engaged at this place, `base` are the
    base entries that begin in this turn, `diagnostics` what hindered the move. `kept_out` are the skills that a person
    rejected, each with the reason.
    """

    binding: GraphBinding
    move: Move
    cursor: Cursor | None
    skill: str | None
    here: CursorScope
    base: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    kept_out: Mapping[str, str] = field(default_factory=lambda: _NOBODY)

    @property
    def reachable(self) -> tuple[str, ...]:
        """The skills that the model may open from here."""
        reachable = self.here.reachable
        return tuple(one for one in reachable if one not in self.kept_out) if self.kept_out else reachable

    @property
    def where(self) -> str:
        """The place in words."""
        return (
            "nowhere in the skill graph yet"
            if self.skill is None
            else f"at {name_shown(self.skill)} in the skill graph"
        )

    def holds_back(self, skill_id: str) -> bool:
        """Whether the skill is wired, and not at the cursor nor needed there."""
        return skill_id in self.here.held_back

    def has_left(self, entry: Engaged) -> bool:
        """Whether the skill is engaged no longer: the conversation moved away, or the graph changed and let it go."""
        let_go = entry.by == MATCHER and entry.skill_id not in self.binding.compiled.wired
        return self.holds_back(entry.skill_id) or (let_go and entry.skill_id != self.skill)

    def reason(self, skill_id: str) -> str:
        """Why a skill that is held back is not engaged."""
        return f"{name_shown(skill_id)} applies only at its own place, and the conversation is {self.where}"

    def lead(self, selection: Selection) -> Selection:
        """The selection with the cursor's skill first, and verdicts on wired skills elsewhere in the graph's words."""
        led = {candidate.skill_id: candidate for candidate in self.base}
        if self.skill is not None:
            evidence = (Evidence("move", self.move.reason), *self.move.evidence)
            led = {self.skill: Candidate(self.skill, 1.0, MATCHER, evidence)} | led
        found = {candidate.skill_id: candidate for candidate in selection.chosen}
        chosen = [_with_evidence(one, found[one.skill_id]) if one.skill_id in found else one for one in led.values()]
        missing = [one for one in chosen if one.skill_id not in self.binding.index.snapshot.skills]
        unknown = (
            Rejected(one, Outcome.UNKNOWN, "the skill graph leads to it, but no such skill is loaded")
            for one in missing
        )
        others = (candidate for candidate in selection.chosen if candidate.skill_id not in led)
        offered = tuple(candidate for candidate in selection.offered if candidate.skill_id not in led)
        rejected = (self._told(one) for one in selection.rejected if one.candidate.skill_id not in led)
        known = (one for one in chosen if one not in missing)
        return replace(selection, chosen=(*known, *others), rejected=(*unknown, *rejected), offered=offered)

    def _told(self, rejected: Rejected) -> Rejected:
        """The verdict on a wired skill: a pick says what can be reached, a hit where the conversation is."""
        skill_id = rejected.candidate.skill_id
        if rejected.outcome is not Outcome.UNREACHABLE or not self.holds_back(skill_id):
            return rejected
        forbidden = self._forbidden(skill_id)
        if forbidden:
            return replace(rejected, outcome=Outcome.FORBIDDEN, reason=forbidden)
        lost = next((loser for loser in self.move.losers if loser.to == skill_id), None)
        if lost is not None and lost.why is not Why.UNREACHABLE:
            return replace(rejected, reason=lost.reason)
        if lost is not None or rejected.candidate.matcher == "explicit":
            # Not the move's own words: only here is it known which of the reachable skills this agent can be given.
            return replace(rejected, reason=refusal(skill_id, self.skill, self.reachable))
        return replace(rejected, outcome=Outcome.NOT_AT_CURSOR, reason=self.reason(skill_id))

    def _forbidden(self, skill_id: str) -> str:
        """Why the skill would be given at no place; empty for one that would."""
        ungranted = "" if self.binding.grants(skill_id) else f"{name_shown(skill_id)} is not granted to this agent"
        return self.kept_out.get(skill_id, ungranted)


def find_position(
    binding: GraphBinding, state: State, turn: Turn, context: MoveContext, scoring: EntryScoring | None = None
) -> Position:
    """Move, and say what is engaged for it; pure, and the same again for a replay of the same turn."""
    compiled, notes = binding.compiled, Notes()
    ctx = EvalContext(compiled.lexicon, compiled.declared.scales, context, scoring)
    base = tuple(_base(compiled, ctx, notes)) if compiled.base and not context.between else ()
    rejected = kept_out(state.approvals, binding.index.snapshot) if state.approvals else _NOBODY
    if compiled.declared.tree is not None:
        move, leaf = _leaf(binding, state, ctx)
        return Position(binding, move, None, leaf, binding.here(leaf), base, kept_out=rejected)
    move, cursor = advance(compiled, state.cursor, ctx, turn.id)
    if cursor is not None and state.cursor is None and state.last_turn == turn.id and is_replay(turn, state):
        # A replay whose cursor is gone: somebody ended the engagement since, which the replay must not undo.
        nothing = replace(context, between=True, picks=())
        move, cursor = advance(compiled, None, replace(ctx, context=nothing), turn.id)
    if notes.failures and (cursor is None or cursor is not state.cursor):
        move, cursor = _with_failures(move, cursor, notes)
    skill = None if cursor is None else cursor.skill
    return Position(binding, move, cursor, skill, binding.here(skill), base, kept_out=rejected)


def _with_failures(move: Move, cursor: Cursor | None, notes: Notes) -> tuple[Move, Cursor | None]:
    """The move with the conditions of base entries that raised, for they are asked beside it in every turn."""
    raised = tuple(piece for piece in notes.failures if piece not in move.evidence)
    if not raised:
        return move, cursor
    told = replace(move, evidence=(*move.evidence, *raised))
    return told, None if cursor is None else replace(cursor, last_move=told)


def moment_of(binding: GraphBinding, state: State, turn: Turn) -> MoveContext:
    """What the turn brings; of what is asked for by name, the wired skills that could be given when asked for so."""
    context = context_of(spoken_in(turn, state))
    if not context.picks:
        return context
    asked = asked_in(turn)
    rejected = kept_out(state.approvals, binding.index.snapshot)
    wired = (pick for pick in context.picks if pick in binding.compiled.wired and pick not in rejected)
    return replace(context, picks=tuple(pick for pick in wired if _may_open(binding, pick, asked[pick])))


def _may_open(binding: GraphBinding, skill_id: str, asked: Sequence[Evidence]) -> bool:
    skill = binding.index.snapshot.get(skill_id)
    if skill is None or not skill.status.selectable or not binding.grants(skill_id):
        return False
    invocation = binding.index.invocation(skill_id)
    return invocation.by_model or any(piece.kind == "host" for piece in asked)


def _leaf(binding: GraphBinding, state: State, ctx: EvalContext) -> tuple[Move, str | None]:
    context, leaves = ctx.context, binding.compiled.wired
    move = move_from(binding.compiled, ctx)
    picked = next((pick for pick in context.picks if pick in leaves), None)
    if picked is not None:
        raised = () if context.between else tuple(piece for piece in move.evidence if piece.kind == "raised")
        return replace(move, evidence=(Evidence("pick", picked), *raised), reason=f"{picked!r} was asked for"), picked
    if context.between:
        kept = _kept(binding, [entry.skill_id for entry in state.engaged if entry.skill_id in leaves])
        return replace(move, evidence=(), reason="nothing is said that could lead elsewhere"), kept
    return move, next(piece.text for piece in move.evidence if piece.kind == "leaf")


def _kept(binding: GraphBinding, engaged: Collection[str]) -> str | None:
    """The leaf of the last call: of the engaged ones the one that brought the others, which it requires."""
    return next((one for one in engaged if binding.here(one).held_back.isdisjoint(engaged)), None)


def _base(compiled: CompiledGraph, ctx: EvalContext, notes: Notes) -> Iterator[Candidate]:
    for entry in chain.from_iterable(compiled.base.values()):
        if entry.condition is None:
            yield Candidate(entry.skill, 1.0, MATCHER, (Evidence("entry", f"{entry.skill} ({_BASE})"),))
        elif is_never(compiled, ctx):
            continue
        elif (verdict := entry.condition.judge(ctx)).holds:
            yield Candidate(entry.skill, 1.0, MATCHER, verdict.evidence)
        elif verdict.raised:
            notes.failed(verdict, f"entry {entry.skill}")


def _with_evidence(led: Candidate, found: Candidate) -> Candidate:
    """The graph speaks for the skill alone, also where a task rule would give it together with others or not at all."""
    return replace(led, evidence=(*led.evidence, *found.evidence), arguments=found.arguments)


log = logging.getLogger("skillweave")


async def move(binding: GraphBinding, state: State, turn: Turn, seconds: float) -> Position:
    """Where the conversation stands after what the turn brings; the graph's scorer is asked where it would count.

    A scorer that fails, or takes more than `seconds`, chooses nothing, and a finding says so.
    """
    moment = moment_of(binding, state, turn)
    if not binding.compiled.has_scorer:
        return find_position(binding, state, turn, moment)
    scoring, diagnostics = await _scored(binding, state, moment, seconds)
    return replace(find_position(binding, state, turn, moment, scoring), diagnostics=diagnostics)


async def _scored(
    binding: GraphBinding, state: State, moment: MoveContext, seconds: float
) -> tuple[EntryScoring | None, tuple[Diagnostic, ...]]:
    from skillweave.graph.graph import ScoredGraph

    graph, context = binding.graph, at(state.cursor, moment, binding.compiled)
    if not isinstance(graph, ScoredGraph) or context.between or not needs_scoring(binding.compiled, context):
        return None, ()
    try:
        async with asyncio.timeout(seconds):
            return await graph.score_entries(replace(context, picks=())), ()
    except TimeoutError:
        return None, (_not_scored(f"it took more than {seconds:g} s"),)
    except Exception as error:  # a scorer is the host's own code, and a turn does not end for it
        log.warning("the entries of the skill graph were not scored", exc_info=True)
        return None, (_not_scored(f"{type(error).__name__}: {error}"),)


def _not_scored(why: str) -> Diagnostic:
    return Diagnostic(
        code="entries-not-scored",
        severity=Severity.WARNING,
        message=f"the scorer of the skill graph gave no answer, so that it chose no entry: {why}",
        fix="check the scorer or its embedder; the conversation begins when it answers or the model picks an entry",
    )
