"""`skillweave doctor`: what is installed, reachable and configured."""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from skillweave.cli import options
from skillweave.cli.failure import MISTAKE, UNREACHABLE
from skillweave.cli.output.page import Answer, Ink, Page, counted
from skillweave.errors import Contended, SkillweaveError, StoreUnavailable

if TYPE_CHECKING:
    from skillweave.cli.configuration import Setting
    from skillweave.cli.health import Finding, Health

Probe: TypeAlias = "tuple[str, str, Callable[[], AsyncIterator[Finding]]]"
"""A section, what is looked at in it, and the look."""

EXAMPLES = {
    "doctor": """
skillweave doctor
skillweave doctor --skills examples/skills --ledger team.db
skillweave doctor --all
"""
}


async def doctor(
    ctx: typer.Context,
    *,
    of: options.LoadingWithLedger,
    entities: options.Entities = None,
    everything: Annotated[
        bool, options.option(options.OUTPUT, "--all", "Show also what is well or merely not installed.")
    ] = False,
) -> Answer:
    """Find what is missing or wrong with this installation.

    Looks at packages and extras, extensions, the configuration and where each value comes from, skills, the ledger
    and the entities; of a server also its version, its tables, and what it may lose. What is `missing` is optional.
    The exit code is 1 for a problem, and 3 for a ledger or a source that does not answer. Nothing is changed.
    """
    from skillweave.cli.health import Configured, Health, Value
    from skillweave.frozen import freeze

    given = {"skills": of.skills, "pack": of.pack, "strict": of.strict, "ledger": of.ledger, "entities": entities}
    file, settings, found = _settings(ctx, {name: value for name, value in given.items() if value})
    for probe in _probes({name: one.value for name, one in settings.items()}):
        found += [finding async for finding in _looked(*probe)]
    values = tuple(Value(name, freeze(_hidden(one.value)), one.origin, one.place) for name, one in settings.items())
    health = Health(tuple(finding.without_secrets() for finding in found), Configured(file, values))
    code = UNREACHABLE if any(finding.unreachable for finding in health.findings) else MISTAKE
    return Answer(lambda: health, partial(_text, health, everything), code=0 if health.ok else code)


def _settings(
    ctx: typer.Context, flags: Mapping[str, object]
) -> "tuple[str | None, dict[str, Setting], list[Finding]]":
    """The configuration file, each shared option with its value or default, and a finding for each mistake."""
    from skillweave.cli import config_file, configuration
    from skillweave.cli.health import Finding, Level

    problems: list[tuple[str, str]] = []
    root: Any = ctx.find_root()
    names = root.command.list_commands(ctx)
    found = configuration.Configuration(None, os.environ)
    try:
        found = configuration.configuration_of(root.params)
        if found.file:
            problems += [("file", one) for one in configuration.problems_of(found.file, root.command, names)]
    except config_file.InvalidConfiguration as error:
        problems.append(("file", str(error)))
    problems += [("environment", one) for one in configuration.strange_variables(os.environ)]
    settings: dict[str, Setting] = {}
    keys: dict[str, configuration.Key] = {}
    for one in names:
        # A command may need a package that is missing: that is a finding about packages.
        with suppress(ImportError):
            keys |= configuration.keys_of(root.command.commands[one].load())
    for name in sorted(configuration.shared_names() & keys.keys()):
        default = configuration.Setting(keys[name], keys[name].parameter.default, configuration.Origin.DEFAULT, None)
        try:
            setting = found.setting(keys[name], "doctor") or default
        except typer.BadParameter:
            setting = default  # it is among the problems already
        if name in flags:
            setting = configuration.Setting(keys[name], flags[name], configuration.Origin.FLAG, f"--{name}")
        if refused := setting.refused():
            problems.append((name, refused))
            setting = default
        settings[name] = setting.taken()
    file = found.file.shown if found.file else None
    said = Finding("configuration", "file", Level.OK, file or "none is needed, and none is here or above")
    wrong = [Finding("configuration", subject, Level.PROBLEM, problem) for subject, problem in problems]
    return file, settings, wrong or [said]


def _probes(value: Mapping[str, Any]) -> "Iterator[Probe]":
    from skillweave.cli.arguments.ledger import DEFAULT_LEDGER
    from skillweave.cli.health import installation as inside
    from skillweave.cli.health import surroundings as around

    names, packs, ledger, entities = (value.get(one) for one in ("skills", "pack", "ledger", "entities"))
    yield inside.PACKAGES, inside.PACKAGE, inside.look_at_packages
    yield inside.EXTENSIONS, "extensions", inside.look_at_extensions
    yield inside.ENGINE, "engine", inside.look_at_the_engine
    yield around.SKILLS, "skills", partial(around.look_for_skills, names, packs)
    for name in around.folders_of(names, packs):
        yield around.SKILLS, name, partial(around.look_at_skills, name, strict=value["strict"])
    for name in packs or ():
        yield around.SKILLS, f"pack {name}", partial(around.look_at_pack, name)
    yield around.LEDGER, ledger or DEFAULT_LEDGER, partial(around.look_at_ledger, ledger, names)
    yield around.ENTITIES, entities or "", partial(around.look_at_entities, entities, value["tenant"])
    redis = value.get("redis")
    yield around.SERVICE, redis or "", partial(around.look_at_service, value.get("store"), redis)


async def _looked(section: str, subject: str, look: "Callable[[], AsyncIterator[Finding]]") -> "AsyncIterator[Finding]":
    from skillweave.cli.health import Finding, Level

    try:
        async for finding in look():
            yield finding
    except (StoreUnavailable, Contended) as error:
        yield Finding(section, subject, Level.PROBLEM, f"does not answer: {error}", unreachable=True)
    except SkillweaveError as error:
        yield Finding(section, subject, Level.PROBLEM, str(error))
    except Exception as error:  # noqa: BLE001 - in a broken installation anything may be raised, and is what is told
        message = f"cannot be looked at: {type(error).__name__}: {error}"
        yield Finding(section, subject, Level.PROBLEM, message, "fix what is said above, then try again")


def _hidden(value: Any) -> Any:  # noqa: ANN401 - of the kind that the option has
    from skillweave.redaction import without_secrets

    if isinstance(value, list | tuple):
        return [without_secrets(str(item)) for item in value]
    return without_secrets(value) if isinstance(value, str) else value


_QUIET = frozenset(("packages", "extras", "extensions"))
"""Sections of which one screen shows only what is wrong."""
_INKS = {"ok": Ink.GOOD, "note": Ink.FAINT, "missing": Ink.FAINT, "warning": Ink.WARN, "problem": Ink.BAD}


def _text(health: "Health", everything: bool, page: Page) -> str:
    parts, hidden = [], 0
    for section, findings in groupby(health.findings, key=lambda finding: finding.section):
        told = list(findings)
        shown = [one for one in told if everything or section not in _QUIET or one.level not in ("ok", "missing")]
        hidden += len(told) - len(shown)
        lines = [_line(one, page) for one in shown]
        if section == "configuration":
            lines += _values(health, everything, page)
        if lines:
            parts.append("\n".join([page.paint(section, Ink.STRONG), *lines]))
    summary = [counted(health.problems, "problem") if health.problems else "Nothing is wrong"]
    summary += [counted(health.warnings, "warning")] if health.warnings else []
    summary += [f"{counted(health.missing, 'optional part')} missing"] if health.missing else []
    more = f" `skillweave doctor --all` shows {hidden:,} more lines." if hidden else ""
    return "\n\n".join([*parts, page.wrap(f"{'; '.join(summary)}.{more}")])


def _values(health: "Health", everything: bool, page: Page) -> Iterator[str]:
    for one in health.configuration.values:
        if one.place is not None or everything:
            value = ", ".join(map(str, one.value)) if isinstance(one.value, tuple) else one.value
            yield page.entry(f"  {one.origin.value}", f"{one.key}: {value}{f', from {one.place}' if one.place else ''}")


def _line(finding: "Finding", page: Page) -> str:
    level = finding.level.value
    head = page.entry(f"  {level}", f"{finding.subject}: {finding.message}", _INKS[level])
    return head if finding.fix is None else f"{head}\n{page.entry('', f'> {finding.fix}')}"
