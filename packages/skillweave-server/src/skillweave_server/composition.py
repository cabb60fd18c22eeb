"""Several skills together, what a tool call is ruled, sub-agents before they start, and skillweave's own tools."""

import asyncio
from functools import partial

from skillweave import Diagnostic, Ruling, Severity, ToolAnswer, Verdict, WhenUnknown
from skillweave.api import AuthorizeRequest, ComposeRequest, SpawnQuestion, ToolCallRequest, ValidateRequest
from skillweave.skills import ValidationResult
from skillweave.tools import TOOLS, CallFields, Composition, SpawnPlan, ToolSpec, denied_unread
from skillweave_server.calls import Call, IdempotencyKey
from skillweave_server.endpoints import ConversationId, Endpoints
from skillweave_server.problems import Refused
from skillweave_server.service import apply_waiting
from skillweave_stores.access import Scope

COMPOSITION = Endpoints("composition")


@COMPOSITION.at("POST", "/compose", scope=Scope.READ, takes=ComposeRequest, answers=Composition, problems=(404,))
async def compose(call: Call, asked: ComposeRequest) -> Composition:
    """What these skills allow, forbid and prescribe together; whether they may be used together `/validate` says."""
    return await call.weaver().composition.compose(asked.skills, asked.mode)


@COMPOSITION.at("POST", "/validate", scope=Scope.READ, takes=ValidateRequest, answers=ValidationResult)
async def validate(call: Call, asked: ValidateRequest) -> ValidationResult:
    """Whether these skills may be used together: every error, and warnings. An invalid set is an answer, status 200."""
    return await call.weaver().composition.validate(asked.skills, asked.host_tools)


@COMPOSITION.at("POST", "/authorize", scope=Scope.WEAVE, takes=AuthorizeRequest, answers=Verdict)
async def authorize(call: Call, asked: AuthorizeRequest, idempotency_key: IdempotencyKey = None) -> Verdict:
    """Whether a tool may be called in the conversation now: allowed, to be asked about, or denied with the reason.

    Ask it directly before the tool runs: a person's yes to one call lets it through once. The same `Idempotency-Key`
    again gets the same answer. Subscribers are told of a denied call, and never its arguments.
    """
    weaver = call.weaver()
    look = partial(
        weaver.current_policy,
        asked.conversation,
        tools=asked.tools,
        limits=asked.limits,
        placement=asked.placement,
    )
    # At once, as verdicts seldom wait; where one did, the policy that was read may be that of before.
    waited, policy = await asyncio.gather(apply_waiting(call.service, call.tenant, asked.conversation), look())
    if waited:
        policy = await look()
    if waited is None and call.service.when_unknown is WhenUnknown.DENY and asked.tool not in TOOLS:
        # A person's no may wait in the book of approvals, which does not answer: then no yes is taken either.
        ruled = policy.tools.authorize(
            asked.tool,
            asked.arguments,
            call_id=asked.call_id,
            parameters=asked.parameters,
            host_tools=asked.host_tools,
        )
        runs = ruled.ruling is Ruling.ALLOW or ruled.approved
        if runs and any(skill.checkpoints for skill in (await weaver.skills.snapshot()).values()):
            return denied_unread(asked.tool)
    return await weaver.authorize(
        policy,
        asked.tool,
        asked.arguments,
        call_id=asked.call_id,
        parameters=asked.parameters,
        host_tools=asked.host_tools,
        limits=asked.limits,
        key=idempotency_key or "",
    )


@COMPOSITION.at("POST", "/spawn", scope=Scope.WEAVE, takes=SpawnQuestion, answers=SpawnPlan, problems=(409,))
async def spawn(call: Call, asked: SpawnQuestion, idempotency_key: IdempotencyKey = None) -> SpawnPlan:
    """All that a sub-agent has to be started with; nothing is started.

    One that may not be started answers 409, with the errors, what to ask for instead, and the whole answer under
    `rejected`.
    """
    prepared = await call.weaver().composition.prepare_spawn(
        asked.request,
        parent=asked.plan or asked.parent,
        spawn_id=asked.id_with(idempotency_key),
        tools=asked.tools,
    )
    if isinstance(prepared, SpawnPlan):
        return prepared
    findings = tuple(
        Diagnostic(one.code, Severity.ERROR, one.message, prepared.fix, one.skill) for one in prepared.errors
    )
    raise Refused(409, "spawn-rejected", prepared.message, findings=findings, rejected=prepared)


@COMPOSITION.at("POST", "/spawn/started", scope=Scope.WEAVE, takes=SpawnPlan)
async def note_spawn_started(call: Call, asked: SpawnPlan) -> None:
    """Say that the sub-agent of this plan was started: subscribers are told."""
    await call.weaver().composition.spawned(asked)


@COMPOSITION.at("GET", "/tools", scope=Scope.READ, answers=tuple[ToolSpec, ...])
async def list_tools(call: Call) -> tuple[ToolSpec, ...]:
    """The tools of skillweave's own, which a host declares to its model and calls in a conversation."""
    return tuple(TOOLS.values())


@COMPOSITION.at(
    "POST",
    "/conversations/{conversation}/tools",
    scope=Scope.WEAVE,
    takes=ToolCallRequest,
    answers=ToolAnswer,
    problems=(409,),
)
async def call_tool(
    call: Call, conversation: ConversationId, asked: ToolCallRequest, idempotency_key: IdempotencyKey = None
) -> ToolAnswer:
    """What the model gets for its call of one of skillweave's own tools, also for a call that cannot be made.

    What it loads counts as given with the answer.
    """
    await apply_waiting(call.service, call.tenant, conversation)
    known: CallFields = {"transcript": asked.transcript, "tools": asked.tools, "limits": asked.limits}
    call_id = asked.call_id or idempotency_key
    if call_id is not None:
        known["call_id"] = call_id
    if asked.placement is not None:
        known["placement"] = asked.placement
    return await call.weaver().tools.call(asked.name, asked.arguments, conversation=conversation, **known)
