"""`skillweave approve`: the user's own yes, kept outside of every folder of skills."""

from functools import partial
from typing import Annotated

import typer

from skillweave import Skill
from skillweave.commands import OUTPUT, Answer, Mistake, Reading, option
from skillweave.manifest import Manifest
from skillweave.registry import Packaged

EXAMPLES = {
    "approve": """
skillweave approve pdf --skills .claude/skills
skillweave approve pdf --skills .claude/skills --run scripts/count.py -- report.pdf
skillweave approve pdf --skills .claude/skills --revoke
"""
}


async def approve(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The id of a skill.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGUMENT]...", help="With --run: the script's arguments.")
    ] = None,
    *,
    reading: Reading,
    run: Annotated[
        str | None, option(OUTPUT, "--run PATH", "Let this script of the skill run once, with the arguments.")
    ] = None,
    revoke: Annotated[bool, option(OUTPUT, "--revoke", "Take back that the skill was let in.")] = False,
) -> Answer:
    """Let in a skill, or one run of its script.

    The yes is bound to the SHA-256 of every file of the skill and ends when one of them changes. It is kept in your own
    folder of settings. Read the skill before: from then on your agent obeys its text.
    """
    from skillweave_trust.approvals import Approvals
    from skillweave_trust.commands.shown import Yes, yes_text
    from skillweave_trust.scripts.values import check_arguments

    if arguments and run is None:
        raise Mistake("arguments are those of a script; name it with --run PATH")
    manifest = await _manifest(skill, reading)
    yes = Approvals.of_user()
    if revoke:
        shown = Yes(skill, manifest.digest, "revoked" if yes.revoke(skill, manifest) else "not-approved", run)
    elif run is not None:
        if manifest.file(run) is None:
            raise Mistake(f"skill '{skill}' has no file {run[:100]!r}; name a script by its path in the skill's folder")
        yes.approve_run(skill, manifest, run, check_arguments(arguments or []))
        shown = Yes(skill, manifest.digest, "one-run", run, tuple(arguments or ()))
    else:
        yes.approve(skill, manifest)
        shown = Yes(skill, manifest.digest, "approved", None)
    return Answer(lambda: shown, partial(yes_text, shown))


async def _manifest(skill_id: str, reading: Reading) -> Manifest:
    from skillweave_trust.trusted import Trusted, definition_manifest

    known: list[str] = []
    for source in reading.sources():
        loaded = await source.load(None)
        known += [one.id for one in loaded.skills]
        found: Skill | None = next((one for one in loaded.skills if one.id == skill_id), None)
        if found is None:
            continue
        if isinstance(source, Trusted):
            whole = await source.manifest_of_skill(found)
            if whole is None:
                raise Mistake(f"not all files of '{skill_id}' can be read; repair its folder")
            return whole
        package = (await source.packages([found], {})).get(skill_id) if isinstance(source, Packaged) else None
        if package is None:
            return definition_manifest(found)
        if package.manifest is None:
            raise Mistake(f"not all files of '{skill_id}' can be read: {package.findings[0].message}")
        return package.manifest
    raise Mistake(f"no skill has the id {skill_id[:100]!r}; there are: {', '.join(sorted(known)[:20]) or 'none'}")
