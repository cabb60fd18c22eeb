"""One turn from end to end: reads before and inside a pure core, whose answer the Weaver stores (spec 5).

prepare ─▶ reconcile ▸ move ▸ select ▸ admit ▸ (fetch) ▸ disclose ▸ policy ▸ settle
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from skillweave.conversation import Message, Placement, Role, Turn
from skillweave.decisions import Outcome
from skillweave.errors import StoreUnavailable
from skillweave.knowledge.context import ContextSource
from skillweave.select.candidates import Rejected, Selection
from skillweave.select.matchers import FITTED, NOTHING_PREPARED, Matchers, Thresholds, prepare_matchers
from skillweave.select.matchers import Prepared as PreparedMatchers
from skillweave.select.selection import select
from skillweave.settings import Settings
from skillweave.state.state import Delivery, State
from skillweave.turn.admit import Admission, SkillInTurn, admit_skills
from skillweave.turn.disclose import RecordContext, disclose
from skillweave.turn.entity import Named, name_in
from skillweave.turn.fetch import Contents, ReadArtifact, fetch
from skillweave.turn.library import Library
from skillweave.turn.make_room import added, leaving, without
from skillweave.turn.move import Position, move
from skillweave.turn.policy import tool_policy, with_denials
from skillweave.turn.reconcile import Reconciled, blocks_in, digest_of, is_replay, reconcile
from skillweave.turn.settle import Settled, settle
from skillweave.turn.spoken import in_own_words, may_hold_ours
from skillweave.turn.tail import standing_catalog

LONG_TEXT = 64 * 1024
"""A turn about more characters of skill text than this is worked out beside the event loop."""
LONG_MESSAGE = 8 * 1024
"""A message of more characters than this is matched beside the event loop."""
LONG_SEARCH = 20_000_000
"""Instructions of patterns times characters of a message from which on it is, too: some ten milliseconds."""
SEPARATOR_TOKENS = 3
"""What joining one more block into the instructions of a call can cost at most: a blank line, and a broken merge."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is known of a turn before anything is known of the conversation; it holds for every attempt to store it.

    `selection` is what the matchers say, None where that depends on the place in the skill graph, or on which words of
    the message are not ours. `blocks` are those that the transcript holds, `matched` is what the matchers made ready
    for it. `withheld` is why nothing that they say counts.
    """

    library: Library
    selection: Selection | None
    blocks: Counter[str] | None
    matched: PreparedMatchers = NOTHING_PREPARED
    withheld: StoreUnavailable | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a turn reads contents: artifacts, entity context, None without any, and the seconds that they may take.

    `context_seconds` are those of entity context, None for the same.
    """

    artifacts: ReadArtifact
    context: ContextSource | None
    seconds: float
    context_seconds: float | None = None


async def prepare(
    turn: Turn, library: Library, matchers: Matchers, seconds: float, thresholds: Thresholds = FITTED
) -> Prepared:
    """What the matchers say to the turn, and which blocks its transcript holds."""
    ready = NOTHING_PREPARED
    # Only the State knows which words in there are ours.
    mixed = may_hold_ours(turn.message)
    if matchers.preparing and not mixed:
        ready = await prepare_matchers(matchers, library.index, turn, seconds)
    outside = library.graph is None or turn.limits is not None
    return Prepared(
        library=library,
        selection=await _select(turn, library, matchers, ready, thresholds) if outside and not mixed else None,
        blocks=None if turn.transcript is None else blocks_in(turn.transcript),
        matched=ready,
    )


async def completed(
    turn: Turn, prepared: Prepared, before: State, matchers: Matchers, seconds: float
) -> tuple[Turn, Prepared]:
    """The turn in nobody's words but the user's own, and what the matchers prepare for these."""
    said = in_own_words(turn, before)
    if not may_hold_ours(turn.message) or not matchers.preparing:
        return said, prepared
    return said, replace(prepared, matched=await prepare_matchers(matchers, prepared.library.index, said, seconds))


async def run(
    turn: Turn,
    prepared: Prepared,
    before: State,
    now: float,
    settings: Settings,
    matchers: Matchers,
    reading: Reading,
    delivery: Delivery,
) -> Settled:
    """The answer to a turn, and the State after it; the same for the same input, and nothing is written.

    `before` and `now` are the conversation's State and the store's clock. `delivery` is `given` for a turn that counts
    as delivered on return, `claimed` for one that is confirmed later.
    """
    turn, prepared = await completed(turn, prepared, before, matchers, reading.seconds)
    library = prepared.library
    told = digest_of(turn.transcript) if turn.reads and turn.transcript is not None else ""
    # Under the id of the latest turn, other words are another turn: what that one gave is there, not to be given again.
    reused = before.last_turn == turn.id and not is_replay(turn, before)
    context = reconcile(before, prepared.blocks, holder="" if reused else turn.id, now=now, told=told)
    if library.graph is not None:
        turn = with_denials(turn, before, library, settings, matchers, now)
    position = None if library.graph is None else await find_place(turn, prepared, before, reading.seconds)
    selection = prepared.selection
    if selection is None or prepared.withheld is not None:
        selection = await selected(turn, prepared, position, matchers, settings.thresholds)
    admission = admit_skills(turn, selection, library.snapshot, settings, matchers, before, context, position)
    wanted = admission.skills
    named = None if reading.context is None else await _named(turn, settings, library, before)
    cursor = None if position is None else position.skill
    contents = await fetch(wanted, named, reading.artifacts, reading.context, reading.seconds, reading.context_seconds)

    subject = contents.subject
    if reading.context is None:
        about = before.entity
    else:
        about = "" if named is None else before.entity if subject is None else subject.remembered

    def work() -> Settled:
        recording = RecordContext(turn.id, now, delivery, told)
        catalog = standing_catalog(settings, library.catalog)
        pricing = library.catalog.pricing

        def shown_in(admission: Admission, context: Reconciled) -> tuple[Admission, int]:
            # In call placement too: what the model read with our tools stands in the history.
            room = settings.budget.usable - catalog.tokens - sum(context.tokens_by_carrier().values())
            if turn.placement is Placement.CALL:
                room -= SEPARATOR_TOKENS * (len(wanted) + 2)
            groups = disclose(turn, admission.groups, settings, context, contents, pricing, catalog, recording, room)
            return replace(admission, groups=groups), room

        there = context
        shown, room = shown_in(admission, there)
        gone = leaving(turn, shown, there, settings.budget.per_skill, room - added(shown), cursor)
        # What answers a model's call must not take away what another call of the same reply stands on.
        if gone.drops and not turn.reads and not turn.append_only:
            there = there.without(gone.carriers, turn.id)
            shown, room = shown_in(without(admission, gone), there)
        active = [one for one in shown.skills if one.binds_at(one.shown.rung)]
        policy = tool_policy(turn, settings, matchers, library.snapshot, before, shown, active, position)
        decisions = (*contents.decisions, *shown.decisions)
        return settle(
            turn, settings, library, before, there, position, shown, recording, catalog, policy, decisions, room,
            selection,
            entity=about,
            suggested=gone.drops if turn.reads else (),
        )  # fmt: skip

    # To divide and count a long text takes a tenth of a second or more, in which other conversations go on.
    settled = await asyncio.to_thread(work) if _is_long(wanted, contents) else work()
    unclear = () if subject is None or subject.problem is None else (subject.problem,)
    hindered = (*prepared.matched.diagnostics, *selection.diagnostics, *unclear)
    if not hindered:
        return settled
    injection = settled.injection
    return replace(settled, injection=replace(injection, diagnostics=(*hindered, *injection.diagnostics)))


async def find_place(turn: Turn, prepared: Prepared, before: State, seconds: float) -> Position | None:
    """Where the turn stands in the skill graph; None without a graph, and for a spawned agent."""
    graph = prepared.library.graph_for(turn)
    if graph is None:
        return None
    # Where nothing is given nothing moves: the conversation stays where its rules are.
    silent = Turn(turn.id, turn.conversation, Message(Role.TOOL, None))
    return await move(graph, before, turn if prepared.withheld is None else silent, seconds)


async def selected(
    turn: Turn, prepared: Prepared, position: Position | None, matchers: Matchers, thresholds: Thresholds = FITTED
) -> Selection:
    """What the turn calls for: at a place in the skill graph only what may be chosen there."""
    selection = prepared.selection
    if selection is None or position is not None:
        within = None if position is None else position.here.within
        found = await _select(turn, prepared.library, matchers, prepared.matched, thresholds, within)
        selection = found if position is None else position.lead(found)
    if prepared.withheld is None:
        return selection
    reason = f"withheld while the ledger does not answer: {prepared.withheld}"
    failed = tuple(Rejected(candidate, Outcome.FAILED, reason) for candidate in selection.chosen)
    return replace(selection, chosen=(), rejected=(*failed, *selection.rejected), offered=())


async def _select(
    turn: Turn,
    library: Library,
    matchers: Matchers,
    ready: PreparedMatchers,
    thresholds: Thresholds,
    within: frozenset[str] | None = None,
) -> Selection:
    """What the matchers say; beside the event loop where that takes long.

    A spawned agent gets none of the skills that its limits close.
    """
    if turn.limits is not None and turn.limits.closed_skills:
        within = frozenset(library.snapshot.skills).difference(turn.limits.closed_skills)
    work = partial(select, library.index, turn, within=within, matchers=matchers, prepared=ready, thresholds=thresholds)
    long = _is_long_search(turn, library.index.triggers.patterns.size)
    return await asyncio.to_thread(work) if long else work()


async def _named(turn: Turn, settings: Settings, library: Library, before: State) -> Named | None:
    """The entity that is named; it is looked for beside the event loop where that takes long."""
    work = partial(name_in, turn, settings, library.entities, before.entity)
    size = library.entities.recogniser.size
    return await asyncio.to_thread(work) if size and _is_long_search(turn, size) else work()


def _is_long_search(turn: Turn, size: int) -> bool:
    """Whether to search what the user said takes long, with patterns of so many instructions."""
    length = len(turn.message.text) if turn.message.role is Role.USER else 0
    return length > LONG_MESSAGE or length * size > LONG_SEARCH


def _is_long(wanted: Sequence[SkillInTurn], contents: Contents) -> bool:
    bodies = (text for one in wanted for text in (one.skill.text.instructions or "", *one.skill.text.steps))
    documents = (document.content for document in contents.documents.values())
    return sum(map(len, (*bodies, *documents))) > LONG_TEXT
