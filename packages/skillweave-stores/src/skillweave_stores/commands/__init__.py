"""Commands for skills that are kept in a database."""

from skillweave.extensions import CommandSpec

_SEED, _STORE = (f"{__name__}.{module}" for module in ("seed", "store"))
_SEEDED = "skillweave_stores.seed.filling:Seeded"
_OUTPUT = f"{__name__}.output"

SEED = CommandSpec("Fill a store with skills, their documents and agents.", _SEED, _SEEDED)
PUBLISH = CommandSpec("Put skills in use, and say which version of each that is.", _SEED, _SEEDED)
VERSIONS = CommandSpec(
    "List every version of a stored skill, and which one is in use.", _STORE, f"{_OUTPUT}:VersionsShown"
)
ROLLBACK = CommandSpec("Put an earlier version of a skill in use.", _STORE, f"{_OUTPUT}:RolledBack")
UNPUBLISH = CommandSpec("Take a skill out of use.", _STORE, f"{_OUTPUT}:Unpublished")
MIGRATE = CommandSpec(
    "Bring the tables of a database to the form of this version.", _STORE, f"{_OUTPUT}:MigrationShown"
)
