"""Where questions to people are asked and answered: the log's row first, then the conversation, then the listeners."""

import logging
from dataclasses import dataclass

from skillweave.approvals.book import ApprovalBook
from skillweave.approvals.case import ApprovalCase, ApprovalNotFound, ApprovalReply, ApprovalRequest
from skillweave.approvals.steps import verdict_of
from skillweave.errors import CheckpointNotFound, InvalidVerdict, SkillNotFound
from skillweave.events.event import EventStream
from skillweave.state.approvals import shown_with
from skillweave.state.port import Store
from skillweave.state.state import Approval, ApprovalVerdict, State
from skillweave.weaver import Weaver
from skillweave.weaver.approvals import CheckpointVerdict, require_askable
from skillweave.weaver.events import decided_event

log = logging.getLogger("skillweave")

_REFUSALS = (InvalidVerdict, SkillNotFound, CheckpointNotFound)


@dataclass(frozen=True, slots=True)
class ApprovalDesk:
    """Asks and answers for one tenant; before every turn `apply_waiting` applies what a crash left."""

    book: ApprovalBook
    weaver: Weaver
    events: EventStream

    async def ask(self, approval_id: str, request: ApprovalRequest) -> ApprovalCase:
        """Keeps a question with the conversation as it is. Raises SkillNotFound, CheckpointNotFound, InvalidVerdict."""
        tenant = self.weaver.ledger.tenant
        try:
            known = await self.book.get(approval_id, tenant=tenant)
        except ApprovalNotFound:
            state = await self.weaver.ledger.state(request.conversation)
            digest = require_askable(await self.weaver.skills.snapshot(), state, _yes_to(request))
            return await self.book.open(approval_id, request, digest, state, tenant=tenant)
        return await self.book.open(approval_id, request, known.digest, known.state or State(), tenant=tenant)

    async def decide(self, approval_id: str, reply: ApprovalReply, key: str = "") -> ApprovalCase:
        """Keeps what a person said and applies it, once. Raises ApprovalNotFound, AlreadyDecided, InvalidVerdict."""
        asked = await self.book.get(approval_id, tenant=self.weaver.ledger.tenant)
        case = await self.book.decide(approval_id, _said(asked, reply), key=key, tenant=self.weaver.ledger.tenant)
        return case if case.applied else await self._apply(case)

    async def apply_waiting(self, conversation: str) -> bool:
        """Applies verdicts that wait for the conversation, and returns whether any did; refused ones are asked anew."""
        waiting = await self.book.waiting(conversation, tenant=self.weaver.ledger.tenant)
        for case in waiting:
            try:
                await self._apply(case)
            except _REFUSALS as error:
                # The book has noted it, and whoever looks at the approval sees that it is pending again.
                log.warning("the verdict of approval %s could not be applied: %r", case.id, str(error))
        return bool(waiting)

    async def verify(self) -> tuple[str, ...]:
        """Returns what is wrong with the log of approvals, also beside what the conversations keep of it."""
        kept = await logged_in(self.weaver.ledger.store, self.weaver.ledger.tenant)
        return await self.book.verify(kept, tenant=self.weaver.ledger.tenant)

    async def _apply(self, case: ApprovalCase) -> ApprovalCase:
        tenant, conversation = self.weaver.ledger.tenant, case.request.conversation
        try:
            (judgement,) = await self.weaver.approvals.decide_all(conversation, [verdict_of(case)])
            kept = judgement.approval
        except _REFUSALS as error:
            # Written before a crash, and the skill has changed since: it stands for the text that was shown.
            earlier = _kept(await self.weaver.ledger.state(conversation), case)
            if earlier is None:
                await self.book.refused(case.id, str(error), tenant=tenant)
                raise
            kept = earlier
        # The Weaver has told it already, if nothing crashed in between: with the same id, which is told once.
        await self.events.append(conversation, [decided_event(conversation, kept)], tenant=tenant)
        return await self.book.applied(case.id, tenant=tenant)


async def logged_in(store: Store, tenant: str = "") -> frozenset[str]:
    """Returns the rows of the log that the tenant's conversations keep, each as its number and seal."""
    found: set[str] = set()
    after = ""
    while page := await store.conversations(after=after, tenant=tenant):
        for conversation in page:
            state, _ = await store.load(conversation, tenant=tenant)
            found.update(one.logged for one in state.approvals if one.logged)
        after = page[-1]
    return frozenset(found)


def _yes_to(request: ApprovalRequest) -> CheckpointVerdict:
    return CheckpointVerdict(
        request.skill_id,
        request.checkpoint,
        ApprovalVerdict.APPROVED,
        by="whoever is asked",
        digest=request.digest,
        call=request.call,
    )


def _said(case: ApprovalCase, reply: ApprovalReply) -> CheckpointVerdict:
    request = case.request
    return CheckpointVerdict(
        request.skill_id,
        request.checkpoint,
        reply.verdict,
        reply.by,
        reply.note,
        case.digest,
        request.call,
        reply.arguments,
    )


def _kept(state: State, case: ApprovalCase) -> Approval | None:
    said = verdict_of(case)
    calls = [call for call in (said.call, said.decided_call) if call is not None]
    digests = {one for call in calls for one in (call.digest, call.content)}

    def is_it(one: Approval) -> bool:
        words = (one.skill_id, one.checkpoint, one.verdict, one.by, one.note)
        shown = shown_with(case.digest, one.call) == one.shown if one.call else (one.shown or one.digest) == case.digest
        about = not one.call or one.call in digests
        return words == (said.skill_id, said.checkpoint, said.verdict, said.by, said.note) and shown and about

    return next((one for one in state.approvals if is_it(one)), None)
