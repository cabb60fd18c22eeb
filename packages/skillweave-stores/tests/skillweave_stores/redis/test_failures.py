"""What each error of the client library means; the common ones are tested on real servers in test_faults.py."""

import socket

import pytest
from redis import exceptions

from skillweave_stores.redis.failures import explained
from skillweave_stores.redis.place import place_of

PLACE = place_of("redis://ann:s3cret@host:7000/2", {})


@pytest.mark.parametrize(
    ("error", "meaning", "after"),
    [
        (
            exceptions.ResponseError("MISCONF Errors writing to the AOF file: No space left on device"),
            "disk",
            30.0,
        ),
        (exceptions.ResponseError("NOREPLICAS Not enough good replicas to write."), "too few replicas", 30.0),
        (exceptions.ResponseError("BUSY Redis is busy running a script."), "SCRIPT KILL", 1.0),
        (exceptions.MovedError("1234 127.0.0.1:7001"), r"redis\+cluster://", None),
        (exceptions.ClusterDownError("CLUSTERDOWN Hash slot not served"), "a part is missing", 1.0),
        (exceptions.MasterDownError("MASTERDOWN Link with MASTER is down"), "lost its primary", 1.0),
        (exceptions.ResponseError("unknown command 'EVALSHA', with args beginning with:"), "no Lua scripts", None),
        (exceptions.ResponseError("DB index is out of range"), "no database of that number", None),
        (exceptions.ResponseError("something new"), "answers with an error", 1.0),
        # As Redis 6 says it of a command within a script.
        (exceptions.ResponseError("Error running script: -OOM command not allowed"), "no memory left", 30.0),
        (exceptions.ResponseError("Error running script: -READONLY You can't write"), "is a replica", 1.0),
    ],
)
def test_an_error_is_told_with_its_remedy(error: Exception, meaning: str, after: float | None) -> None:
    told = explained(error, PLACE)
    assert str(told).startswith("the Redis at redis://host:7000/2 ")
    assert told.retry_after == after
    with pytest.raises(type(told), match=meaning):
        raise told


def test_a_host_that_nobody_knows_is_told() -> None:
    error = exceptions.ConnectionError("Error -2 connecting to host:7000. Name or service not known.")
    error.__context__ = socket.gaierror(-2, "Name or service not known")
    assert "has a host name that nobody knows" in str(explained(error, PLACE))


def test_a_password_in_an_error_is_not_shown() -> None:
    told = explained(exceptions.ResponseError("unknown command 'AUTH' with args 'ann' 's3cret'"), PLACE)
    assert ("s3cret" in str(told), "***" in str(told)) == (False, True)
