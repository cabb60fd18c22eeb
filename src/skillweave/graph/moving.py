"""Where a conversation goes from here, and why: what `next_skill`, `explain` and `advance` ask (spec 3.2, 3.3)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from skillweave.conversation import Role, ToolResult, Turn, latest
from skillweave.decisions import Evidence
from skillweave.errors import first_of
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.graph.compiled import CompiledGraph
from skillweave.graph.conditions import HOLDS, HOLDS_NOT, Condition, EvalContext, Regex, Verdict, judge_guard
from skillweave.graph.declared import ANY, Decide, Entry, EntryPick, Limits, Route, TreeNode
from skillweave.graph.move import LONGEST_TRAIL, By, ClosedGuard, Cursor, Loser, Move, MoveContext, Why
from skillweave.graph.scoring import EntryScoring
from skillweave.select.selection import asked_in

MOST_TOLD = 20
"""So many losers, closed guards and failures a move names: models and tools can bring any number of them."""
MOST_NAMED = 20
"""So many reachable skills a refusal names."""
LONGEST_UNKNOWN = 100
"""Characters of an id that no skill of the graph has; a model can write any text in the place of one."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """Where the entry, route or pick that won leads, and what speaks for it; limits are not asked yet."""

    to: str
    by: By
    evidence: tuple[Evidence, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision on the way through a tree: its condition, its label, and whether it held."""

    condition: Condition
    label: str | None
    held: bool


@dataclass(frozen=True, slots=True)
class Leaf:
    """The skill that a tree leads to, the decisions on the way, and what showed that they hold or failed."""

    skill: str
    path: tuple[Decided, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(slots=True, eq=False)
class Notes:
    """What a move tells beside its target, each thing once: losers, closed guards, conditions that raised."""

    losers: dict[Loser, None] = field(default_factory=dict)
    closed: dict[int, ClosedGuard] = field(default_factory=dict)
    failures: dict[Evidence, None] = field(default_factory=dict)

    def lost(self, loser: Loser) -> None:
        """Note that something would have led elsewhere."""
        if len(self.losers) < MOST_TOLD:
            self.losers[loser] = None

    def stayed_closed(self, route: Route, verdict: Verdict) -> None:
        """Note that the route's guard kept it from firing; of several results, the first one is told."""
        if verdict.closed is not None and id(route) not in self.closed and len(self.closed) < MOST_TOLD:
            reason = verdict.closed.reason
            self.closed[id(route)] = ClosedGuard(route.from_, route.to, str(route.guard), reason)

    def failed(self, verdict: Verdict, where: str) -> None:
        """Note that a condition raised."""
        for piece in verdict.evidence:
            if len(self.failures) < MOST_TOLD:
                self.failures[Evidence(piece.kind, f"{where}: {piece.text}")] = None

    def move(self, to: str | None, from_: str | None, by: By, reason: str, evidence: Iterable[Evidence] = ()) -> Move:
        """The move with everything that was noted."""
        losers, closed = tuple(self.losers), tuple(self.closed.values())
        return Move(to, from_, by, (*evidence, *self.failures), losers, closed, reason)


def move_from(compiled: CompiledGraph, ctx: EvalContext) -> Move:
    """Where the conversation stands after this moment; pure, and it never raises for what conditions do."""
    return _move_in_graph(compiled, ctx) if compiled.declared.tree is None else _move_in_tree(compiled, ctx)


def leaf_at(compiled: CompiledGraph, context: MoveContext, scoring: EntryScoring | None = None) -> Leaf | None:
    """The leaf that a decision tree leads to at this moment; None for a graph of entries and routes."""
    declared = compiled.declared
    if declared.tree is None:
        return None
    return walk(declared.tree, declared.default, EvalContext(compiled.lexicon, declared.scales, context, scoring))


def walk(tree: TreeNode, default: str | None, ctx: EvalContext) -> Leaf:
    """The one leaf of this moment; where a condition raises, the `default` one, or else its `otherwise` branch."""
    path: list[Decided] = []
    evidence: list[Evidence] = []
    node = tree
    while isinstance(node, Decide):
        verdict = node.condition.judge(ctx)
        evidence += verdict.evidence
        path.append(Decided(node.condition, node.label, verdict.holds))
        node = node.then if verdict.holds else node.otherwise
        if verdict.raised and default is not None:
            node = default
    return Leaf(node, tuple(path), tuple(evidence))


def reachable_from(compiled: CompiledGraph, current: str | None) -> tuple[str, ...]:
    """The skills that the model may open: successors, then entries, without `current`; all leaves of a tree."""
    if compiled.declared.tree is not None:
        return tuple(compiled.wired)
    return tuple(dict.fromkeys(one for way in _ways(compiled, current) for one in way if one != current))


def is_reachable(compiled: CompiledGraph, current: str | None, skill_id: str) -> bool:
    """Whether `reachable_from` names the skill, without writing them all out."""
    if compiled.declared.tree is not None:
        return skill_id in compiled.wired
    return skill_id != current and any(skill_id in way for way in _ways(compiled, current))


def refusal(skill_id: str, current: str | None, reachable: Iterable[str]) -> str:
    """Why the model may not open a skill, in a sentence that names those that it may."""
    named = first_of(list(reachable), MOST_NAMED)
    here = "at the start of the skill graph" if current is None else f"from {current!r}"
    return f"{skill_id!r} cannot be reached {here}; what can be is: {named or 'nothing'}"


def _ways(compiled: CompiledGraph, current: str | None) -> tuple[Mapping[str, None], ...]:
    if current is None or current not in compiled.wired:
        return (compiled.entries,)
    return compiled.successors.get(current, {}), compiled.successors.get(ANY, {}), compiled.entries


def _move_in_tree(compiled: CompiledGraph, ctx: EvalContext) -> Move:
    """The leaf is told as evidence: in a tree nobody moves."""
    declared, context = compiled.declared, ctx.context
    leaf = walk(declared.tree or "", declared.default, ctx)
    evidence = (Evidence("leaf", leaf.skill), *leaf.evidence)
    reason = f"the tree leads to {leaf.skill!r}"
    over = _iterations_over(declared.limits, context.iteration)
    if over is not None:
        return Move(context.current, context.current, By.STOPPED, evidence, reason=f"{over}; {reason}")
    by = By.NONE if context.current is None else By.STAY
    return Move(context.current, context.current, by, evidence, reason=reason)


def _move_in_graph(compiled: CompiledGraph, ctx: EvalContext) -> Move:
    notes, context, limits = Notes(), ctx.context, compiled.declared.limits
    current = context.current
    if current is not None and current not in compiled.wired:
        shown, current = unknown_id(current), None
        notes.lost(Loser(shown, By.STAY, Why.UNKNOWN, f"{shown!r} has no place in this graph, which starts again"))
    over = _iterations_over(limits, context.iteration)
    if over is not None:
        return notes.move(current, current, By.STOPPED, over)
    step = None
    if not context.between:
        step = _begin(compiled, ctx, notes) if current is None else _leave(compiled, current, ctx, notes)
    if context.picks:
        step = _accept_pick(compiled, current, context, step, notes)
    if step is None and current is None:
        return notes.move(None, None, By.NONE, _why_none(compiled, ctx))
    if step is None:
        return notes.move(current, current, By.STAY, f"nothing leads away from {current!r} now")
    over = _visits_over(limits, context.visits, step.to)
    if over is not None:
        notes.lost(Loser(step.to, step.by, Why.LIMIT, over))
        return notes.move(current, current, By.STOPPED, over)
    return notes.move(step.to, current, step.by, step.reason, step.evidence)


def _iterations_over(limits: Limits, iteration: int) -> str | None:
    most = limits.iterations
    return f"the limit of {most} iterations is reached" if most is not None and iteration > most else None


def _visits_over(limits: Limits, visits: Mapping[str, int], to: str) -> str | None:
    most = limits.visits_of.get(to, limits.visits)
    if most is not None and visits.get(to, 0) >= most:
        return f"the limit of {most} visits of {to!r} is reached"
    if limits.all_visits is not None and sum(visits.values()) >= limits.all_visits:
        return f"the limit of {limits.all_visits} visits is reached"
    return None


def _begin(compiled: CompiledGraph, ctx: EvalContext, notes: Notes) -> NextStep | None:
    pick = compiled.declared.pick
    if pick is EntryPick.DECLARATION:
        return first_entry(compiled, ctx, notes)
    if pick is EntryPick.READ or ctx.scoring is None:
        return None
    return _scored_entry(compiled, ctx, ctx.scoring, notes)


def _why_none(compiled: CompiledGraph, ctx: EvalContext) -> str:
    pick = compiled.declared.pick
    if ctx.context.between:
        return "nothing has begun yet"
    if pick is EntryPick.READ:
        return "the model begins by reading one of the entries"
    if pick is EntryPick.DECLARATION:
        return "no entry's condition holds"
    return "the entries were not scored" if ctx.scoring is None else "the scorer chose no entry"


def candidates(compiled: CompiledGraph, ctx: EvalContext) -> Iterator[Entry]:
    """The entries that may hold, in order: those of which a phrase stands in the message, and those that need none."""
    hit = (position for number in ctx.hits for position in compiled.by_phrase.get(number, ()))
    return (compiled.declared.entries[position] for position in sorted({*compiled.without_phrase, *hit}))


def first_entry(compiled: CompiledGraph, ctx: EvalContext, notes: Notes) -> NextStep | None:
    """The first entry that may begin, in the order of declaration."""
    never = is_never(compiled, ctx)
    for entry in candidates(compiled, ctx):
        if entry.condition is None:
            reason = f"{entry.skill!r} is the first entry that may begin, and it has no condition"
            return NextStep(entry.skill, By.ENTRY, (Evidence("entry", entry.skill),), reason)
        verdict = HOLDS_NOT if never else entry.condition.judge(ctx)
        if verdict.holds:
            reason = f"{entry.skill!r} is the first entry whose condition holds"
            return NextStep(entry.skill, By.ENTRY, verdict.evidence, reason)
        if verdict.raised:
            notes.failed(verdict, f"entry {entry.skill}")
    return None


def is_never(compiled: CompiledGraph, ctx: EvalContext) -> bool:
    """Whether the user's message is a phrase that must not start any conditional entry."""
    return bool(compiled.never) and " ".join(ctx.message.text.split()) in compiled.never


def _scored_entry(compiled: CompiledGraph, ctx: EvalContext, scoring: EntryScoring, notes: Notes) -> NextStep | None:
    chosen = scoring.chosen
    if chosen is None:
        return None
    if not may_begin(compiled, ctx, chosen, notes):
        reason = f"the scorer {scoring.scorer!r} chose {chosen!r}, which may not begin now"
        notes.lost(Loser(chosen, By.SCORER, Why.UNREACHABLE if chosen in compiled.wired else Why.UNKNOWN, reason))
        return None
    share = next((ranked.relevance for ranked in scoring.ranked if ranked.skill == chosen), None)
    said = "" if share is None else f" with a relevance of {share:.2f}"
    reason = f"the scorer {scoring.scorer!r} chose {chosen!r}{said}"
    return NextStep(chosen, By.SCORER, (Evidence("score", scoring.scorer),), reason)


def may_begin(compiled: CompiledGraph, ctx: EvalContext, chosen: str, notes: Notes) -> bool:
    """Whether an entry of that skill has no condition, or one that holds; entries are judged in order, up to it."""
    never = is_never(compiled, ctx)
    for entry in compiled.declared.entries:
        verdict = HOLDS if entry.condition is None else HOLDS_NOT if never else entry.condition.judge(ctx)
        if verdict.holds and entry.skill == chosen:
            return True
        if verdict.raised:
            notes.failed(verdict, f"entry {entry.skill}")
    return False


def _leave(compiled: CompiledGraph, current: str, ctx: EvalContext, notes: Notes) -> NextStep | None:
    """The first route that fires, result by result; the skill's own routes come before those from ANY."""
    routes = compiled.routes_from.get(current, ())
    if compiled.any_routes:
        routes = (*routes, *(route for route in compiled.any_routes if route.to != current))
    step: NextStep | None = None
    for result in ctx.context.tools or (None,):
        for route in routes:
            evidence = _firing(route, result, ctx, notes)
            if evidence is None:
                continue
            if step is None:
                step = NextStep(route.to, By.ROUTE, evidence, f"the {described(route)} fires")
            elif route.to != step.to:
                notes.lost(Loser(route.to, By.ROUTE, Why.LATER, f"an earlier result already led to {step.to!r}"))
            break
    return step


def _firing(route: Route, result: ToolResult | None, ctx: EvalContext, notes: Notes) -> tuple[Evidence, ...] | None:
    evidence = _matched(route, result, ctx)
    if evidence is None:
        return None
    if route.condition is not None:
        verdict = route.condition.judge(ctx, result)
        if verdict.raised:
            notes.failed(verdict, described(route))
        if not verdict.holds:
            return None
        evidence += verdict.evidence
    if route.guard is not None:
        verdict = judge_guard(route.guard, ctx, result)
        if not verdict.holds:
            notes.stayed_closed(route, verdict)
            return None
        evidence += verdict.evidence
    return evidence


def _matched(route: Route, result: ToolResult | None, ctx: EvalContext) -> tuple[Evidence, ...] | None:
    """The tool and status of the result that the route waits for; None where it waits for others, or for any at all."""
    tool, statuses = route.on_tool, route.on_status
    if result is None:
        return () if tool is None and not statuses else None
    if statuses and result.status not in statuses:
        return None
    if tool is None:
        return (Evidence("status", result.status),) if statuses else ()
    if isinstance(tool, Regex):
        if ctx.lexicon.patterns[tool].search(result.tool.encode("utf-8", "replace")) is None:
            return None
        tool = tool.source
    elif tool != result.tool:
        return None
    return (Evidence("tool", tool), Evidence("status", result.status)) if statuses else (Evidence("tool", tool),)


def _accept_pick(
    compiled: CompiledGraph, current: str | None, context: MoveContext, step: NextStep | None, notes: Notes
) -> NextStep | None:
    """The decided `step`, else the first reachable pick; other picks lose. Opening a base skill is no step."""
    for pick in dict.fromkeys(context.picks):
        if pick == current or pick in compiled.base:
            continue
        if pick not in compiled.wired:
            shown = unknown_id(pick)
            notes.lost(Loser(shown, By.PICK, Why.UNKNOWN, f"{shown!r} has no place in this graph"))
        elif not is_reachable(compiled, current, pick):
            reason = refusal(pick, current, reachable_from(compiled, current))
            notes.lost(Loser(pick, By.PICK, Why.UNREACHABLE, reason))
        elif step is None:
            reason = f"the model picked {pick!r}, which can be reached"
            step = NextStep(pick, By.PICK, (Evidence("pick", pick),), reason)
        elif step.to != pick:
            notes.lost(Loser(pick, By.PICK, Why.OVERRULED, f"the conversation goes to {step.to!r} first"))
    return step


def described(route: Route) -> str:
    """The route in words."""
    from_ = "any skill" if route.from_ == ANY else repr(route.from_)
    label = f" ({route.label})" if route.label else ""
    return f"route from {from_} to {route.to!r}{label}"


def unknown_id(skill_id: str) -> str:
    """An id that no skill of the graph has, cut and escaped so that any store takes it."""
    cut = skill_id[:LONGEST_UNKNOWN]
    return cut if cut.isprintable() else ascii(cut)[1:-1]


def context_of(turn: Turn) -> MoveContext:
    """The moment of a turn; the iteration counts the transcript, without one it is 1 if the user just spoke, else 2."""
    transcript = turn.transcript or ()
    spoke = turn.message if turn.message.role is Role.USER else latest(Role.USER, transcript)
    return MoveContext(
        user="" if spoke is None else spoke.text,
        iteration=_iteration(turn),
        history=transcript,
        tools=turn.results,
        picks=tuple(asked_in(turn)),
        between=is_between(turn),
    )


def is_between(turn: Turn) -> bool:
    """Whether the turn is no new call of the model: it answers a read, or nobody spoke and no tool answered."""
    return not turn.results and (bool(turn.reads) or (turn.message.content is None and not turn.named))


def at(cursor: Cursor | None, context: MoveContext, compiled: CompiledGraph) -> MoveContext:
    """The moment with the cursor's place in it; a cursor whose skill is gone from the graph counts as none."""
    if cursor is None or cursor.skill not in compiled.wired:
        return replace(context, current=None, visits=EMPTY, trail=())
    return replace(context, current=cursor.skill, visits=cursor.visits, trail=cursor.trail)


def advance(
    compiled: CompiledGraph, cursor: Cursor | None, ctx: EvalContext, turn_id: str
) -> tuple[Move, Cursor | None]:
    """The move of a turn and the cursor after it (None: nothing begun); a repeat of the last turn moves alike.

    If the graph changed, the cursor is kept while its skill exists, else the graph starts again; the move says so.
    """
    if cursor is not None and cursor.last_turn == turn_id and cursor.last_move is not None:
        return cursor.last_move, cursor
    there = at(cursor, ctx.context, compiled)
    move = move_from(compiled, replace(ctx, context=there))
    if cursor is not None and cursor.digest != compiled.digest:
        note = f"the graph changed since the last move; {cursor.skill!r} is still in it"
        if cursor.skill not in compiled.wired:
            note = f"the graph changed and {cursor.skill!r} is no longer in it, so it starts again"
        evidence = (*move.evidence, Evidence("graph", note))
        move = replace(move, evidence=evidence, reason=f"{note}; {move.reason}")
    if move.to is None or compiled.declared.tree is not None:
        return move, None
    if there.between and not move.moved:
        return move, cursor
    visits, trail = there.visits, there.trail
    if move.moved:
        visits = FrozenDict({**visits, move.to: visits.get(move.to, 0) + 1})
        trail = (*trail, move.to)[-LONGEST_TRAIL:]
    return move, Cursor(move.to, visits, trail, compiled.digest, turn_id, move)


def _iteration(turn: Turn) -> int:
    if turn.transcript is None:
        return 1 if turn.message.role is Role.USER and not turn.results else 2
    after = 0
    for message in reversed(turn.transcript):
        if message.role is Role.USER:
            # Not every host counts what was just said to the transcript.
            is_new = turn.message.role is Role.USER and message.text != turn.message.text
            return 1 if is_new else after + 1
        after += message.role is Role.ASSISTANT
    return 1 if turn.message.role is Role.USER else after + 1
