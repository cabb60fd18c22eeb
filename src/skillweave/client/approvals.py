"""Approvals over HTTP: questions to people at checkpoints, their answers, and the log of both."""

from collections.abc import AsyncGenerator

from skillweave.api.pages import ApprovalPage, LogPage
from skillweave.approvals.case import ApprovalCase, ApprovalReply, ApprovalRequest, ApprovalStatus
from skillweave.approvals.log import LogRow
from skillweave.blocking import M, Verb, VerbSeries
from skillweave.client.room import Room
from skillweave.client.sending import Asked, Repeat, at


class Approvals(Room[M]):
    """The verbs about approvals."""

    @Verb
    async def ask_for_approval(self, request: ApprovalRequest, *, key: str | None = None) -> ApprovalCase:
        """Ask a person whether the agent may pass a checkpoint; the conversation is kept with it as it is now.

        The same `key` again asks once; without one each call is a new question, also when it was sent twice.
        """
        asked = Asked("POST", "/approvals", body=request, headers=self._key(key))
        return await self._wire.answer(asked, ApprovalCase)

    @VerbSeries
    def list_approvals(
        self,
        *,
        status: ApprovalStatus | None = None,
        conversation: str | None = None,
        reviewer: str | None = None,
    ) -> AsyncGenerator[ApprovalCase, None]:
        """Approvals, the oldest first, without the conversations that they were asked in; `reviewer` is asked now."""
        query = {"status": status, "conversation": conversation, "reviewer": reviewer}
        return self._entries("/approvals", ApprovalPage, query)

    @Verb
    async def show_approval(self, approval: str) -> ApprovalCase:
        """The approval with that id, with the conversation as it was when it was asked; raises ApprovalNotFound."""
        return await self._wire.answer(Asked("GET", at("/approvals/{}", approval)), ApprovalCase)

    @Verb
    async def decide_approval(self, approval: str, reply: ApprovalReply) -> ApprovalCase:
        """Say yes, no, or yes with other arguments; then the conversation has the verdict. Again changes nothing.

        Raises ApprovalNotFound, AlreadyDecided for another verdict than the first, and InvalidVerdict for one that the
        conversation cannot have.
        """
        asked = Asked("POST", at("/approvals/{}/decide", approval), body=reply)
        return await self._wire.answer(asked, ApprovalCase)

    @Verb
    async def escalate_approvals(self) -> tuple[ApprovalCase, ...]:
        """Hand every approval whose time is over to the next reviewer; answers with those that were handed on."""
        asked = Asked("POST", "/approvals/escalate", repeat=Repeat.NEVER)
        return await self._wire.answer(asked, tuple[ApprovalCase, ...])

    @VerbSeries
    def read_approval_log(self) -> AsyncGenerator[LogRow, None]:
        """The rows of the log, the oldest first: what was asked, decided, refused, applied and escalated."""
        return self._entries("/approvals/log", LogPage)

    @Verb
    async def verify_approval_log(self) -> tuple[str, ...]:
        """What is wrong with the log, and where an approval differs from what its log says; empty where nothing is."""
        return await self._wire.answer(Asked("GET", "/approvals/verify"), tuple[str, ...])
