"""Where a turn stands in the skill graph, and what that makes of what the matchers say (spec 3.2)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from skillweave.conversation import Turn
from skillweave.decisions import Evidence, Outcome
from skillweave.diagnostics import Diagnostic
from skillweave.graph.advance import advance, context_of
from skillweave.graph.context import MoveContext
from skillweave.graph.cursor import Cursor
from skillweave.graph.entries import is_never
from skillweave.graph.judging import Sight, judge
from skillweave.graph.move import Move, Why
from skillweave.graph.notes import Notes
from skillweave.graph.reachable import refusal
from skillweave.graph.scoring import EntryScoring
from skillweave.ledger.approvals import kept_out
from skillweave.ledger.state import Engaged, State
from skillweave.plan.spoken import spoken_in
from skillweave.plan.wiring import Here, Wiring
from skillweave.relations.wording import name_shown
from skillweave.select.candidates import Candidate, Rejected, Selection
from skillweave.select.explicit import asked_in

MATCHER = "graph"
_BASE = "base"
_NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """One turn's place: the move, the cursor after it, and the skill that is engaged for it, None for none.

    In a tree `skill` is the leaf, and there is no cursor. `base` are the base entries that begin in this turn,
    `diagnostics` what hindered the move. `kept_out` are the skills that a person rejected, each with the reason.
    """

    wiring: Wiring
    turn: Turn
    move: Move
    cursor: Cursor | None
    skill: str | None
    base: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    kept_out: Mapping[str, str] = field(default_factory=lambda: _NOBODY)

    @property
    def here(self) -> Here:
        """What may be engaged here."""
        return self.wiring.here(self.skill)

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
        let_go = entry.by == MATCHER and entry.skill_id not in self.wiring.compiled.wired
        return self.holds_back(entry.skill_id) or (let_go and entry.skill_id != self.skill)

    def reason(self, skill_id: str) -> str:
        """Why a skill that is held back is not engaged."""
        return f"{name_shown(skill_id)} applies only at its own place, and the conversation is {self.where}"

    def lead(self, selection: Selection) -> Selection:
        """The selection with the cursor's skill first, and verdicts on wired skills elsewhere in the graph's words."""
        led = {candidate.skill_id: candidate for candidate in (*self._at_cursor(), *self.base)}
        found = {candidate.skill_id: candidate for candidate in selection.chosen}
        chosen = [_with_evidence(one, found.get(one.skill_id)) for one in led.values()]
        missing = [one for one in chosen if one.skill_id not in self.wiring.kit.snapshot]
        unknown = (
            Rejected(one, Outcome.UNKNOWN, "the skill graph leads to it, but no such skill is loaded")
            for one in missing
        )
        others = (candidate for candidate in selection.chosen if candidate.skill_id not in led)
        rejected = (self._told(one) for one in selection.rejected if one.candidate.skill_id not in led)
        return Selection((*(one for one in chosen if one not in missing), *others), (*unknown, *rejected))

    def _at_cursor(self) -> Iterator[Candidate]:
        if self.skill is not None:
            yield Candidate(self.skill, 1.0, MATCHER, (Evidence("move", self.move.reason), *self.move.evidence))

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
        ungranted = "" if self.wiring.grants(skill_id) else f"{name_shown(skill_id)} is not granted to this agent"
        return self.kept_out.get(skill_id, ungranted)


def find_position(wiring: Wiring, state: State, turn: Turn, scoring: EntryScoring | None) -> Position:
    """Move, and say what is engaged for it; pure, and the same again for a replay of the same turn."""
    context = moment_of(wiring, state, turn)
    notes = Notes()
    base = () if context.between else tuple(_base(wiring, context, scoring, notes))
    rejected = kept_out(state.approvals, wiring.kit.snapshot)
    if wiring.compiled.declared.tree is not None:
        move, leaf = _leaf(wiring, state, context, scoring)
        return Position(wiring, turn, move, None, leaf, base, kept_out=rejected)
    move, cursor = advance(wiring.compiled, state.cursor, context, turn.id, scoring)
    if cursor is not None and state.cursor is None and state.last_turn == turn.id:
        # A replay whose cursor is gone: somebody ended the engagement since, which the replay must not undo.
        nothing = replace(context, between=True, picks=())
        move, cursor = advance(wiring.compiled, None, nothing, turn.id, scoring)
    if cursor is None or cursor is not state.cursor:
        move, cursor = _with_failures(move, cursor, notes)
    return Position(wiring, turn, move, cursor, None if cursor is None else cursor.skill, base, kept_out=rejected)


def _with_failures(move: Move, cursor: Cursor | None, notes: Notes) -> tuple[Move, Cursor | None]:
    """The move with the conditions of base entries that raised, for they are asked beside it in every turn."""
    raised = tuple(piece for piece in notes.failures if piece not in move.evidence)
    if not raised:
        return move, cursor
    told = replace(move, evidence=(*move.evidence, *raised))
    return told, None if cursor is None else replace(cursor, last_move=told)


def moment_of(wiring: Wiring, state: State, turn: Turn) -> MoveContext:
    """What the turn brings; of what is asked for by name, the wired skills that could be given when asked for so."""
    context = context_of(spoken_in(turn, state))
    asked = asked_in(turn)
    rejected = kept_out(state.approvals, wiring.kit.snapshot) if context.picks else _NOBODY
    wired = (pick for pick in context.picks if pick in wiring.compiled.wired and pick not in rejected)
    return replace(context, picks=tuple(pick for pick in wired if _may_open(wiring, pick, asked[pick])))


def _may_open(wiring: Wiring, skill_id: str, asked: Sequence[Evidence]) -> bool:
    skill = wiring.kit.snapshot.get(skill_id)
    if skill is None or not skill.status.selectable or not wiring.grants(skill_id):
        return False
    invocation = wiring.kit.invocation(skill_id)
    return invocation.by_model or any(piece.kind == "host" for piece in asked)


def _leaf(wiring: Wiring, state: State, context: MoveContext, scoring: EntryScoring | None) -> tuple[Move, str | None]:
    graph = wiring.graph
    move = graph.explain(context, scoring)
    leaves = graph.reachable_skills()
    picked = next((pick for pick in context.picks if pick in leaves), None)
    if picked is not None:
        raised = () if context.between else tuple(piece for piece in move.evidence if piece.kind == "raised")
        return replace(move, evidence=(Evidence("pick", picked), *raised), reason=f"{picked!r} was asked for"), picked
    if context.between:
        kept = _kept(wiring, [entry.skill_id for entry in state.engaged if entry.skill_id in leaves])
        return replace(move, evidence=(), reason="nothing is said that could lead elsewhere"), kept
    return move, next(piece.text for piece in move.evidence if piece.kind == "leaf")


def _kept(wiring: Wiring, engaged: Collection[str]) -> str | None:
    """The leaf of the last call: of the engaged ones the one that brought the others, which it requires."""
    return next((one for one in engaged if wiring.here(one).held_back.isdisjoint(engaged)), None)


def _base(wiring: Wiring, context: MoveContext, scoring: EntryScoring | None, notes: Notes) -> Iterator[Candidate]:
    compiled = wiring.compiled
    if not compiled.base:
        return
    sight = Sight(compiled.lexicon, compiled.declared.scales, context, scoring)
    never = is_never(compiled, sight)
    for entry in chain.from_iterable(compiled.base.values()):
        if never and entry.condition is not None:
            continue
        if entry.condition is None:
            yield Candidate(entry.skill, 1.0, MATCHER, (Evidence("entry", f"{entry.skill} ({_BASE})"),))
        elif (verdict := judge(entry.condition, sight)).holds:
            yield Candidate(entry.skill, 1.0, MATCHER, verdict.evidence)
        elif verdict.raised:
            notes.failed(verdict, f"entry {entry.skill}")


def _with_evidence(led: Candidate, found: Candidate | None) -> Candidate:
    """The graph speaks for the skill alone, also where a task rule would give it together with others or not at all."""
    if found is None:
        return led
    return replace(led, evidence=(*led.evidence, *found.evidence), arguments=found.arguments)
