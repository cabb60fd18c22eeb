"""What `doctor` says of a service: what a crash may lose with its configuration."""

from typing import Any

import pytest


def said(cli: Any) -> list[dict[str, Any]]:
    """What is found about the service."""
    return [one for one in cli("doctor", "--json").data["findings"] if one["section"] == "service"]


def test_nothing_is_said_without_a_configuration(cli: Any) -> None:
    assert said(cli) == []


def test_with_a_redis_a_crash_loses_decisions_and_what_the_redis_has_not_written(
    cli: Any, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLWEAVE_REDIS", redis_url)
    found = {one["subject"]: one for one in said(cli)}
    assert "a crash of a process loses the last second" in found["decisions"]["message"]
    assert {"server", "decisions"} < found.keys()


def test_on_postgresql_alone_events_stay_in_one_service(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLWEAVE_STORE", "postgresql://weaver@localhost/x")
    (found,) = said(cli)
    assert (found["subject"], found["level"]) == ("events", "note")


def test_a_redis_that_does_not_answer_is_a_problem(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLWEAVE_REDIS", "redis://:hunter2@127.0.0.1:1/0")
    done = cli("doctor", "--json")
    assert done.code == 3
    assert "hunter2" not in done.out
