"""What whoever sits at the terminal is asked about a call, and what becomes of the answers."""

import io
from typing import Any

import pytest

from skillweave import ApprovalVerdict
from skillweave.adapters.approval import Reply, question, read_reply
from skillweave.adapters.chat import Call
from skillweave.cli.chat_terminal import ask_person
from skillweave.cli.failure import Mistake
from skillweave.errors import InvalidVerdict
from skillweave.turns import PendingCheckpoint

RELEASE = PendingCheckpoint("bills", "release", "pay", True, None, "May it be paid?")
CALL = Call("call-1", "pay", {"invoice": "INV-1"})


class Typed(io.StringIO):
    """Lines that a person types at a terminal."""

    def isatty(self) -> bool:
        return True


def answered(monkeypatch: pytest.MonkeyPatch, *lines: str) -> Reply:
    monkeypatch.setattr("sys.stdin", Typed("".join(f"{line}\n" for line in lines)))
    return read_reply(ask_person(question("c1", [RELEASE], CALL)))


def test_the_call_is_shown_with_its_arguments(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    answered(monkeypatch, "a", "Ann")
    assert 'pay {"invoice": "INV-1"}' in " ".join(capsys.readouterr().err.split())


def test_a_yes_names_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(monkeypatch, "a", "Ann") == Reply(ApprovalVerdict.APPROVED, "Ann", call="call-1")


def test_a_no_may_say_why_for_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = answered(monkeypatch, "r", "Ann", "Paid already.")
    assert reply == Reply(ApprovalVerdict.REJECTED, "Ann", "Paid already.", "call-1")


def test_a_change_is_asked_for_until_it_is_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = answered(monkeypatch, "m", "Ann", "INV-2", "[]", '{"invoice": "INV-2"}')
    assert reply.arguments == {"invoice": "INV-2"}


def test_without_a_call_there_is_nothing_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Typed("m\na\nAnn\n"))
    assert ask_person(question("c1", [RELEASE])) == {"verdict": "approved", "by": "Ann"}


def test_without_a_terminal_the_remedy_names_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(Mistake, match=r"ledger approve c1 bills release --call .*INV-1"):
        ask_person(question("c1", [RELEASE], CALL))


def test_a_reply_without_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillweave.cli.chat_terminal._user", lambda: "")
    with pytest.raises(InvalidVerdict):
        answered(monkeypatch, "a", "")
