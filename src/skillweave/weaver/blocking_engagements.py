"""The verbs of `Engagements` without `await`."""

from typing import TYPE_CHECKING

from skillweave.state.state import Approval, ApprovalVerdict
from skillweave.weaver.judging import Judgement
from skillweave.weaver.leaving import Left

if TYPE_CHECKING:
    from skillweave.weaver.blocking import LoopThread
    from skillweave.weaver.weaver import Weaver


class SyncEngagements:
    """The part of a SyncWeaver that changes what is in force without a turn."""

    _weaver: "Weaver"
    _thread: "LoopThread"

    def disengage(self, conversation: str, skill_id: str) -> Left:
        """See `Weaver.disengage`."""
        return self._thread.run(self._weaver.disengage(conversation, skill_id))

    def unload(self, conversation: str, key: str) -> Left:
        """See `Weaver.unload`."""
        return self._thread.run(self._weaver.unload(conversation, key))

    def hold(self, conversation: str, turn_id: str) -> tuple[str, ...]:
        """See `Weaver.hold`."""
        return self._thread.run(self._weaver.hold(conversation, turn_id))

    def confirm(self, conversation: str, turn_id: str) -> bool:
        """See `Weaver.confirm`."""
        return self._thread.run(self._weaver.confirm(conversation, turn_id))

    def release(self, conversation: str, turn_id: str) -> bool:
        """See `Weaver.release`."""
        return self._thread.run(self._weaver.release(conversation, turn_id))

    def decide(
        self,
        conversation: str,
        skill_id: str,
        checkpoint: str,
        verdict: ApprovalVerdict | str,
        *,
        by: str,
        note: str = "",
        digest: str | None = None,
    ) -> Judgement:
        """See `Weaver.decide`."""
        work = self._weaver.decide(conversation, skill_id, checkpoint, verdict, by=by, note=note, digest=digest)
        return self._thread.run(work)

    def consent(self, conversation: str, skill_id: str, *, by: str, digest: str | None = None) -> Judgement:
        """See `Weaver.consent`."""
        return self._thread.run(self._weaver.consent(conversation, skill_id, by=by, digest=digest))

    def reconsider(self, conversation: str, skill_id: str, checkpoint: str) -> tuple[Approval, ...]:
        """See `Weaver.reconsider`."""
        return self._thread.run(self._weaver.reconsider(conversation, skill_id, checkpoint))
