"""`skillweave keys` and `approvals`, and what `serve` refuses before it listens."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skillweave.approvals.case import ApprovalRequest
from skillweave.state.state import State
from skillweave_stores.access import ApiKey, new_key, opens
from skillweave_stores.approvals.key import read_or_make_key
from skillweave_stores.sql.approvals import SqlApprovals
from skillweave_stores.sql.keys import SqlKeys


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The name of a store that is not there yet."""
    return str(tmp_path / "service.db")


def test_a_key_is_printed_once_and_opens_what_is_kept(cli: Any, store: str) -> None:
    made = cli("keys", "new", "--name", "the agent", "--scope", "weave", "--tenant", "acme", "--store", store, "--json")
    assert made.code == 0
    (kept,) = asyncio.run(keys_in(store))
    assert opens(made.data["text"], kept)
    assert (kept.tenant, kept.name, sorted(kept.scopes)) == ("acme", "the agent", ["weave"])
    listed = cli("keys", "list", "--store", store)
    assert kept.id in listed.out
    assert made.data["text"] not in listed.out
    assert kept.hash not in cli("keys", "list", "--store", store, "--json").out


def test_a_key_may_read_and_weave_unless_it_is_said_otherwise(cli: Any, store: str) -> None:
    made = cli("keys", "new", "--name", "x", "--store", store, "--json").data
    assert made["key"]["scopes"] == ["read", "weave"]


def test_a_scope_that_is_none_is_answered_with_all(cli: Any, store: str) -> None:
    done = cli("keys", "new", "--name", "x", "--scope", "root", "--store", store)
    assert (done.code, done.out) == (1, "")
    assert "'root' is no scope; choose from read, weave, write, approve, admin" in done.err
    assert not Path(store).exists()


def test_a_revoked_key_says_since_when_and_again_changes_nothing(cli: Any, store: str) -> None:
    made = cli("keys", "new", "--name", "x", "--store", store, "--json").data
    first = cli("keys", "revoke", made["key"]["id"], "--store", store, "--json").data
    again = cli("keys", "revoke", made["text"], "--store", store, "--json").data
    assert first["revoked_at"] is not None
    assert again == first
    assert "revoked" in cli("keys", "list", "--store", store).out


def test_an_unknown_key_is_answered_with_how_to_list_them(cli: Any, store: str) -> None:
    _, text = new_key("x", ["read"], now=1.0)
    done = cli("keys", "revoke", text, "--store", store)
    assert done.code == 1
    assert "list them with `skillweave keys list`" in done.err
    assert text not in done.err


def test_without_any_key_the_list_says_how_to_make_one(cli: Any, store: str) -> None:
    assert "skillweave keys new" in cli("keys", "list", "--store", store).out
    assert not Path(store).exists()


async def keys_in(store: str) -> Sequence[ApiKey]:
    """The keys of the store."""
    async with SqlKeys(f"sqlite:///{store}") as keys:
        return await keys.list()


def ask(store: str, *approvals: str) -> None:
    """Ask people in the store."""

    async def asked() -> None:
        key = read_or_make_key(f"{store}.approvals-key")
        async with SqlApprovals(f"sqlite:///{store}", key=key) as book:
            for one in approvals:
                await book.open(one, ApprovalRequest("c", "release", "sign_off"), "d" * 64, State())

    asyncio.run(asked())


def test_a_whole_log_is_whole_and_its_rows_are_listed(cli: Any, store: str) -> None:
    ask(store, "first", "second")
    done = cli("approvals", "verify", "--store", store, "--json")
    assert (done.code, done.data["whole"], done.data["logs"]) == (0, True, [{"tenant": "", "findings": []}])
    assert cli("approvals", "verify", "--store", store).out.strip() == "default: whole"
    rows = cli("approvals", "log", "--store", store, "--json").data["rows"]
    assert [(row["number"], row["approval"], row["kind"]) for row in rows] == [
        (1, "first", "created"),
        (2, "second", "created"),
    ]
    assert cli("approvals", "log", "--after", "1", "--store", store).out.split()[0] == "2"


def test_a_changed_row_is_found_and_the_exit_code_says_so(cli: Any, store: str) -> None:
    ask(store, "first", "second")
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DROP TRIGGER approval_log_stays_update")
        connection.execute("UPDATE approval_log SET kind = 'applied' WHERE number = 1")
    done = cli("approvals", "verify", "--store", store)
    assert done.code == 1
    assert "row 1 was changed" in done.out
    assert cli("approvals", "verify", "--store", store, "--json").data["whole"] is False


def test_a_log_is_not_checked_without_its_key_and_none_is_made(cli: Any, store: str) -> None:
    done = cli("approvals", "verify", "--store", store)
    assert done.code == 1
    assert "there is no key file" in done.err
    assert not Path(f"{store}.approvals-key").exists()
    done = cli("approvals", "verify", "--store", "postgresql://weaver:hunter2@localhost/x")
    assert (done.code, "--approval-key-file" in done.err, "hunter2" in done.err) == (1, True, False)


def test_more_rows_than_may_be_are_refused(cli: Any, store: str) -> None:
    assert cli("approvals", "log", "--limit", "5000", "--store", store).code == 2


@pytest.mark.parametrize("rate", ["fast", "0/minute", "10/second", "-1"])
def test_a_rate_that_is_none_is_refused(cli: Any, store: str, rate: str) -> None:
    done = cli("serve", "--rate", rate, "--store", store)
    assert (done.code, done.out) == (1, "")
    assert "6000/minute, or off" in done.err


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "3601"])
def test_a_drain_that_no_timer_can_end_is_refused(cli: Any, store: str, seconds: str) -> None:
    # At an address that it would refuse next, so that it never begins to serve here.
    done = cli("serve", "--drain", seconds, "--host", "0.0.0.0", "--store", store)
    assert (done.code, done.out) == (1, "")
    assert "give seconds from 0 to 3,600" in done.err


def test_a_service_is_not_opened_to_others_without_a_key(cli: Any, store: str) -> None:
    done = cli("serve", "--host", "0.0.0.0", "--port", "0", "--store", store)
    assert (done.code, done.out) == (1, "")
    assert "others can reach 0.0.0.0, and there is no API key" in done.err
    assert not Path(store).exists()


def test_a_database_that_does_not_answer_ends_it_with_its_own_code(cli: Any) -> None:
    done = cli("serve", "--port", "0", "--store", "postgresql://weaver:hunter2@127.0.0.1:1/x")
    assert (done.code, done.out) == (3, "")
    assert len(done.err.splitlines()) == 1
    assert "hunter2" not in done.err


def test_a_redis_that_does_not_answer_ends_it_with_its_own_code(cli: Any, store: str) -> None:
    done = cli("serve", "--port", "0", "--store", store, "--redis", "redis://:hunter2@127.0.0.1:1/0")
    assert (done.code, done.out) == (3, "")
    assert "127.0.0.1:1" in done.err
    assert "hunter2" not in done.err


def test_a_store_in_a_folder_that_cannot_be_written_is_named(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    done = cli("serve", "--port", "0", "--store", tmp_path / "taken" / "service.db")
    assert done.code in (1, 3)
    assert "taken" in done.err
    assert len(done.err.splitlines()) == 1
