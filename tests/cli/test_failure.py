import errno
import os
from typing import Any

import pytest

from skillweave import SkillNotFound, StoreUnavailable
from skillweave.cli.failure import Mistake, failure_of, wants_json
from skillweave.errors import Contended


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Mistake("x"), 1),
        (SkillNotFound("x", ()), 1),
        (StoreUnavailable("x"), 3),
        (Contended("c1", 24), 3),
        (PermissionError(errno.EACCES, "no", "file"), 1),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "no"), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_exit_code_tells_a_mistake_from_a_store_that_does_not_answer(error: Exception, code: int) -> None:
    assert failure_of(error)["exit_code"] == code


def test_a_refusal_of_the_system_names_the_file() -> None:
    error = PermissionError(errno.EACCES, os.strerror(errno.EACCES), "notes.json")
    assert failure_of(error)["message"] == "notes.json: Permission denied; check that it exists and is yours"


def test_json_is_wanted_only_as_an_option() -> None:
    assert wants_json(["weave", "--json", "x"])
    assert not wants_json(["weave", "--", "--json"])


def test_a_message_without_quotes_is_told_to_have_them(cli: Any) -> None:
    done = cli("match", "say", "bonjour")
    assert done.code == 2
    assert "(bonjour); a MESSAGE of several words stands in quotes; `skillweave match --help`" in done.err
    assert "quotes" not in cli("check", "bonjour").err
