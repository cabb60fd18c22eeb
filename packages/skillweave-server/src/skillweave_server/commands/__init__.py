"""Commands of the service: serve, gateway, keys, approvals."""

from skillweave.extensions import CommandSpec

_OUTPUT = f"{__name__}.output"

SERVE = CommandSpec("Answer over HTTP: turns, approvals, skills, events.", f"{__name__}.serve", f"{_OUTPUT}:Listening")
GATEWAY = CommandSpec(
    "Stand between an agent and its model, so that it gets skills.", f"{__name__}.gateway", f"{_OUTPUT}:Listening"
)
KEYS = CommandSpec(
    "Make, list and revoke the API keys of a service.",
    f"{__name__}.keys",
    {"new": f"{_OUTPUT}:KeyMade", "list": f"{_OUTPUT}:KeysShown", "revoke": f"{_OUTPUT}:KeyShown"},
)
APPROVALS = CommandSpec(
    "Read the log of approvals, and check that it is whole.",
    f"{__name__}.approvals",
    {"log": f"{_OUTPUT}:LogShown", "verify": f"{_OUTPUT}:LogVerified"},
)
