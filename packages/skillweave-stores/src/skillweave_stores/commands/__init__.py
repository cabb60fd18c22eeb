"""The command for skills that are kept in a database."""

from skillweave.extensions import CommandSpec

_OUTPUT = f"{__name__}.output"

STORE = CommandSpec(
    "Keep skills in a database: put them there, go back to a version.",
    f"{__name__}.store",
    {
        "put": "skillweave_stores.seed.filling:Seeded",
        "versions": f"{_OUTPUT}:VersionsShown",
        "rollback": f"{_OUTPUT}:InUse",
        "unpublish": f"{_OUTPUT}:InUse",
        "migrate": f"{_OUTPUT}:MigrationShown",
    },
)
