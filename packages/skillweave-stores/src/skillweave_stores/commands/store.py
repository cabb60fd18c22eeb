"""`skillweave store`: skills from files into a database, which versions it has, and its tables."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.commands import MISTAKE, Answer, Mistake, Paths, Reading, interruptible, option, with_paths
from skillweave.values import without_secrets
from skillweave_stores.commands import options
from skillweave_stores.commands.options import existing_store, named_store

if TYPE_CHECKING:
    from skillweave.registry import StoredVersion

EXAMPLES = {
    "put": """
skillweave store put examples/skills --store sqlite:///skills.db
skillweave store put skills --pack coding --store postgresql://weaver@db.internal/skills
skillweave store put skills/release/SKILL.md --store postgresql://weaver@db.internal/skills --tenant acme --json
""",
    "versions": """
skillweave store versions release --store sqlite:///skills.db
skillweave store versions release --store postgresql://weaver@db.internal/skills --json
""",
    "rollback": """
skillweave store rollback release --store sqlite:///skills.db
skillweave store rollback release 3f9a1c --store postgresql://weaver@db.internal/skills
skillweave store rollback release 1.2.0 --store postgresql://weaver@db.internal/skills --tenant acme
""",
    "unpublish": """
skillweave store unpublish release --store sqlite:///skills.db
""",
    "migrate": """
skillweave store migrate --store postgresql://weaver@db.internal/skills --check
skillweave store migrate --store postgresql://weaver@db.internal/skills
""",
}
_Skill = Annotated[
    str, typer.Argument(metavar="SKILL", help="The id of a stored skill.", autocompletion=options.stored_skills)
]
_LISTED = 10
"""So many versions stand in a line for people."""


async def put(
    ctx: typer.Context,
    paths: Paths = None,
    *,
    reading: Reading,
    store: options.InStore,
) -> Answer:
    """Put skills with their documents and agents into a database, in use at once.

    The content of a skill with its documents makes its version. What is in use already is left unchanged, and a version
    that was there before is put in use again, so that it may run again at any time, also in several processes at once.
    Nothing is taken out: `unpublish` does that. Bad skills are reported, and the others stored; the exit code is 1
    then. Skills are stored in chunks: after an interruption the next run stores the rest.
    """
    from skillweave_stores.commands.output import other_findings, seeded_text
    from skillweave_stores.commands.phrases import Counted, without_phrases
    from skillweave_stores.seed import seed

    reading, done = with_paths(reading, paths, ctx), 0
    if store.store is not None and store.store in (reading.skills or ()):
        raise Mistake("the skills are read from the store itself, so that nothing can change; name their folder")

    def tell(stored: int, _: int) -> None:
        nonlocal done
        done = stored

    sources = [Counted(one) for one in reading.sources()]
    async with store.opened() as target:
        with interruptible(lambda: f"; skills that are stored: {done:,}. Run it again, and the rest follows"):
            seeded = await seed(target, *sources, progress=tell)
    text = partial(seeded_text, seeded, place=without_secrets(store.store or ""))
    notes = (*other_findings(seeded), *without_phrases(sources))
    return Answer(lambda: seeded, text, code=0 if seeded.complete else MISTAKE, notes=notes)


async def versions(skill: _Skill, *, store: options.InStore) -> Answer:
    """List every version of a stored skill, and which one is in use.

    The one that was published last comes first. A version is known by its content hash; no version is ever changed or
    forgotten.
    """
    from skillweave_stores.commands.output import versions_shown, versions_text

    async with store.existing() as stored:
        shown = versions_shown(skill, await stored.versions(skill))
    return Answer(lambda: shown, partial(versions_text, shown))


async def rollback(
    skill: _Skill,
    version: Annotated[
        str | None,
        typer.Argument(
            metavar="[VERSION]",
            help="The beginning of its content hash, or the version that the skill states. Default: the one that was "
            "published before the one in use.",
            show_default=False,
            autocompletion=options.stored_versions,
        ),
    ] = None,
    *,
    store: options.InStore,
) -> Answer:
    """Put an earlier version of a skill in use.

    Other processes follow within seconds. `skillweave store versions` lists what there is.
    """
    from skillweave_stores.commands.output import InUse, in_use_text

    async with store.existing() as stored:
        known = await stored.versions(skill)
        target = _before(skill, known) if version is None else _meant(skill, version, known)
        await stored.roll_back(skill, target.content_hash)
    shown = InUse(skill, target.content_hash, target.skill.version, _used(known))
    return Answer(lambda: shown, partial(in_use_text, shown))


async def unpublish(skill: _Skill, *, store: options.InStore) -> Answer:
    """Take a skill out of use.

    Its versions stay: `skillweave store rollback` puts one in use again.
    """
    from skillweave_stores.commands.output import InUse, in_use_text

    async with store.existing() as stored:
        known = await stored.versions(skill)
        await stored.remove(skill)
    shown = InUse(skill, None, None, _used(known))
    return Answer(lambda: shown, partial(in_use_text, shown))


async def migrate(
    store: options.StoreUrl = None,
    check: Annotated[
        bool,
        option(options.STORE, "--check", "Change nothing; the exit code is 1 where there is something to do."),
    ] = False,
) -> Answer:
    """Bring the tables of a database to the form of this version.

    The data stays. All of it is done in one transaction, once, however many processes ask for it. Whatever opens a
    database does it too, where its user has the right to make tables.
    """
    from skillweave import StoreUnavailable
    from skillweave.ledger import Migrated, Served
    from skillweave_stores.commands.output import MigrationShown, migration_text

    async with existing_store(store) if check else named_store(store) as stored:
        if not isinstance(stored, Migrated) or not isinstance(stored, Served):
            raise Mistake(f"{without_secrets(store or '')} has no tables that need to be brought up to date")
        if check:
            facts = await stored.server()
            if facts.is_ahead:
                raise StoreUnavailable(
                    f"the tables of {facts.place} were made by a newer skillweave (revision {facts.revision}, this "
                    f"version knows {facts.newest}); upgrade skillweave, or name another database"
                )
            shown = MigrationShown(facts.revision, facts.newest, facts.revision)
        else:
            before, newest = await stored.migrate()
            shown = MigrationShown(newest, newest, before)
    code = 0 if shown.revision == shown.newest else MISTAKE
    return Answer(lambda: shown, partial(migration_text, shown), code=code)


def _used(known: Sequence["StoredVersion"]) -> str | None:
    return next((one.content_hash for one in known if one.in_use), None)


def _before(skill: str, known: Sequence["StoredVersion"]) -> "StoredVersion":
    """The version that was published before the one in use; the newest where none is in use."""
    used = next((place for place, one in enumerate(known) if one.in_use), -1)
    if used + 1 < len(known):
        return known[used + 1]
    raise Mistake(f"no version of {skill!r} was published before the one in use; {_choices(known)}")


def _meant(skill: str, version: str, known: Sequence["StoredVersion"]) -> "StoredVersion":
    """The version whose hash begins so, or that states this version; raises Mistake unless it is exactly one."""
    wanted = version.strip()
    meant = [one for one in known if wanted and wanted in (one.content_hash[: len(wanted)], one.skill.version)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise Mistake(f"{version!r} means several versions of {skill!r}; {_choices(meant)}")
    raise Mistake(f"{skill!r} has no version {version!r}; {_choices(known)}")


def _choices(known: Sequence["StoredVersion"]) -> str:
    from skillweave_stores.commands.output import SHORT

    names = [
        f"{one.content_hash[:SHORT]}{f' ({one.skill.version})' if one.skill.version else ''}"
        f"{', in use' if one.in_use else ''}"
        for one in known[:_LISTED]
    ]
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return f"name one of {'; '.join(names)}{more}"
