"""`skillweave doctor`: what is installed, reachable and configured."""

import os
from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer

from skillweave.cli import options
from skillweave.cli.failure import MISTAKE, UNREACHABLE
from skillweave.cli.output.page import Answer, Ink, Page, counted

if TYPE_CHECKING:
    from skillweave.cli.health import Finding, Health
    from skillweave.cli.health.surroundings import Settings

_Look: TypeAlias = "Callable[[], Iterable[Finding] | AsyncIterator[Finding]]"

EXAMPLES = {
    "doctor": """
skillweave doctor
skillweave doctor --skills examples/skills --ledger team.db
skillweave doctor --json
"""
}


async def doctor(
    ctx: typer.Context,
    *,
    of: options.LoadingWithLedger,
    entities: options.Entities = None,
) -> Answer:
    """Find what is missing or wrong with this installation.

    Looks at packages and extras, extensions, the configuration and where each value comes from, skills, the ledger,
    the entities and the terminal; of a server also its version, its tables, and what it may lose. What is `missing` is
    optional. The exit code is 1 for a problem, and 3 for a ledger or a source that does not answer. Nothing is changed.
    """
    from skillweave.cli.configuration.configuration import Program, chosen_in
    from skillweave.cli.health import Health
    from skillweave.cli.health.surroundings import settings_now

    program = ctx.find_root()
    flags = {"skills": of.skills, "pack": of.pack, "strict": of.strict, "ledger": of.ledger, "entities": entities}
    settings = settings_now(Program(program.command), chosen_in(program.params), flags, os.environ)
    health = Health(tuple([finding.without_secrets() for finding in await _looked(settings)]), settings.configured)
    code = UNREACHABLE if any(finding.unreachable for finding in health.findings) else MISTAKE
    return Answer(lambda: health, partial(_text, health), code=0 if health.ok else code)


async def _looked(settings: "Settings") -> list["Finding"]:
    from skillweave.cli.health import installation, surroundings

    wanted, packs = settings.value("skills"), settings.value("pack")
    entities, tenant = settings.value("entities"), settings.value("tenant")
    looks: tuple[tuple[str, _Look], ...] = (
        (installation.PACKAGES, installation.look_at_packages),
        (installation.EXTENSIONS, installation.look_at_extensions),
        (installation.ENGINE, installation.look_at_vocabularies),
        (installation.ENGINE, installation.look_at_a_turn),
        ("configuration", partial(iter, settings.findings)),
        (surroundings.SKILLS, partial(surroundings.look_at_skills, wanted, packs, strict=settings.value("strict"))),
        (surroundings.SKILLS, lambda: surroundings.look_at_roots(Path.cwd(), Path.home(), wanted, packs)),
        (surroundings.LEDGER, partial(surroundings.look_at_ledger, settings.value("ledger"), wanted)),
        (surroundings.ENTITIES, partial(surroundings.look_at_entities, entities, tenant)),
        (surroundings.SERVICE, partial(surroundings.look_at_service, settings.value("store"), settings.value("redis"))),
        (surroundings.TERMINAL, lambda: surroundings.look_at_terminal(Path.home())),
    )
    return [finding for section, look in looks async for finding in _found(section, look)]


async def _found(section: str, look: _Look) -> "AsyncIterator[Finding]":
    """What one look finds; that it cannot look is a finding too, and the others go on."""
    from skillweave.cli.health import Finding, Level

    try:
        findings = look()
        if isinstance(findings, AsyncIterator):
            async for finding in findings:
                yield finding
        else:
            for finding in findings:
                yield finding
    except Exception as error:  # noqa: BLE001 - in a broken installation anything may be raised, and is what is told
        message = f"cannot be looked at: {type(error).__name__}: {error}"
        yield Finding(section, section, Level.PROBLEM, message, "fix what is said above, then try again")


def _text(health: "Health", page: Page) -> str:
    """The findings by section, and how many of them are bad."""
    parts = [
        "\n".join([page.paint(section, Ink.STRONG), *(_line(finding, page) for finding in findings)])
        for section, findings in groupby(health.findings, key=lambda finding: finding.section)
    ]
    summary = [counted(health.problems, "problem") if health.problems else "Nothing is wrong"]
    summary += [counted(health.warnings, "warning")] if health.warnings else []
    summary += [f"{counted(health.missing, 'optional part')} missing"] if health.missing else []
    return "\n\n".join([*parts, f"{'; '.join(summary)}."])


_INKS = {"ok": Ink.GOOD, "note": Ink.FAINT, "missing": Ink.FAINT, "warning": Ink.WARN, "problem": Ink.BAD}


def _line(finding: "Finding", page: Page) -> str:
    level = finding.level.value
    head = page.entry(f"  {level}", f"{finding.subject}: {finding.message}", _INKS[level])
    return head if finding.fix is None else f"{head}\n{page.entry('', f'> {finding.fix}')}"
