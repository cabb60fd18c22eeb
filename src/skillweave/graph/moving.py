"""Where a conversation goes from here, and why: what `next_skill`, `explain` and `advance` ask (spec 3.2, 3.3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from skillweave.conversation import ToolResult
from skillweave.decisions import Evidence
from skillweave.graph.compiled import Compiled
from skillweave.graph.conditions import Condition, Regex
from skillweave.graph.declared import ANY, Decide, EntryPick, Limits, Route, TreeNode
from skillweave.graph.entry_scoring import is_never, judged_entries
from skillweave.graph.judging import HOLDS_NOT, Sight, Verdict, judge, judge_guard
from skillweave.graph.move import By, ClosedGuard, Loser, Move, MoveContext, Why
from skillweave.graph.scoring import EntryScoring


@dataclass(frozen=True, slots=True)
class Taken:
    """The entry, route or pick that won: where it leads, and what speaks for it."""

    to: str
    by: By
    evidence: tuple[Evidence, ...]
    reason: str


MOST_TOLD = 20
"""So many losers, closed guards and failures a move names: models and tools can bring any number of them."""
LONGEST_UNKNOWN = 100
"""Characters of an id that no skill of the graph has; a model can write any text in the place of one."""

_Note = TypeVar("_Note")


@dataclass(slots=True, eq=False)
class Notes:
    """Collects while one move is decided; each thing is told once."""

    losers: dict[Loser, None] = field(default_factory=dict)
    closed: dict[int, ClosedGuard] = field(default_factory=dict)
    failures: dict[Evidence, None] = field(default_factory=dict)

    def lost(self, loser: Loser) -> None:
        """Something would have led elsewhere."""
        if len(self.losers) < MOST_TOLD:
            self.losers[loser] = None

    def stayed_closed(self, route: Route, verdict: Verdict) -> None:
        """The route's guard kept it from firing; of several results, the first for which it did is told."""
        if verdict.closed is not None and id(route) not in self.closed and len(self.closed) < MOST_TOLD:
            reason = verdict.closed.reason
            self.closed[id(route)] = ClosedGuard(route.from_, route.to, str(route.guard), reason)

    def failed(self, verdict: Verdict, where: str) -> None:
        """A condition raised."""
        for piece in verdict.evidence:
            if len(self.failures) < MOST_TOLD:
                self.failures[Evidence(piece.kind, f"{where}: {piece.text}")] = None

    def move(self, to: str | None, from_: str | None, by: By, reason: str, evidence: Iterable[Evidence] = ()) -> Move:
        """The move with everything that was noted."""
        losers, closed = tuple(self.losers), tuple(self.closed.values())
        return Move(to, from_, by, (*evidence, *self.failures), losers, closed, reason)


def described(route: Route) -> str:
    """The route in words."""
    from_ = "any skill" if route.from_ == ANY else repr(route.from_)
    label = f" ({route.label})" if route.label else ""
    return f"route from {from_} to {route.to!r}{label}"


def unknown_id(skill_id: str) -> str:
    """An id that no skill of the graph has, cut and escaped so that any store takes it."""
    cut = skill_id[:LONGEST_UNKNOWN]
    return cut if cut.isprintable() else ascii(cut)[1:-1]


def begin(compiled: Compiled, sight: Sight, notes: Notes) -> Taken | None:
    """The entry that begins; None where none may, and where that is left to the model."""
    pick = compiled.declared.pick
    if pick is EntryPick.DECLARATION:
        return _first_entry(compiled, sight, notes)
    if pick is EntryPick.READ or sight.scoring is None:
        return None
    return _scored(compiled, sight, sight.scoring, notes)


def why_none(compiled: Compiled, sight: Sight) -> str:
    """Why nothing begins, in a few words."""
    pick = compiled.declared.pick
    if sight.context.between:
        return "nothing is begun yet"
    if pick is EntryPick.READ:
        return "the model begins by reading one of the entries"
    if pick is EntryPick.DECLARATION:
        return "no entry's condition holds"
    return "the entries were not scored" if sight.scoring is None else "the scorer chose no entry"


def _first_entry(compiled: Compiled, sight: Sight, notes: Notes) -> Taken | None:
    never = is_never(compiled, sight)
    hit = (position for number in sight.hits for position in compiled.by_phrase.get(number, ()))
    for position in sorted({*compiled.alone, *hit}):
        entry = compiled.declared.entries[position]
        if entry.condition is None:
            reason = f"{entry.skill!r} is the first entry that may begin, and it has no condition"
            return Taken(entry.skill, By.ENTRY, (Evidence("entry", entry.skill),), reason)
        verdict = HOLDS_NOT if never else judge(entry.condition, sight)
        if verdict.holds:
            return Taken(
                entry.skill, By.ENTRY, verdict.evidence, f"{entry.skill!r} is the first entry whose condition holds"
            )
        if verdict.raised:
            notes.failed(verdict, f"entry {entry.skill}")
    return None


def _scored(compiled: Compiled, sight: Sight, scoring: EntryScoring, notes: Notes) -> Taken | None:
    chosen = scoring.chosen
    if chosen is None:
        return None
    if chosen not in _open_entries(compiled, sight, notes):
        reason = f"the scorer {scoring.scorer!r} chose {chosen!r}, which may not begin now"
        why = Why.UNREACHABLE if chosen in compiled.wired else Why.UNKNOWN
        notes.lost(Loser(chosen, By.SCORER, why, reason))
        return None
    share = next((ranked.relevance for ranked in scoring.ranked if ranked.skill == chosen), None)
    said = "" if share is None else f" with a relevance of {share:.2f}"
    reason = f"the scorer {scoring.scorer!r} chose {chosen!r}{said}"
    return Taken(chosen, By.SCORER, (Evidence("score", scoring.scorer),), reason)


def _open_entries(compiled: Compiled, sight: Sight, notes: Notes) -> Iterator[str]:
    """The skills that a scorer may choose: of entries without a condition, or whose condition holds."""
    for entry, verdict in judged_entries(compiled, sight):
        if verdict.holds:
            yield entry.skill
        elif verdict.raised:
            notes.failed(verdict, f"entry {entry.skill}")


def leave(compiled: Compiled, current: str, sight: Sight, notes: Notes) -> Taken | None:
    """The first route that fires, result by result in the order of the calls; later ones that lead elsewhere lose.

    Without any result, the routes that need none are judged once.
    """
    taken: Taken | None = None
    for result in sight.context.tools or (None,):
        fired = _first_that_fires(compiled, current, result, sight, notes)
        if taken is None:
            taken = fired
        elif fired is not None and fired.to != taken.to:
            reason = f"an earlier result already led to {taken.to!r}"
            notes.lost(Loser(fired.to, By.ROUTE, Why.LATER, reason))
    return taken


def _first_that_fires(
    compiled: Compiled, current: str, result: ToolResult | None, sight: Sight, notes: Notes
) -> Taken | None:
    for route in _asked(compiled, current):
        if not _meets(route, result, sight):
            continue
        evidence = _evidence_that(route, result, sight, notes)
        if evidence is not None:
            return Taken(route.to, By.ROUTE, evidence, f"the {described(route)} fires")
    return None


def _asked(compiled: Compiled, current: str) -> Sequence[Route]:
    own = compiled.routes_from.get(current, ())
    any_ = compiled.any_routes
    return (*own, *(route for route in any_ if route.to != current)) if any_ else own


def _evidence_that(route: Route, result: ToolResult | None, sight: Sight, notes: Notes) -> tuple[Evidence, ...] | None:
    """What shows that a route fires whose tool and status are met; None where it does not."""
    evidence = _of_result(route, result)
    if route.condition is not None:
        verdict = judge(route.condition, sight, result)
        if verdict.raised:
            notes.failed(verdict, described(route))
        if not verdict.holds:
            return None
        evidence += verdict.evidence
    if route.guard is not None:
        verdict = judge_guard(route.guard, sight, result)
        if not verdict.holds:
            notes.stayed_closed(route, verdict)
            return None
        evidence += verdict.evidence
    return evidence


def _meets(route: Route, result: ToolResult | None, sight: Sight) -> bool:
    """Whether the result is of the route's tool and status; without one, whether the route needs none."""
    if result is None:
        return not route.needs_result
    tool = route.on_tool
    if isinstance(tool, Regex):
        met = sight.lexicon.patterns[tool].search(result.tool.encode("utf-8", "replace")) is not None
    else:
        met = tool is None or tool == result.tool
    return met and (not route.on_status or result.status in route.on_status)


def _of_result(route: Route, result: ToolResult | None) -> tuple[Evidence, ...]:
    if result is None:
        return ()
    tool = route.on_tool
    named = () if tool is None else (Evidence("tool", tool.source if isinstance(tool, Regex) else tool),)
    return (*named, Evidence("status", result.status)) if route.on_status else named


MOST_NAMED = 20
"""So many reachable skills a refusal names."""


def reachable_from(compiled: Compiled, current: str | None) -> tuple[str, ...]:
    """At the start, and from an unknown skill, the entries; else the direct successors, then the entries, without it.

    All leaves of a tree, wherever one stands.
    """
    if compiled.declared.tree is not None:
        return tuple(compiled.wired)
    return tuple(dict.fromkeys(one for way in _ways(compiled, current) for one in way if one != current))


def is_reachable(compiled: Compiled, current: str | None, skill_id: str) -> bool:
    """Whether `reachable_from` names the skill, without writing them all out."""
    if compiled.declared.tree is not None:
        return skill_id in compiled.wired
    return skill_id != current and any(skill_id in way for way in _ways(compiled, current))


def refusal(skill_id: str, current: str | None, reachable: Iterable[str]) -> str:
    """Why the model may not open a skill, in a sentence that names those that it may."""
    known = list(reachable)
    named = ", ".join(known[:MOST_NAMED]) + (f" and {len(known) - MOST_NAMED} more" if known[MOST_NAMED:] else "")
    here = "at the start of the skill graph" if current is None else f"from {current!r}"
    return f"{skill_id!r} cannot be reached {here}; what can be is: {named or 'nothing'}"


def _ways(compiled: Compiled, current: str | None) -> tuple[Mapping[str, None], ...]:
    if current is None or current not in compiled.wired:
        return (compiled.entries,)
    return compiled.successors.get(current, {}), compiled.successors.get(ANY, {}), compiled.entries


def accept(
    compiled: Compiled, current: str | None, context: MoveContext, taken: Taken | None, notes: Notes
) -> Taken | None:
    """What was `taken` already, else the first pick that can be reached; every pick that leads elsewhere is noted.

    To open a base skill is no step: it applies beside the cursor, wherever that is.
    """
    for pick in dict.fromkeys(context.picks):
        if pick == current or pick in compiled.base:
            continue
        if pick not in compiled.wired:
            shown = unknown_id(pick)
            notes.lost(Loser(shown, By.PICK, Why.UNKNOWN, f"{shown!r} has no place in this graph"))
        elif not is_reachable(compiled, current, pick):
            reason = refusal(pick, current, reachable_from(compiled, current))
            notes.lost(Loser(pick, By.PICK, Why.UNREACHABLE, reason))
        elif taken is None:
            reason = f"the model picked {pick!r}, which can be reached"
            taken = Taken(pick, By.PICK, (Evidence("pick", pick),), reason)
        elif taken.to != pick:
            notes.lost(Loser(pick, By.PICK, Why.OVERRULED, f"the conversation goes to {taken.to!r} first"))
    return taken


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision on the way: its condition, its label, and whether it held."""

    condition: Condition
    label: str | None
    held: bool


@dataclass(frozen=True, slots=True)
class Leaf:
    """The skill that a walk leads to, the decisions on the way, and what showed that they hold or failed."""

    skill: str
    path: tuple[Decided, ...] = ()
    evidence: tuple[Evidence, ...] = ()


def walk(tree: TreeNode, default: str | None, sight: Sight) -> Leaf:
    """The one leaf of this moment; where a condition raises, the `default` one, or else its `otherwise` branch."""
    path: list[Decided] = []
    evidence: list[Evidence] = []
    node = tree
    while isinstance(node, Decide):
        verdict = judge(node.condition, sight)
        evidence += verdict.evidence
        path.append(Decided(node.condition, node.label, verdict.holds))
        node = node.then if verdict.holds else node.otherwise
        if verdict.raised and default is not None:
            node = default
    return Leaf(node, tuple(path), tuple(evidence))


def move_from(compiled: Compiled, context: MoveContext, scoring: EntryScoring | None = None) -> Move:
    """Where the conversation stands after this moment; pure, and it never raises for what conditions do."""
    sight = Sight(compiled.lexicon, compiled.declared.scales, context, scoring)
    return _among_entries(compiled, sight) if compiled.declared.tree is None else _in_tree(compiled, sight)


def _in_tree(compiled: Compiled, sight: Sight) -> Move:
    """The leaf is told as evidence: in a tree nobody moves."""
    declared, context = compiled.declared, sight.context
    leaf = walk(declared.tree or "", declared.default, sight)
    evidence = (Evidence("leaf", leaf.skill), *leaf.evidence)
    reason = f"the tree leads to {leaf.skill!r}"
    over = _too_many_iterations(declared.limits, context.iteration)
    if over is not None:
        return Move(context.current, context.current, By.STOPPED, evidence, reason=f"{over}; {reason}")
    by = By.NONE if context.current is None else By.STAY
    return Move(context.current, context.current, by, evidence, reason=reason)


def _among_entries(compiled: Compiled, sight: Sight) -> Move:
    notes, context, limits = Notes(), sight.context, compiled.declared.limits
    current = _known(compiled, context.current, notes)
    over = _too_many_iterations(limits, context.iteration)
    if over is not None:
        return notes.move(current, current, By.STOPPED, over)
    led = None
    if not context.between:
        led = begin(compiled, sight, notes) if current is None else leave(compiled, current, sight, notes)
    taken = accept(compiled, current, context, led, notes)
    if taken is None and current is None:
        return notes.move(None, None, By.NONE, why_none(compiled, sight))
    if taken is None:
        return notes.move(current, current, By.STAY, f"nothing leads away from {current!r} now")
    over = _too_many_visits(limits, context.visits, taken.to)
    if over is not None:
        notes.lost(Loser(taken.to, taken.by, Why.LIMIT, over))
        return notes.move(current, current, By.STOPPED, over)
    return notes.move(taken.to, current, taken.by, taken.reason, taken.evidence)


def _known(compiled: Compiled, current: str | None, notes: Notes) -> str | None:
    """The current skill, None where the graph does not know it."""
    if current is None or current in compiled.wired:
        return current
    shown = unknown_id(current)
    reason = f"{shown!r} has no place in this graph, which starts again"
    notes.lost(Loser(shown, By.STAY, Why.UNKNOWN, reason))
    return None


def _too_many_iterations(limits: Limits, iteration: int) -> str | None:
    most = limits.iterations
    return f"the limit of {most} iterations is reached" if most is not None and iteration > most else None


def _too_many_visits(limits: Limits, visits: Mapping[str, int], to: str) -> str | None:
    most = limits.visits_to(to)
    if most is not None and visits.get(to, 0) >= most:
        return f"the limit of {most} visits of {to!r} is reached"
    if limits.all_visits is not None and sum(visits.values()) >= limits.all_visits:
        return f"the limit of {limits.all_visits} visits is reached"
    return None
