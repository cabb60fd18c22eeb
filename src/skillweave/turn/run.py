"""One turn from end to end: reads before and inside a pure core, whose answer the Weaver stores (spec 5).

prepare ─▶ reconcile ▸ move ▸ select ▸ admit ▸ (fetch) ▸ disclose ▸ policy ▸ settle
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial

from skillweave.decisions import Outcome
from skillweave.diagnostics import Diagnostic
from skillweave.dialogue import Message, Role, Turn
from skillweave.errors import StoreUnavailable
from skillweave.knowledge.context import ContextSource
from skillweave.registry import Snapshot
from skillweave.relations.rules import all_requirements
from skillweave.select.candidates import Rejected, Selection
from skillweave.select.matchers import NOTHING_PREPARED, Matchers, prepare_matchers
from skillweave.select.matchers import Prepared as PreparedMatchers
from skillweave.select.selection import select
from skillweave.state.state import Delivery, State
from skillweave.turn.admit import Admission, admit_skills
from skillweave.turn.disclose import disclose
from skillweave.turn.fetch import Contents, Named, ReadArtifact, fetch, name_in
from skillweave.turn.library import Inputs, Library, inputs_of
from skillweave.turn.move import Position, move
from skillweave.turn.policy import held_to, tool_policy, with_denials
from skillweave.turn.reconcile import Reconciled, blocks_in, in_own_words, may_hold_ours, reconcile
from skillweave.turn.settle import Settled, settle

LONG_TEXT = 64 * 1024
"""A turn about more characters of skill text than this is worked out beside the event loop."""
LONG_MESSAGE = 8 * 1024
"""A message of more characters than this is matched beside the event loop."""
LONG_SEARCH = 20_000_000
"""Instructions of patterns times characters of a message from which on it is, too: some ten milliseconds."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is known of a turn before anything is known of the conversation; it holds for every attempt to store it.

    `selection` is what the matchers say, None where that depends on the place in the skill graph, or on which words of
    the message are not ours; the latter is `mixed`. `blocks` are those that the transcript holds, `matched` is what
    the matchers made ready for it. `withheld` is why no skill with rules may be given.
    """

    library: Library
    selection: Selection | None
    blocks: Counter[str] | None
    matched: PreparedMatchers = NOTHING_PREPARED
    withheld: StoreUnavailable | None = None
    mixed: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a turn reads contents: artifacts, entity context, None without any, and the seconds that they may take.

    `context_seconds` are those of entity context, None for the same.
    """

    artifacts: ReadArtifact
    context: ContextSource | None
    seconds: float
    context_seconds: float | None = None


async def prepare(turn: Turn, library: Library, matchers: Matchers, seconds: float) -> Prepared:
    """Returns what the matchers say to the turn, and which blocks its transcript holds."""
    blocks = None if turn.transcript is None else blocks_in(turn.transcript)
    # Only the State knows which words in there are ours.
    if may_hold_ours(turn.message):
        return Prepared(library, None, blocks, mixed=True)
    ready = NOTHING_PREPARED
    if matchers.preparing:
        ready = await prepare_matchers(matchers, library.index, turn, seconds)
    outside = library.graph is None or turn.limits is not None
    selection = await _select(turn, library, matchers, ready) if outside else None
    return Prepared(library, selection, blocks, ready)


async def completed(
    turn: Turn, prepared: Prepared, before: State, matchers: Matchers, seconds: float
) -> tuple[Turn, Prepared]:
    """Returns a `mixed` turn in nobody's words but the user's own, and what the matchers prepare for these."""
    said = in_own_words(turn, before)
    if not matchers.preparing:
        return said, prepared
    return said, replace(prepared, matched=await prepare_matchers(matchers, prepared.library.index, said, seconds))


async def run(
    turn: Turn,
    prepared: Prepared,
    before: State,
    now: float,
    matchers: Matchers,
    reading: Reading,
    delivery: Delivery,
) -> Settled:
    """Returns the answer to a turn and the State after it; the same for the same input, and nothing is written.

    `before` and `now` are the conversation's State and the store's clock. `delivery` is `given` for a turn that counts
    as delivered on return, `claimed` for one that is confirmed later.
    """
    if prepared.mixed:
        turn, prepared = await completed(turn, prepared, before, matchers, reading.seconds)
    if before.limits is not None:
        turn = held_to(before.limits, turn)
        if before.limits.closed_skills:
            prepared = replace(prepared, selection=None)
    library = prepared.library
    if library.graph is not None and turn.results:
        turn = with_denials(turn, before, library, matchers, now)
    inputs = inputs_of(turn, before, now, library, matchers, delivery)
    # Under the id of the latest turn, other words are another turn: what that one gave is there, not to be given again.
    holder = "" if before.last_turn == turn.id and not inputs.again else turn.id
    context = reconcile(before, prepared.blocks, holder=holder, now=now, told=inputs.told)
    position = None if library.graph is None else await find_place(turn, prepared, before, reading.seconds)
    selection = prepared.selection
    if selection is None or prepared.withheld is not None:
        selection = await selected(turn, prepared, position, matchers)
    admission = admit_skills(inputs, selection, context, position)
    named = None if reading.context is None else await _named(inputs)
    contents = await fetch(
        admission.skills, named, reading.artifacts, reading.context, reading.seconds, reading.context_seconds
    )
    hindered = (*prepared.matched.diagnostics, *selection.diagnostics)
    # To divide and count a long text takes a tenth of a second or more, in which other conversations go on.
    bodies = (text for one in admission.skills for text in (one.skill.text.instructions or "", *one.skill.text.steps))
    documents = (document.content for document in contents.documents.values())
    if sum(map(len, (*bodies, *documents))) > LONG_TEXT:
        return await asyncio.to_thread(_answer, inputs, context, position, selection, admission, contents, hindered)
    return _answer(inputs, context, position, selection, admission, contents, hindered)


def _answer(
    inputs: Inputs,
    context: Reconciled,
    position: Position | None,
    selection: Selection,
    admission: Admission,
    contents: Contents,
    hindered: tuple[Diagnostic, ...],
) -> Settled:
    """The steps after the last read: disclose ▸ policy ▸ settle."""
    disclosed = disclose(inputs, admission, context, contents, None if position is None else position.skill)
    policy = tool_policy(inputs, disclosed.admission, disclosed.active, position)
    return settle(inputs, disclosed, position, selection, contents, policy, hindered)


async def find_place(turn: Turn, prepared: Prepared, before: State, seconds: float) -> Position | None:
    """Returns where the turn stands in the skill graph; None without a graph, and for a spawned agent."""
    graph = prepared.library.graph
    if graph is None or turn.limits is not None:
        return None
    if prepared.withheld is not None:
        # What is not recorded moves nothing: the conversation stays where its rules are.
        turn = Turn(turn.id, turn.conversation, Message(Role.TOOL, None))
    return await move(graph, before, turn, seconds)


async def selected(turn: Turn, prepared: Prepared, position: Position | None, matchers: Matchers) -> Selection:
    """Returns what the turn calls for: at a place in the skill graph only what may be chosen there."""
    selection = prepared.selection
    if selection is None or position is not None:
        within = None if position is None else position.here.within
        found = await _select(turn, prepared.library, matchers, prepared.matched, within)
        selection = found if position is None else position.lead(found)
    if prepared.withheld is None:
        return selection
    reason = f"its rules cannot be recorded while the ledger does not answer: {prepared.withheld}"
    skills = prepared.library.snapshot
    ruling = [one for one in selection.chosen if _brings_rules(one.skill_id, skills)]
    failed = tuple(Rejected(candidate, Outcome.FAILED, reason) for candidate in ruling)
    chosen = tuple(one for one in selection.chosen if one not in ruling)
    return replace(selection, chosen=chosen, rejected=(*failed, *selection.rejected))


def _brings_rules(skill_id: str, snapshot: Snapshot) -> bool:
    """Whether the skill, or one that it requires, rules on tool calls."""
    group = (skill_id, *(one.rule.skill for one in all_requirements((skill_id,), snapshot)))
    return any(one in snapshot and snapshot.skills[one].has_rules for one in group)


async def _select(
    turn: Turn,
    library: Library,
    matchers: Matchers,
    ready: PreparedMatchers,
    within: frozenset[str] | None = None,
) -> Selection:
    """What the matchers say; beside the event loop where that takes long.

    A spawned agent gets none of the skills that its limits close.
    """
    if turn.limits is not None and turn.limits.closed_skills:
        within = frozenset(library.snapshot.skills).difference(turn.limits.closed_skills)
    index, thresholds = library.index, library.thresholds
    work = partial(select, index, turn, within=within, matchers=matchers, prepared=ready, thresholds=thresholds)
    return await asyncio.to_thread(work) if _is_long_search(turn, index.triggers.patterns.size) else work()


async def _named(inputs: Inputs) -> Named | None:
    """The entity that is named; it is looked for beside the event loop where that takes long."""
    turn, entities = inputs.turn, inputs.library.entities
    work = partial(name_in, turn, inputs.library.settings, entities, inputs.before.entity)
    size = entities.recogniser.size
    return await asyncio.to_thread(work) if size and _is_long_search(turn, size) else work()


def _is_long_search(turn: Turn, size: int) -> bool:
    """Whether to search what the user said takes long, with patterns of so many instructions."""
    length = len(turn.message.text)
    return length > LONG_MESSAGE or length * size > LONG_SEARCH
