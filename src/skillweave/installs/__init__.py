"""Skills of others, copied into a folder of skills: from a folder, an archive or a git repository, and taken out again.

What came from where stands in a lock file beside them. Nothing of a skill is ever run.
"""

from skillweave.installs.adding import Added, add_skills, remove_skill
from skillweave.installs.fetching import Kind, Origin, fetched
from skillweave.installs.lock import LOCK_FILE, Condition, Lock, Locked, Standing, read_lock, standings
from skillweave.installs.packages import InstallRefused, Package, packages_in

__all__ = [
    "LOCK_FILE",
    "Added",
    "Condition",
    "InstallRefused",
    "Kind",
    "Lock",
    "Locked",
    "Origin",
    "Package",
    "Standing",
    "add_skills",
    "fetched",
    "packages_in",
    "read_lock",
    "remove_skill",
    "standings",
]
