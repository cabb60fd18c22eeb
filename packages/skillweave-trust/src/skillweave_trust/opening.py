"""`trusted://FOLDER`: a folder of skills behind the user's own policy, each skill of the origin that its lock names."""

from pathlib import Path

import platformdirs

from skillweave.errors import InvalidValue
from skillweave.skills import Lock, Strictness, read_lock
from skillweave.sources import source_of
from skillweave_trust.approvals import Approvals
from skillweave_trust.policy import ASKING, Policy, read_policy
from skillweave_trust.trusted import Trusted

__all__ = ["open_trusted", "policy_of_user"]


def open_trusted(path: str, *, strictness: Strictness = Strictness.LENIENT) -> Trusted:
    """Returns the folder behind the policy in the user's `trust.toml`, or the one that asks for what was added.

    Raises InvalidValue for a policy or a lock that cannot be read: nothing is trusted by mistake.
    """
    if not path:
        raise InvalidValue("trusted:// names no folder; write trusted://skills")
    approvals = Approvals.of_user()
    lock = read_lock(Path(path))
    origins = approvals.remembered(Path(path), origins_of(lock))
    locked = {name: dict(entry.sha256) for name, entry in lock.skills.items()}
    source = source_of(path, strictness)
    return Trusted(
        source, policy_of_user(), origin=f"folder:{path}", origins=origins, locked=locked, approvals=approvals
    )


def origins_of(lock: Lock) -> dict[str, str]:
    """Returns where each skill of a lock came from, as `kind:source`.

    What was copied from another folder of this machine is a stranger's all the same, if that folder had it from one.
    """
    return {name: f"{entry.kind}:{entry.source}" for name, entry in lock.skills.items()}


def policy_of_user() -> Policy:
    """Returns the policy of `trust.toml` in the user's folder of settings, else the one that asks."""
    place = Path(platformdirs.user_config_dir("skillweave")) / "trust.toml"
    return read_policy(place) if place.exists() else ASKING
