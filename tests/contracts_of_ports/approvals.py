"""The contract of a book of approvals as tests: a backend is what passes them."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

import pytest

from skillweave.approvals.book import ApprovalBook
from skillweave.approvals.case import (
    MOST_PAYLOAD_BYTES,
    AlreadyDecided,
    ApprovalCase,
    ApprovalNotFound,
    ApprovalRequest,
    ApprovalStatus,
)
from skillweave.approvals.steps import verdict_of
from skillweave.conversation import ToolCall
from skillweave.errors import InvalidValue, InvalidVerdict
from skillweave.state.state import ApprovalVerdict, State
from skillweave.weaver.approvals import CheckpointVerdict
from skillweave_testing.fakes import ManualClock
from skillweave_testing.ledger import FULL_STATE

DIGEST = "d" * 64
CALL = ToolCall("call-1", "pay", {"amount": 12.5, "to": "Zoë", "lines": [1, None, {"a": True}]})
REQUEST = ApprovalRequest(
    "c-1",
    "invoices",
    "sign-off\n",
    CALL,
    DIGEST,
    "ann",
    "boss",
    60.0,
    {"shown": "Größe \0 \u2028 “x”", "big": 2**70, "share": 1.0},
)
"""A request with everything that one can have."""
PLAIN = ApprovalRequest("c-1", "invoices", "sign-off")
YES = CheckpointVerdict("invoices", "sign-off", ApprovalVerdict.APPROVED, "Ann")
NO = CheckpointVerdict("invoices", "sign-off", ApprovalVerdict.REJECTED, "Bob", "not this one")
CHANGED = CheckpointVerdict(
    "invoices", "sign-off\n", ApprovalVerdict.MODIFIED, "Zoë", "less 'of' it", DIGEST, CALL, {"amount": 1, "to": None}
)
HOSTILE_IDS = ("a:b", "{a}", "%", "a/b", "a\\b", "'; DROP TABLE approvals; --", "Ω≈ç√", "*", "a" * 200, " ", "NULL")
NEVER_HELD = ("", "\0", "\ud800", "a\nb", "a" * 201)
"""What can be no id of an approval."""


@pytest.mark.asyncio
class ApprovalBookContract:
    """Inherit, and give a fixture `book` that makes a book on the fixture `clock`.

    The book may hold approvals of other tenants: each test has a tenant of its own.
    """

    @pytest.fixture
    def clock(self) -> ManualClock:
        """The clock that the book must go by."""
        return ManualClock()

    @pytest.fixture
    def book(self, clock: ManualClock) -> ApprovalBook:
        """The book under test."""
        raise NotImplementedError("a subclass gives the book")

    @pytest.fixture
    def tenant(self) -> str:
        """A tenant without approvals."""
        return f"tenant-{uuid4().hex}"

    async def test_a_new_question_is_pending_and_comes_back_with_every_field(
        self, book: ApprovalBook, clock: ManualClock, tenant: str
    ) -> None:
        opened = await book.open("a-1", REQUEST, DIGEST, FULL_STATE, tenant=tenant)
        found = await book.get("a-1", tenant=tenant)
        assert _text(opened) == _text(found)
        assert found == ApprovalCase(
            "a-1", REQUEST, ApprovalStatus.PENDING, "ann", DIGEST, clock.now, clock.now + 60, FULL_STATE
        )
        assert await book.verify(tenant=tenant) == ()

    async def test_a_payload_of_64_kib_is_kept(self, book: ApprovalBook, tenant: str) -> None:
        request = replace(PLAIN, payload={"a": "x" * (MOST_PAYLOAD_BYTES - len('{"a": ""}'))})
        await book.open("a-1", request, DIGEST, State(), tenant=tenant)
        assert (await book.get("a-1", tenant=tenant)).request == request

    async def test_the_same_question_again_is_answered_as_it_stands_and_writes_nothing(
        self, book: ApprovalBook, clock: ManualClock, tenant: str
    ) -> None:
        await book.open("a-1", PLAIN, DIGEST, FULL_STATE, tenant=tenant)
        stands = await book.decide("a-1", YES, tenant=tenant)
        clock.advance(5)
        assert await book.open("a-1", PLAIN, "e" * 64, State(), tenant=tenant) == stands
        assert await _kinds(book, tenant) == ["created", "decided"]

    @pytest.mark.parametrize(
        "other",
        [
            replace(PLAIN, conversation="c-2"),
            replace(PLAIN, payload={"a": 1}),
            replace(PLAIN, reviewer="ann"),
            replace(PLAIN, call=CALL),
        ],
        ids=["conversation", "payload", "reviewer", "call"],
    )
    async def test_another_question_with_the_same_id_is_refused(
        self, book: ApprovalBook, tenant: str, other: ApprovalRequest
    ) -> None:
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        with pytest.raises(InvalidValue, match="'a-1' belongs to another request"):
            await book.open("a-1", other, DIGEST, State(), tenant=tenant)
        assert await _kinds(book, tenant) == ["created"]

    async def test_of_the_same_questions_at_once_one_is_written(self, book: ApprovalBook, tenant: str) -> None:
        opened = await asyncio.gather(*(book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant) for _ in range(12)))
        assert len({_text(one) for one in opened}) == 1
        assert await _kinds(book, tenant) == ["created"]

    @pytest.mark.parametrize("impossible", NEVER_HELD, ids=["empty", "NUL", "half", "line", "long"])
    async def test_what_can_be_no_id_is_refused_and_never_found(
        self, book: ApprovalBook, tenant: str, impossible: str
    ) -> None:
        with pytest.raises(InvalidValue, match="approval_id"):
            await book.open(impossible, PLAIN, DIGEST, State(), tenant=tenant)
        with pytest.raises(ApprovalNotFound):
            await book.get(impossible, tenant=tenant)
        assert await _kinds(book, tenant) == []

    async def test_ids_are_kept_apart_from_each_other(self, book: ApprovalBook, tenant: str) -> None:
        for number, one in enumerate(HOSTILE_IDS):
            await book.open(one, replace(PLAIN, conversation=one), f"d{number}", State(), tenant=tenant)
        for number, one in enumerate(HOSTILE_IDS):
            assert (await book.get(one, tenant=tenant)).digest == f"d{number}"
            found = await book.list(conversation=one, tenant=tenant)
            assert [case.id for case in found] == [one]
        assert await book.verify(tenant=tenant) == ()

    async def test_an_unknown_approval_is_not_found_by_any_step(self, book: ApprovalBook, tenant: str) -> None:
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        for asked in (
            book.get("a-2", tenant=tenant),
            book.decide("a-2", YES, tenant=tenant),
            book.applied("a-2", tenant=tenant),
            book.refused("a-2", "why", tenant=tenant),
            book.list(after="a-2", tenant=tenant),
            book.get("a-1", tenant=f"{tenant}-2"),
            book.decide("a-1", YES, tenant=f"{tenant}-2"),
            book.applied("a-1", tenant=f"{tenant}-2"),
            book.refused("a-1", "why", tenant=f"{tenant}-2"),
        ):
            with pytest.raises(ApprovalNotFound, match="there is no approval"):
                await asked

    async def test_a_verdict_is_kept_with_who_gave_it_and_when(
        self, book: ApprovalBook, clock: ManualClock, tenant: str
    ) -> None:
        before = await book.open("a-1", REQUEST, DIGEST, FULL_STATE, tenant=tenant)
        clock.advance(7)
        said = await book.decide("a-1", CHANGED, tenant=tenant)
        assert said == replace(
            before,
            status=ApprovalStatus.MODIFIED,
            decided_at=clock.now,
            by="Zoë",
            note="less 'of' it",
            arguments={"amount": 1, "to": None},
            due_at=None,
            logged=said.logged,
        )
        assert _text(await book.get("a-1", tenant=tenant)) == _text(said)
        assert verdict_of(said) == replace(CHANGED, case="a-1", logged=said.logged)
        assert await book.verify(tenant=tenant) == ()

    async def test_a_verdict_answers_its_row_of_the_log_as_long_as_it_stands(
        self, book: ApprovalBook, tenant: str
    ) -> None:
        asked = await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        said = await book.decide("a-1", YES, tenant=tenant)
        row = (await book.log(tenant=tenant))[-1]
        assert (asked.logged, said.logged) == ("", f"{row.number}:{row.seal}")
        assert [one.logged for one in await book.waiting("c-1", tenant=tenant)] == [said.logged]
        assert (await book.refused("a-1", "the skill has changed", tenant=tenant)).logged == ""

    async def test_a_log_that_lacks_what_a_verdict_answered_is_not_whole(self, book: ApprovalBook, tenant: str) -> None:
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        said = await book.decide("a-1", YES, tenant=tenant)
        assert await book.verify([said.logged], tenant=tenant) == ()
        (cut,) = await book.verify([said.logged, f"3:{'0' * 64}"], tenant=tenant)
        assert "the log ends at row 2, and a conversation keeps row 3: its end was cut off" in cut
        (other,) = await book.verify([f"2:{'0' * 64}"], tenant=tenant)
        assert "row 2 is another one than a conversation keeps" in other
        (gone,) = await book.verify([f"1:{'0' * 64}"], tenant=f"{tenant}-gone")
        assert "the log ends at row 0, and a conversation keeps row 1" in gone
        with pytest.raises(InvalidValue, match="is no row of a log of approvals"):
            await book.verify(["x"], tenant=tenant)

    @pytest.mark.parametrize("verdict", [YES, NO], ids=["yes", "no"])
    async def test_the_same_verdict_again_changes_nothing(
        self, book: ApprovalBook, clock: ManualClock, tenant: str, verdict: CheckpointVerdict
    ) -> None:
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        said = await book.decide("a-1", verdict, tenant=tenant)
        clock.advance(7)
        assert await book.decide("a-1", verdict, tenant=tenant) == said
        done = await book.applied("a-1", tenant=tenant)
        assert await book.decide("a-1", verdict, tenant=tenant) == done
        assert await _kinds(book, tenant) == ["created", "decided", "applied"]

    @pytest.mark.parametrize(
        "other", [NO, replace(YES, by="Eve"), replace(YES, note="but")], ids=["verdict", "person", "note"]
    )
    async def test_another_verdict_is_refused_with_the_one_that_stands(
        self, book: ApprovalBook, tenant: str, other: CheckpointVerdict
    ) -> None:
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        said = await book.decide("a-1", YES, tenant=tenant)
        with pytest.raises(AlreadyDecided) as refused:
            await book.decide("a-1", other, tenant=tenant)
        assert refused.value.case == said
        assert await book.get("a-1", tenant=tenant) == said
        assert await _kinds(book, tenant) == ["created", "decided"]

    async def test_other_arguments_are_another_verdict(self, book: ApprovalBook, tenant: str) -> None:
        await book.open("a-1", REQUEST, DIGEST, State(), tenant=tenant)
        await book.decide("a-1", CHANGED, tenant=tenant)
        with pytest.raises(AlreadyDecided):
            await book.decide("a-1", replace(CHANGED, arguments={"amount": True, "to": None}), tenant=tenant)

    @pytest.mark.parametrize(
        "other",
        [
            replace(CHANGED, skill_id="others"),
            replace(CHANGED, checkpoint="other"),
            replace(CHANGED, call=replace(CALL, id="call-2")),
            replace(CHANGED, digest="e" * 64),
            replace(CHANGED, by=" "),
            replace(CHANGED, note="x" * 100_000),
            replace(CHANGED, arguments={"a": object()}),
        ],
        ids=["skill", "checkpoint", "call", "digest", "nobody", "long note", "arguments"],
    )
    async def test_a_verdict_that_is_not_on_what_was_asked_is_refused(
        self, book: ApprovalBook, tenant: str, other: CheckpointVerdict
    ) -> None:
        before = await book.open("a-1", REQUEST, DIGEST, State(), tenant=tenant)
        with pytest.raises(InvalidVerdict):
            await book.decide("a-1", other, tenant=tenant)
        assert await book.get("a-1", tenant=tenant) == before
        assert await _kinds(book, tenant) == ["created"]

    async def test_of_different_verdicts_at_once_one_stands(self, book: ApprovalBook, tenant: str) -> None:
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        said = (book.decide("a-1", replace(YES, by=f"p{number}"), tenant=tenant) for number in range(12))
        found = await asyncio.gather(*said, return_exceptions=True)
        kept = [one for one in found if isinstance(one, ApprovalCase)]
        assert [type(one) for one in found if not isinstance(one, ApprovalCase)] == [AlreadyDecided] * 11
        assert kept == [await book.get("a-1", tenant=tenant)]
        assert await _kinds(book, tenant) == ["created", "decided"]

    async def test_what_is_decided_waits_until_it_is_applied(self, book: ApprovalBook, tenant: str) -> None:
        for one in ("a-1", "a-2", "a-3"):
            await book.open(one, PLAIN, DIGEST, State(), tenant=tenant)
        await book.open("a-4", replace(PLAIN, conversation="c-2"), DIGEST, State(), tenant=tenant)
        assert await book.waiting("c-1", tenant=tenant) == ()
        assert await book.conversations_waiting(tenant=tenant) == frozenset()
        for one in ("a-2", "a-4", "a-1"):
            await book.decide(one, YES, tenant=tenant)
        assert [case.id for case in await book.waiting("c-1", tenant=tenant)] == ["a-2", "a-1"]
        assert [case.id for case in await book.waiting("c-2", tenant=tenant)] == ["a-4"]
        assert await book.conversations_waiting(tenant=tenant) == {"c-1", "c-2"}
        await book.applied("a-4", tenant=tenant)
        assert await book.conversations_waiting(tenant=tenant) == {"c-1"}
        done = await book.applied("a-2", tenant=tenant)
        assert done == replace(await book.get("a-2", tenant=tenant), applied=True)
        assert await book.waiting("c-1", tenant=tenant) == (await book.get("a-1", tenant=tenant),)
        assert await book.applied("a-2", tenant=tenant) == done
        assert (await _kinds(book, tenant)).count("applied") == 2

    async def test_what_is_pending_cannot_be_applied(self, book: ApprovalBook, tenant: str) -> None:
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        with pytest.raises(InvalidValue, match="is pending"):
            await book.applied("a-1", tenant=tenant)
        assert await _kinds(book, tenant) == ["created"]

    async def test_a_verdict_that_was_refused_is_asked_for_anew(
        self, book: ApprovalBook, clock: ManualClock, tenant: str
    ) -> None:
        before = await book.open("a-1", REQUEST, DIGEST, FULL_STATE, tenant=tenant)
        await book.decide("a-1", CHANGED, tenant=tenant)
        clock.advance(30)
        again = await book.refused("a-1", "the skill has changed since", tenant=tenant)
        assert again == replace(before, due_at=clock.now + 60)
        assert await book.waiting("c-1", tenant=tenant) == ()
        assert await book.refused("a-1", "once more", tenant=tenant) == again
        assert await _kinds(book, tenant) == ["created", "decided", "refused"]
        assert "the skill has changed since" in (await book.log(tenant=tenant))[2].document
        said = await book.decide("a-1", replace(CHANGED, by="Bob"), tenant=tenant)
        assert (said.status, said.by) == (ApprovalStatus.MODIFIED, "Bob")
        assert await book.waiting("c-1", tenant=tenant) == (said,)
        assert await book.verify(tenant=tenant) == ()

    async def test_a_verdict_that_is_applied_is_not_refused_any_more(self, book: ApprovalBook, tenant: str) -> None:
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        await book.decide("a-1", YES, tenant=tenant)
        done = await book.applied("a-1", tenant=tenant)
        assert await book.refused("a-1", "late", tenant=tenant) == done
        assert await _kinds(book, tenant) == ["created", "decided", "applied"]

    async def test_what_waits_too_long_goes_to_the_next_reviewer_and_then_is_noted_once(
        self, book: ApprovalBook, clock: ManualClock, tenant: str
    ) -> None:
        before = await book.open("a-1", REQUEST, DIGEST, State(), tenant=tenant)
        clock.advance(59)
        assert await book.escalate(tenant=tenant) == ()
        clock.advance(1)
        handed = replace(before, reviewer="boss", due_at=clock.now + 60, escalations=1)
        assert await book.escalate(tenant=tenant) == (handed,)
        assert await book.escalate(tenant=tenant) == ()
        assert await book.list(reviewer="ann", tenant=tenant) == ()
        assert await book.list(reviewer="boss", tenant=tenant) == (handed,)
        clock.advance(60)
        assert await book.escalate(tenant=tenant) == (replace(handed, due_at=None),)
        clock.advance(10_000)
        assert await book.escalate(tenant=tenant) == ()
        assert await _kinds(book, tenant) == ["created", "escalated", "escalated"]
        assert await book.verify(tenant=tenant) == ()

    @pytest.mark.parametrize("to", [None, "ann"], ids=["nobody", "the same"])
    async def test_what_has_no_next_reviewer_is_noted_once(
        self, book: ApprovalBook, clock: ManualClock, tenant: str, to: str | None
    ) -> None:
        before = await book.open("a-1", replace(REQUEST, escalate_to=to), DIGEST, State(), tenant=tenant)
        clock.advance(61)
        assert await book.escalate(tenant=tenant) == (replace(before, due_at=None),)
        clock.advance(61)
        assert await book.escalate(tenant=tenant) == ()
        assert await _kinds(book, tenant) == ["created", "escalated"]

    async def test_what_is_decided_does_not_escalate(self, book: ApprovalBook, clock: ManualClock, tenant: str) -> None:
        await book.open("a-1", REQUEST, DIGEST, State(), tenant=tenant)
        await book.decide("a-1", CHANGED, tenant=tenant)
        clock.advance(10_000)
        assert await book.escalate(tenant=tenant) == ()
        await book.refused("a-1", "why", tenant=tenant)
        assert await book.escalate(tenant=tenant) == ()
        clock.advance(60)
        assert [case.id for case in await book.escalate(tenant=tenant)] == ["a-1"]

    async def test_what_escalates_at_once_escalates_once(
        self, book: ApprovalBook, clock: ManualClock, tenant: str
    ) -> None:
        ids = [f"a-{number:02}" for number in range(8)]
        for one in ids:
            await book.open(one, REQUEST, DIGEST, State(), tenant=tenant)
        clock.advance(60)
        found = await asyncio.gather(*(book.escalate(tenant=tenant) for _ in range(4)))
        assert sorted(case.id for cases in found for case in cases) == ids
        assert (await _kinds(book, tenant)).count("escalated") == len(ids)

    async def test_approvals_are_listed_by_when_they_were_asked_and_then_by_id_a_page_at_a_time(
        self, book: ApprovalBook, clock: ManualClock, tenant: str
    ) -> None:
        for one in ("b", "Z", "é", "𝔸", "\uffee"):
            await book.open(one, PLAIN, DIGEST, State(), tenant=tenant)
        clock.advance(1)
        for one in ("a", "0"):
            await book.open(one, PLAIN, DIGEST, State(), tenant=tenant)
        wanted = ["Z", "b", "é", "\uffee", "𝔸", "0", "a"]
        assert [case.id for case in await book.list(tenant=tenant)] == wanted
        found: list[str] = []
        while page := await book.list(after=found[-1] if found else "", limit=2, tenant=tenant):
            assert len(page) <= 2
            found += [case.id for case in page]
        assert found == wanted

    async def test_approvals_are_listed_by_status_conversation_and_reviewer(
        self, book: ApprovalBook, tenant: str
    ) -> None:
        for number in range(12):
            request = replace(PLAIN, conversation=f"c-{number % 2}", reviewer=("ann", "bob\0", "")[number % 3])
            await book.open(f"a-{number:02}", request, DIGEST, State(), tenant=tenant)
        for number in range(0, 12, 4):
            await book.decide(f"a-{number:02}", YES if number else NO, tenant=tenant)

        async def ids(**asked: str) -> list[int]:
            found = await book.list(tenant=tenant, **asked)  # type: ignore[arg-type]
            return [int(case.id[2:]) for case in found]

        assert await ids(status="pending") == [1, 2, 3, 5, 6, 7, 9, 10, 11]
        assert await ids(status="approved") == [4, 8]
        assert await ids(status="rejected") == [0]
        assert await ids(status="modified") == []
        assert await ids(conversation="c-1") == [1, 3, 5, 7, 9, 11]
        assert await ids(reviewer="ann") == [0, 3, 6, 9]
        assert await ids(reviewer="bob\0") == [1, 4, 7, 10]
        assert await ids(reviewer="") == [2, 5, 8, 11]
        assert await ids(status="pending", conversation="c-0", reviewer="ann") == [6]
        assert await ids(status="pending", reviewer="ann", after="a-03") == [6, 9]
        assert await ids(conversation="nobody's") == await ids(reviewer="nobody") == []

    @pytest.mark.parametrize("limit", [0, -1, 1_001, True, 1.5])
    async def test_an_impossible_limit_is_refused(self, book: ApprovalBook, tenant: str, limit: int) -> None:
        for asked in (book.list(limit=limit, tenant=tenant), book.log(limit=limit, tenant=tenant)):
            with pytest.raises(InvalidValue, match="limit"):
                await asked

    async def test_the_log_has_each_step_in_order_with_its_number_and_time(
        self, book: ApprovalBook, clock: ManualClock, tenant: str
    ) -> None:
        began = clock.now
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        clock.advance(0.5)
        await book.open("a-2", PLAIN, DIGEST, State(), tenant=tenant)
        await book.decide("a-1", NO, tenant=tenant)
        rows = await book.log(tenant=tenant)
        assert [(row.number, row.approval, row.kind, row.at) for row in rows] == [
            (1, "a-1", "created", began),
            (2, "a-2", "created", began + 0.5),
            (3, "a-1", "decided", began + 0.5),
        ]
        assert len({row.seal for row in rows}) == 3
        changed = json.loads(rows[2].document)["changed"]
        assert (changed["status"], changed["by"], changed["note"]) == ("rejected", "Bob", "not this one")
        assert await book.log(after=1, limit=1, tenant=tenant) == rows[1:2]
        assert list(await book.log(after=3, tenant=tenant)) == []

    async def test_tenants_have_books_of_their_own(self, book: ApprovalBook, tenant: str) -> None:
        other = f"{tenant}-2"
        await book.open("a-1", PLAIN, DIGEST, State(), tenant=tenant)
        theirs = await book.open("a-1", REQUEST, "e" * 64, FULL_STATE, tenant=other)
        await book.decide("a-1", YES, tenant=tenant)
        assert await book.get("a-1", tenant=other) == theirs
        assert await book.list(tenant=other) == (theirs,)
        assert await book.waiting("c-1", tenant=other) == ()
        assert await book.conversations_waiting(tenant=other) == frozenset()
        ours, rows = await book.log(tenant=tenant), await book.log(tenant=other)
        assert [row.number for row in ours] == [1, 2]
        assert [row.number for row in rows] == [1]
        assert await book.verify(tenant=tenant) == await book.verify(tenant=other) == ()

    async def test_the_default_tenant_has_two_names(self, book: ApprovalBook) -> None:
        name = uuid4().hex
        opened = await book.open(name, PLAIN, DIGEST, State(), tenant="default")
        assert await book.get(name) == opened

    async def test_an_impossible_tenant_is_refused(self, book: ApprovalBook) -> None:
        for asked in (
            book.open("a-1", PLAIN, DIGEST, State(), tenant="a\0b"),
            book.get("a-1", tenant="a\0b"),
            book.list(tenant="a\0b"),
            book.log(tenant="a\0b"),
            book.verify(tenant="a\0b"),
            book.escalate(tenant="a\0b"),
            book.waiting("c-1", tenant="a\0b"),
        ):
            with pytest.raises(InvalidValue, match="tenant"):
                await asked

    async def test_steps_that_come_at_once_make_one_log(self, book: ApprovalBook, tenant: str) -> None:
        async def all_steps(number: int) -> None:
            name = f"a-{number}"
            await book.open(name, PLAIN, DIGEST, State(), tenant=tenant)
            await book.decide(name, YES, tenant=tenant)
            await book.applied(name, tenant=tenant)

        await asyncio.gather(*map(all_steps, range(6)))
        rows = await book.log(tenant=tenant)
        assert [row.number for row in rows] == list(range(1, 19))
        assert await book.verify(tenant=tenant) == ()

    async def test_a_book_without_approvals_is_whole(self, book: ApprovalBook, tenant: str) -> None:
        assert await book.verify(tenant=tenant) == ()
        assert await book.list(tenant=tenant) == ()
        assert await book.escalate(tenant=tenant) == ()

    async def test_closing_twice_does_nothing(self, book: ApprovalBook) -> None:
        await book.close()
        await book.close()


async def _kinds(book: ApprovalBook, tenant: str) -> Sequence[str]:
    return [row.kind for row in await book.log(tenant=tenant)]


def _text(case: ApprovalCase) -> str:
    return json.dumps(case.to_dict(), sort_keys=True)
