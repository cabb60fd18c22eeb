"""A process that dies between two steps of a verdict: the next turn has the verdict, once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.skillweave_server.office import CALL, LETTER, PAY, Office, opened, service_of

from skillweave.approvals.book import ApprovalBook
from skillweave.approvals.case import ApprovalCase
from skillweave.errors import Contended, SkillweaveError, StoreUnavailable
from skillweave.events.event import Event
from skillweave.stores.event_stream import MemoryEventStream
from skillweave.weaver.approvals import CheckpointVerdict

ASKED = {"conversation": "c", "skill_id": "pay-bill", "checkpoint": "release", "call": CALL}
ABOUT_LETTER = {"conversation": "c", "skill_id": "write-letter", "checkpoint": "sign_off"}
YES = {"verdict": "approved", "by": "Zoë"}
NO = {"verdict": "rejected", "by": "Zoë"}


class Killed(BaseException):
    """The end of a process: nothing after it runs."""


class DyingBook:
    """A book whose process dies: after it kept a verdict, or before it notes that a conversation has it."""

    def __init__(self, book: ApprovalBook, at: str) -> None:
        self._book, self._at = book, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._book, name)

    async def decide(
        self, approval_id: str, verdict: CheckpointVerdict, *, key: str = "", tenant: str = ""
    ) -> ApprovalCase:
        case = await self._book.decide(approval_id, verdict, key=key, tenant=tenant)
        if self._at == "after the log":
            raise Killed
        return case

    async def applied(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        if self._at == "before the note":
            raise Killed
        return await self._book.applied(approval_id, tenant=tenant)


class DyingStream(MemoryEventStream):
    """A stream whose process dies before it takes an event."""

    async def append(self, conversation: str, events: Sequence[Event], *, tenant: str = "") -> None:
        raise Killed


STEPS = ("after the log", "before the event", "before the note")


async def decided_by_one_that_dies(folder: Path, at: str, asked: object, said: object, message: str) -> str:
    """The id of an approval that was decided in a service that died at that step."""
    events = DyingStream() if at == "before the event" else MemoryEventStream()
    async with opened(service_of(folder, book=lambda book: DyingBook(book, at), events=events)) as office:  # type: ignore[arg-type,return-value]
        await office.turn(message)
        case = await office.post("approvals", asked, 201)
        with pytest.raises(Killed):
            await office.post(f"approvals/{case['id']}/decide", said)
        return str(case["id"])


async def verdicts(office: Office) -> list[tuple[str, str, str]]:
    return [(one["checkpoint"], one["verdict"], one["by"]) for one in (await office.get("ledger/c"))["approvals"]]


async def told(office: Office) -> list[str]:
    return [one.event.event_type for one in await office.service.events.read("c")]


async def kinds(office: Office) -> list[str]:
    return [row["kind"] for row in (await office.get("approvals/log"))["items"]]


@pytest.mark.parametrize("at", STEPS)
async def test_the_next_turn_has_the_verdict_once(tmp_path: Path, at: str) -> None:
    approval = await decided_by_one_that_dies(tmp_path, at, ASKED, YES, "pay the bill")
    async with opened(service_of(tmp_path)) as office:
        for _ in range(2):
            await office.turn("go on")
            assert await verdicts(office) == [("release", "approved", "Zoë")]
        assert (await office.get(f"approvals/{approval}"))["applied"] is True
        assert await kinds(office) == ["created", "decided", "applied"]
        assert await office.get("approvals/verify") == []
        assert (await told(office)).count("checkpoint.decided") == 1


@pytest.mark.parametrize("at", STEPS)
async def test_the_turn_itself_lets_the_approved_call_run(tmp_path: Path, at: str) -> None:
    await decided_by_one_that_dies(tmp_path, at, ASKED, YES, "pay the bill")
    async with opened(service_of(tmp_path)) as office:
        assert (await office.turn("go on"))["tools"]["cleared"] != {}


@pytest.mark.parametrize("at", STEPS)
async def test_the_person_who_says_it_again_has_it_applied(tmp_path: Path, at: str) -> None:
    approval = await decided_by_one_that_dies(tmp_path, at, ASKED, YES, "pay the bill")
    async with opened(service_of(tmp_path)) as office:
        assert (await office.post(f"approvals/{approval}/decide", YES))["applied"] is True
        assert await verdicts(office) == [("release", "approved", "Zoë")]


@pytest.mark.parametrize("at", STEPS)
async def test_a_rejected_skill_is_out_of_the_next_turn(tmp_path: Path, at: str) -> None:
    await decided_by_one_that_dies(tmp_path, at, ABOUT_LETTER, NO, "write a letter")
    async with opened(service_of(tmp_path)) as office:
        assert (await office.turn("now write the letter"))["messages"] == []
        assert await verdicts(office) == [("sign_off", "rejected", "Zoë")]


@pytest.mark.parametrize("at", STEPS)
async def test_a_call_that_is_judged_before_the_next_turn_may_run(tmp_path: Path, at: str) -> None:
    await decided_by_one_that_dies(tmp_path, at, ASKED, YES, "pay the bill")
    async with opened(service_of(tmp_path)) as office:
        asked = {"conversation": "c", "tool": CALL["tool"], "arguments": CALL["arguments"], "call_id": CALL["id"]}
        assert (await office.post("authorize", asked))["ruling"] == "allow"


async def test_a_verdict_that_the_conversation_had_before_the_skill_changed_stands(tmp_path: Path) -> None:
    approval = await decided_by_one_that_dies(tmp_path, "before the note", ASKED, YES, "pay the bill")
    changed = {**PAY, "text": {"instructions": "Pay at once."}}
    async with opened(service_of(tmp_path, skills=(changed, LETTER))) as office:
        await office.turn("go on")
        case = await office.get(f"approvals/{approval}")
        assert (case["status"], case["applied"]) == ("approved", True)
        assert await verdicts(office) == [("release", "approved", "Zoë")]


async def test_a_verdict_that_comes_too_late_for_a_changed_skill_fails_no_turn_and_is_asked_anew(
    tmp_path: Path,
) -> None:
    approval = await decided_by_one_that_dies(tmp_path, "after the log", ASKED, YES, "pay the bill")
    changed = {**PAY, "text": {"instructions": "Pay at once."}}
    async with opened(service_of(tmp_path, skills=(changed, LETTER))) as office:
        await office.turn("go on")
        assert (await office.get(f"approvals/{approval}"))["status"] == "pending"
        assert await verdicts(office) == []
        assert await kinds(office) == ["created", "decided", "refused"]


async def test_a_skill_that_is_gone_fails_no_turn(tmp_path: Path) -> None:
    approval = await decided_by_one_that_dies(tmp_path, "after the log", ASKED, YES, "pay the bill")
    async with opened(service_of(tmp_path, skills=(LETTER,))) as office:
        await office.turn("go on")
        assert (await office.get(f"approvals/{approval}"))["status"] == "pending"


class FailingBook(DyingBook):
    """A book that fails when it is asked what waits."""

    error: SkillweaveError

    async def waiting(self, conversation: str, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        raise self.error


@pytest.mark.parametrize(
    "error", [StoreUnavailable("the database does not answer"), Contended("c", 9)], ids=["silent", "contended"]
)
async def test_a_turn_goes_on_while_it_is_not_known_what_waits(tmp_path: Path, error: SkillweaveError) -> None:
    def failing(book: ApprovalBook) -> FailingBook:
        made = FailingBook(book, "")
        made.error = error
        return made

    async with opened(service_of(tmp_path, book=failing)) as office:  # type: ignore[arg-type]
        assert len((await office.turn("pay the bill"))["messages"]) == 1
