"""Turns: the main job. What to give to the model, whether it was delivered, and why it was so."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from uuid import uuid4

from skillweave import Diagnostic, Injection, Severity, StoreUnavailable
from skillweave.api import DeliveryMode, TurnRequest
from skillweave.events import MOST_KEPT, SkillInjected, SkillRefreshed
from skillweave.ledger import Logged
from skillweave.values import FrozenJson
from skillweave_server.calls import Call, IdempotencyKey
from skillweave_server.endpoints import ConversationId, Endpoints, TurnId
from skillweave_server.problems import Refused
from skillweave_server.service import apply_waiting
from skillweave_stores.access import Scope

TURNS = Endpoints("turns")
MEMORY_UNAVAILABLE = "memory-unavailable"
"""The code of the diagnostic of a turn that went without the conversation's working memory."""
log = logging.getLogger("skillweave_server")


@TURNS.at(
    "POST",
    "/conversations/{conversation}/turns",
    scope=Scope.WEAVE,
    takes=TurnRequest,
    answers=Injection,
    problems=(409,),
)
async def weave(
    call: Call, conversation: ConversationId, asked: TurnRequest, idempotency_key: IdempotencyKey = None
) -> Injection:
    """What to give to the model for this message.

    The same turn again gets the same answer and changes nothing. With the delivery `two-phase` the texts are claimed
    for 60 seconds: confirm the turn when the model has them, else release it.

    The events of the turn are in the conversation's stream, unless `diagnostics` has `observer-failed`: then the turn
    was kept, and the same turn again tells its events, once.
    """
    # First what may change the State, then the memory, with which the State may come.
    await apply_waiting(call.service, call.tenant, conversation)
    with call.service.reading_ahead():
        memory, found = await _working_memory(call, conversation)
        turn = asked.turn(conversation, key=idempotency_key, memory=memory, new_id=lambda: uuid4().hex)
        weaver = call.weaver(asked.budget)
        two_phase = asked.delivery is DeliveryMode.TWO_PHASE
        injection = await (weaver.claim(turn) if two_phase else weaver.weave(turn))
    call.service.meters.turn(injection)
    return replace(injection, diagnostics=(*injection.diagnostics, *found)) if found else injection


@TURNS.at("POST", "/conversations/{conversation}/turns/{turn}/confirm", scope=Scope.WEAVE, problems=(409,))
async def confirm(call: Call, conversation: ConversationId, turn: TurnId) -> None:
    """Say that what the turn claimed was delivered; again changes nothing as long as it is the latest turn.

    A turn that had nothing to give has no claim, and answers as one that is confirmed. A claim that is over answers
    409: what it gave counts as not delivered, and is given again when wanted.
    """
    weaver = call.weaver()
    if not await weaver.confirm(conversation, turn):
        state = await weaver.ledger.state(conversation)
        held = any(record.holder == turn for record in state.records)
        if not held and not await _gave_nothing(call, conversation, turn):
            raise _no_claim(turn)


@TURNS.at("POST", "/conversations/{conversation}/turns/{turn}/release", scope=Scope.WEAVE)
async def release(call: Call, conversation: ConversationId, turn: TurnId) -> None:
    """Say that what the turn claimed was not delivered: it is given again when wanted. Again changes nothing."""
    await call.weaver().release(conversation, turn)


@TURNS.at("GET", "/conversations/{conversation}/why", scope=Scope.READ, answers=tuple[Logged, ...])
async def why(call: Call, conversation: ConversationId, skill: str | None = None) -> tuple[Logged, ...]:
    """The kept decisions of the conversation, of one skill or all, oldest first; for thirty days."""
    return await call.weaver().why(conversation, skill)


async def _working_memory(call: Call, conversation: str) -> tuple[Mapping[str, FrozenJson], tuple[Diagnostic, ...]]:
    """What is kept; while nothing answers, nothing with a finding: a turn never fails for a store that is silent."""
    breaker, read = call.service.recalling, partial(call.service.memory.read, conversation, tenant=call.tenant)
    try:
        return await (breaker.ask(read) if breaker.troubled else read()), ()
    except StoreUnavailable as error:
        breaker.failed(error)
        log.warning("working memory of a turn was not read: %r", str(error))
        message = "working memory does not answer, so that the turn goes without it"
        fix = "try again when its store answers, or send what the turn needs as `memory`"
        return {}, (Diagnostic(MEMORY_UNAVAILABLE, Severity.WARNING, message, fix=fix),)


async def _gave_nothing(call: Call, conversation: str, turn: str) -> bool:
    """Whether the conversation's events tell of the turn, and of no text that it gave."""
    kept = await call.service.events.read(conversation, limit=MOST_KEPT, tenant=call.tenant)
    told = [one.event for one in kept if one.event.turn_id == turn]
    given = (SkillInjected.event_type, SkillRefreshed.event_type)
    return bool(told) and not any(event.event_type in given for event in told)


def _no_claim(turn: str) -> Refused:
    detail = f"turn {turn[:60]!r} has no open claim and gave nothing that counts; run the turn again"
    return Refused(409, "no-claim", detail)
