"""A turn's move: what a turn means to the graph, and the cursor before and after it (spec 3.2)."""

from collections.abc import Mapping
from dataclasses import replace

from skillweave.conversation import Role, Turn, latest
from skillweave.decisions import Evidence
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.graph.compiled import CompiledGraph
from skillweave.graph.move import LONGEST_TRAIL, Cursor, Move, MoveContext
from skillweave.graph.moving import move_from
from skillweave.graph.scoring import EntryScoring
from skillweave.select.selection import asked_in


def context_of(turn: Turn) -> MoveContext:
    """The moment that a turn stands for: the user's latest words, the tool results, the skills that were asked for.

    The iteration is counted from the transcript: the model's messages since the user's. Without a transcript it is 1
    when the user spoke and no tool has answered, else 2.
    """
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
    """Whether the turn is no new call of the model: it only answers a read, or nobody says anything in it.

    A turn with results of other tools is a call, so that the routes that wait for these results are asked.
    """
    return not turn.results and (bool(turn.reads) or (turn.message.content is None and not turn.named))


def at(cursor: Cursor | None, context: MoveContext, compiled: CompiledGraph) -> MoveContext:
    """The moment with the cursor's place in it; a cursor whose skill is gone from the graph counts as none."""
    if cursor is None or cursor.skill not in compiled.wired:
        return replace(context, current=None, visits=EMPTY, trail=())
    return replace(context, current=cursor.skill, visits=cursor.visits, trail=cursor.trail)


def advance(
    compiled: CompiledGraph,
    cursor: Cursor | None,
    context: MoveContext,
    turn_id: str,
    scoring: EntryScoring | None = None,
) -> tuple[Move, Cursor | None]:
    """The move of a turn, and the cursor after it, None where nothing is begun; a repeated turn makes the same move.

    Only the latest turn is known to have been seen already. A cursor of another version of the graph is kept while its
    skill exists, else the graph starts again; the move says so.
    """
    if cursor is not None and cursor.last_turn == turn_id and cursor.last_move is not None:
        return cursor.last_move, cursor
    there = at(cursor, context, compiled)
    move = move_from(compiled, there, scoring)
    if cursor is not None and cursor.digest != compiled.digest:
        move = _with_change_noted(move, cursor, compiled)
    if move.to is None or compiled.declared.tree is not None:
        return move, None
    if context.between and not move.moved:
        return move, cursor
    visits, trail = _visited(move, there)
    return move, Cursor(move.to, visits, trail, compiled.digest, turn_id, move)


def _visited(move: Move, there: MoveContext) -> tuple[Mapping[str, int], tuple[str, ...]]:
    if not move.moved or move.to is None:
        return there.visits, there.trail
    visits = {**there.visits, move.to: there.visits.get(move.to, 0) + 1}
    return FrozenDict(visits), (*there.trail, move.to)[-LONGEST_TRAIL:]


def _with_change_noted(move: Move, cursor: Cursor, compiled: CompiledGraph) -> Move:
    if cursor.skill in compiled.wired:
        note = f"the graph changed since the last move; {cursor.skill!r} is still in it"
    else:
        note = f"the graph changed and {cursor.skill!r} is no longer in it, so it starts again"
    return replace(move, evidence=(*move.evidence, Evidence("graph", note)), reason=f"{note}; {move.reason}")


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
