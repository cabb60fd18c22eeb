"""Approvals over HTTP, with the book in a database of each kind."""

import itertools
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.skillweave_server.office import CALL, PAY, Office, opened, service_of

from skillweave import StoreUnavailable
from skillweave_server.service import Waiting
from skillweave_server.unsealed import DisabledApprovals
from skillweave_testing import ManualClock
from skillweave_testing.fixtures import new_database, postgres_of

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database of each kind, which the tests share: each has a conversation of its own."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('approvals') / 'service.db'}"
    else:
        yield from new_database(postgres_of(request))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest_asyncio.fixture
async def office(shared_url: str, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Office]:
    async with opened(service_of(tmp_path, database=shared_url, clock=clock)) as found:
        yield found


@pytest.fixture
def where() -> str:
    """The id of a conversation that no other test has."""
    return f"c-{next(_NUMBERS)}"


def asked(where: str, **fields: object) -> dict[str, object]:
    return {"conversation": where, "skill_id": "pay-bill", "checkpoint": "release", "call": CALL, **fields}


def about_letter(where: str, **fields: object) -> dict[str, object]:
    return {"conversation": where, "skill_id": "write-letter", "checkpoint": "sign_off", **fields}


def reply(verdict: str = "approved", **fields: object) -> dict[str, object]:
    return {"verdict": verdict, "by": "Zoë", **fields}


async def verdicts(office: Office, where: str) -> list[tuple[str, str]]:
    state = await office.get(f"ledger/{where}")
    return [(one["checkpoint"], one["verdict"]) for one in state["approvals"]]


async def ruling(office: Office, where: str, arguments: Mapping[str, Any], call_id: str = "call-1") -> str:
    weaver = office.service.weaver("")
    policy = await weaver.current_policy(where)
    return (await weaver.authorize(policy, "pay", arguments, call_id=call_id)).ruling.value


async def test_a_new_approval_waits_for_a_person_and_has_the_conversation_as_it_was(office: Office, where: str) -> None:
    await office.turn("pay the bill", where)
    case = await office.post("approvals", asked(where, reviewer="accountant"), 201)
    assert (case["status"], case["reviewer"], case["applied"]) == ("pending", "accountant", False)
    await office.turn("thank you", where)
    kept = await office.get(f"approvals/{case['id']}")
    assert kept == case
    assert [one["key"] for one in kept["state"]["records"]] == ["skill:pay-bill"]
    assert kept["state"]["revision"] == 1


async def test_the_same_idempotency_key_asks_once(office: Office, where: str) -> None:
    first = await office.post("approvals", asked(where), 201, Idempotency_Key=f"key of {where}")
    again = await office.post("approvals", asked(where), 201, Idempotency_Key=f"key of {where}")
    assert again == first
    assert len((await office.get("approvals", conversation=where))["items"]) == 1


async def test_without_a_key_each_request_asks(office: Office, where: str) -> None:
    first, second = [await office.post("approvals", asked(where), 201) for _ in range(2)]
    assert first["id"] != second["id"]


async def test_a_key_of_another_request_is_refused(office: Office, where: str) -> None:
    await office.post("approvals", asked(where), 201, Idempotency_Key=f"key of {where}")
    body = asked(where, reviewer="somebody else")
    problem = await office.post("approvals", body, 422, Idempotency_Key=f"key of {where}")
    assert "belongs to another request already" in problem["detail"]


async def test_a_repeated_request_is_answered_as_it_stands_after_the_verdict(office: Office, where: str) -> None:
    case = await office.post("approvals", asked(where), 201, Idempotency_Key=f"key of {where}")
    decided = await office.post(f"approvals/{case['id']}/decide", reply())
    assert await office.post("approvals", asked(where), 201, Idempotency_Key=f"key of {where}") == decided


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"skill_id": "pay-bil"}, 404, "skill-not-found"),
        ({"checkpoint": "releese"}, 404, "checkpoint-not-found"),
        ({"digest": "0" * 64}, 409, "invalid-verdict"),
        ({"call": None}, 409, "invalid-verdict"),
        ({"call": {"id": "1", "tool": "write", "arguments": {}}}, 409, "invalid-verdict"),
        ({"conversation": ""}, 422, "invalid-turn"),
    ],
    ids=["skill", "checkpoint", "digest", "no call", "another tool", "no conversation"],
)
async def test_what_no_yes_could_be_kept_for_is_not_asked(
    office: Office, where: str, change: Mapping[str, object], status: int, code: str
) -> None:
    problem = await office.post("approvals", asked(where, **change), status)
    assert problem["type"] == f"urn:skillweave:problem:{code}"
    assert (await office.get("approvals", conversation=where))["items"] == []


async def test_an_approved_call_may_run_and_no_other(office: Office, where: str) -> None:
    await office.turn("pay the bill", where)
    case = await office.post("approvals", asked(where), 201)
    decided = await office.post(f"approvals/{case['id']}/decide", reply(note="Checked."))
    assert (decided["status"], decided["by"], decided["note"], decided["applied"]) == (
        "approved",
        "Zoë",
        "Checked.",
        True,
    )
    assert await ruling(office, where, {"amount": 90}) == "allow"
    assert await ruling(office, where, {"amount": 91}) == "ask"


class _Silent(DisabledApprovals):
    """A book of approvals that does not answer."""

    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        raise StoreUnavailable("the book does not answer")


async def test_while_the_book_is_silent_an_approved_call_is_denied_and_keeps_its_yes(
    office: Office, where: str
) -> None:
    await office.turn("pay the bill", where)
    case = await office.post("approvals", asked(where), 201)
    await office.post(f"approvals/{case['id']}/decide", reply())
    call = {"conversation": where, "tool": "pay", "arguments": {"amount": 90}, "call_id": "call-1"}
    answering, office.service.waiting = office.service.waiting, Waiting(_Silent())
    denied = await office.post("authorize", call, 200)
    assert (denied["ruling"], denied["code"]) == ("deny", "STATE_UNAVAILABLE")
    assert (await office.post("authorize", {**call, "call_id": "call-2"}, 200))["ruling"] == "ask"
    office.service.waiting = answering
    assert [(await office.post("authorize", call, 200))["ruling"] for _ in range(2)] == ["allow", "ask"]


@pytest.mark.parametrize(("after", "left"), [(3, 3), (0, 0)], ids=["its end", "everything"])
async def test_a_log_that_was_cut_is_not_whole_though_its_own_end_was_cut_too(
    tmp_path: Path, after: int, left: int
) -> None:
    file = tmp_path / "book.db"
    async with opened(service_of(tmp_path, database=f"sqlite:///{file}", clock=ManualClock())) as office:
        heads = []
        for where in ("one", "two"):
            await office.turn("pay the bill", where)
            case = await office.post("approvals", asked(where), 201)
            said = await office.post(f"approvals/{case['id']}/decide", reply())
            heads.append(_end_of(file))
            assert said["logged"].split(":")[1]
        assert await office.get("approvals/verify") == []
        with closing(sqlite3.connect(file)) as database, database:
            for kind in ("update", "delete"):
                database.execute(f"DROP TRIGGER approval_log_stays_{kind}")
            database.execute("DELETE FROM approval_log WHERE number > ?", (after,))
            database.execute("DELETE FROM approval_heads")
            database.execute("DELETE FROM approvals WHERE conversation = 'two' OR ? = 0", (after,))
            if after:
                database.execute("INSERT INTO approval_heads VALUES (?, ?, ?, ?)", heads[0])
        (found,) = await office.get("approvals/verify")
        assert found == f"the log ends at row {left}, and a conversation keeps row 5: its end was cut off"


def _end_of(file: Path) -> tuple[object, ...]:
    with closing(sqlite3.connect(file)) as database:
        row: tuple[object, ...] = database.execute(
            "SELECT tenant, number, last_seal, seal FROM approval_heads"
        ).fetchone()
        return row


async def test_a_modified_call_may_run_with_the_new_arguments_only(office: Office, where: str) -> None:
    await office.turn("pay the bill", where)
    case = await office.post("approvals", asked(where), 201)
    decided = await office.post(f"approvals/{case['id']}/decide", reply("modified", arguments={"amount": 45}))
    assert decided["arguments"] == {"amount": 45}
    assert await ruling(office, where, {"amount": 45}) == "allow"
    assert await ruling(office, where, {"amount": 90}) == "ask"


async def test_a_rejected_call_is_denied_with_the_note(office: Office, where: str) -> None:
    await office.turn("pay the bill", where)
    case = await office.post("approvals", asked(where), 201)
    await office.post(f"approvals/{case['id']}/decide", reply("rejected", note="Paid already."))
    policy = await office.service.weaver("").current_policy(where)
    verdict = policy.tools.authorize("pay", {"amount": 90}, call_id="another")
    assert (verdict.ruling.value, "Paid already." in verdict.message) == ("deny", True)


async def test_a_rejected_skill_has_left_the_conversation(office: Office, where: str) -> None:
    await office.turn("write a letter", where)
    case = await office.post("approvals", about_letter(where), 201)
    await office.post(f"approvals/{case['id']}/decide", reply("rejected"))
    assert (await office.turn("now write the letter", where))["messages"] == []


async def test_the_same_verdict_again_changes_nothing(office: Office, where: str) -> None:
    case = await office.post("approvals", asked(where), 201)
    first = await office.post(f"approvals/{case['id']}/decide", reply())
    revision = (await office.get(f"ledger/{where}"))["revision"]
    assert await office.post(f"approvals/{case['id']}/decide", reply()) == first
    assert (await office.get(f"ledger/{where}"))["revision"] == revision


async def test_another_verdict_than_the_first_is_refused(office: Office, where: str) -> None:
    case = await office.post("approvals", asked(where), 201)
    await office.post(f"approvals/{case['id']}/decide", reply())
    problem = await office.post(f"approvals/{case['id']}/decide", reply("rejected"), 409)
    assert problem["type"] == "urn:skillweave:problem:already-decided"
    assert await verdicts(office, where) == [("release", "approved")]


@pytest.mark.parametrize(
    "body",
    [reply("perhaps"), reply(by="  "), reply(note="x" * 1001), reply(arguments={}), {"verdict": "approved"}],
    ids=["verdict", "nobody", "long note", "arguments of a yes", "no name"],
)
async def test_a_reply_of_another_form_is_not_even_logged(office: Office, where: str, body: object) -> None:
    case = await office.post("approvals", asked(where), 201)
    await office.post(f"approvals/{case['id']}/decide", body, 422)
    rows = (await office.get("approvals/log", limit=100))["items"]
    assert [row["kind"] for row in rows if row["approval"] == case["id"]] == ["created"]


async def test_a_verdict_on_a_skill_that_has_changed_is_refused_and_the_approval_is_pending_again(
    office: Office, where: str
) -> None:
    case = await office.post("approvals", asked(where), 201)
    registry = office.service.weaver("").skills.registry
    registry.register({**PAY, "text": {"instructions": "Pay at once."}})
    problem = await office.post(f"approvals/{case['id']}/decide", reply(), 409)
    assert "has changed since it was shown" in problem["detail"]
    assert (await office.get(f"approvals/{case['id']}"))["status"] == "pending"
    assert await verdicts(office, where) == []
    rows = (await office.get("approvals/log", limit=100))["items"]
    assert [row["kind"] for row in rows if row["approval"] == case["id"]] == ["created", "decided", "refused"]
    registry.register(PAY)
    assert (await office.post(f"approvals/{case['id']}/decide", reply()))["applied"] is True


async def test_approvals_are_listed_without_their_conversations_page_by_page(office: Office, where: str) -> None:
    ids = [(await office.post("approvals", asked(where, reviewer=name), 201))["id"] for name in ("Ann", "Bo", "Ann")]
    first = await office.get("approvals", conversation=where, limit=2)
    assert [one["state"] for one in first["items"]] == [None, None]
    rest = await office.get("approvals", conversation=where, limit=2, after=first["next"])
    found = [one["id"] for one in (*first["items"], *rest["items"])]
    assert (sorted(found), rest["next"]) == (sorted(ids), None)
    await office.post(f"approvals/{ids[0]}/decide", reply())
    pending = await office.get("approvals", conversation=where, status="pending", reviewer="Ann")
    assert [one["id"] for one in pending["items"]] == [ids[2]]


async def test_an_approval_that_nobody_knows_is_not_found(office: Office) -> None:
    assert (await office.http.get("/api/v1/approvals/nothing")).status_code == 404
    await office.post("approvals/nothing/decide", reply(), 404)


async def test_an_undecided_approval_goes_to_the_next_reviewer_once(
    office: Office, where: str, clock: ManualClock
) -> None:
    body = asked(where, reviewer="Ann", escalate_to="Bo", escalate_seconds=60)
    case = await office.post("approvals", body, 201)
    assert [one["id"] for one in await escalate(office)] == []
    clock.advance(61)
    (handed,) = await escalate(office)
    assert (handed["id"], handed["reviewer"], handed["escalations"]) == (case["id"], "Bo", 1)
    assert await escalate(office) == []
    await office.post(f"approvals/{case['id']}/decide", reply())


async def escalate(office: Office) -> list[dict[str, Any]]:
    answer = await office.http.post("/api/v1/approvals/escalate")
    assert answer.status_code == 200
    return list(answer.json())


async def test_the_log_has_each_step_and_is_whole(office: Office, where: str) -> None:
    case = await office.post("approvals", asked(where), 201)
    await office.post(f"approvals/{case['id']}/decide", reply())
    rows: list[dict[str, Any]] = []
    page = await office.get("approvals/log", limit=2)
    while page["next"]:
        rows += page["items"]
        page = await office.get("approvals/log", limit=2, after=page["next"])
    rows += page["items"]
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["kind"] for row in rows if row["approval"] == case["id"]] == ["created", "decided", "applied"]
    assert await office.get("approvals/verify") == []


async def test_a_verdict_reaches_those_who_listen_once(office: Office, where: str) -> None:
    case = await office.post("approvals", asked(where), 201)
    await office.post(f"approvals/{case['id']}/decide", reply("modified", arguments={"amount": 45}))
    told = [one.event for one in await office.service.events.read(where)]
    assert [(one.event_type, one.payload.to_dict()["verdict"]) for one in told] == [("checkpoint.decided", "modified")]
