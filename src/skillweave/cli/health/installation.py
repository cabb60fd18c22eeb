"""What is installed: Python, packages, extras, extensions, and an engine that runs a turn."""

import platform
from collections.abc import AsyncIterator, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution, entry_points, version
from typing import TYPE_CHECKING

from skillweave.cli.commands import GROUP as COMMANDS
from skillweave.cli.commands import find_guests
from skillweave.cli.health import Finding, Level
from skillweave.skill import Json

if TYPE_CHECKING:
    from packaging.requirements import Requirement

PACKAGE = "skillweave"
PREFIX = f"{PACKAGE}."
_SKILL: Mapping[str, Json] = {
    "name": "doctor",
    "description": "Is chosen, when all is well.",
    "triggers": ["is all well"],
}
PACKAGES, EXTRAS, EXTENSIONS, ENGINE = "packages", "extras", "extensions", "engine"


async def look_at_packages() -> AsyncIterator[Finding]:
    """Python, skillweave, each package that it cannot do without, and each extra."""
    try:
        own = distribution(PACKAGE)
    except PackageNotFoundError:
        fix = "install it: pip install skillweave, or pip install -e . in its sources"
        yield Finding(PACKAGES, PACKAGE, Level.PROBLEM, "runs without being installed: no ledger is found", fix)
        return
    try:
        from packaging.requirements import Requirement
    except ImportError:
        message = "is not installed, so that nothing else can be compared"
        yield Finding(PACKAGES, "packaging", Level.PROBLEM, message, "pip install packaging")
        return
    stated = [Requirement(text) for text in own.requires or ()]
    python = f"{platform.python_version()} ({platform.python_implementation()}, {platform.system()})"
    yield Finding(PACKAGES, "Python", Level.OK, python)
    yield Finding(PACKAGES, PACKAGE, Level.OK, own.version)
    for need in _needs(stated, ""):
        found = _fault(need)
        fix = f"pip install '{need}'"
        fine = Finding(PACKAGES, need.name, Level.OK, version(need.name) if not found else "")
        yield Finding(PACKAGES, need.name, Level.PROBLEM, found, fix) if found else fine
    for extra in sorted({*(own.metadata.get_all("Provides-Extra") or ())} - {"dev"}):
        needs = list(_needs(stated, extra))
        faults = [f"{need.name} {fault}" for need in needs if (fault := _fault(need))]
        if faults:
            fix = f"pip install '{PACKAGE}[{extra}]'"
            yield Finding(EXTRAS, extra, Level.MISSING, "; ".join(faults), fix)
        else:
            there = ", ".join(f"{need.name} {version(need.name)}" for need in needs)
            yield Finding(EXTRAS, extra, Level.OK, there or "nothing is needed for it here")


def _needs(stated: "list[Requirement]", extra: str) -> "Iterator[Requirement]":
    """What an extra adds, of what this Python and system need; the empty name stands for what is always needed."""
    for one in stated:
        always = one.marker is None or one.marker.evaluate({"extra": ""})
        added = not always and one.marker is not None and one.marker.evaluate({"extra": extra})
        if not (added if extra else always):
            continue
        if one.name == PACKAGE:  # an extra of extras
            for inner in sorted(one.extras):
                yield from _needs(stated, inner)
        else:
            yield one


def _fault(need: "Requirement") -> str:
    from packaging.version import InvalidVersion

    try:
        installed = version(need.name)
    except PackageNotFoundError:
        return "is not installed"
    try:
        fits = need.specifier.contains(installed, prereleases=True)
    except (InvalidVersion, TypeError):
        fits = False
    return "" if fits else f"is {installed}, and {need.specifier} is needed"


async def look_at_extensions() -> AsyncIterator[Finding]:
    """Yields a finding for each entry point by which other distributions bring something, and for names taken twice."""
    guests = find_guests()
    for name, spec in guests.taken.items():
        yield Finding(EXTENSIONS, f"commands {name}", Level.OK, spec.module)
    for name, why in guests.refused.items():
        message, _, fix = why.rpartition("; ")
        yield Finding(EXTENSIONS, f"commands {name}", Level.PROBLEM, message, fix)
    from skillweave.embedders import EMBEDDERS
    from skillweave.select.selection import EXTENSIONS as MATCHERS
    from skillweave.sources.named import PACKS, SOURCES
    from skillweave.stores.named import LEDGERS

    own = {PREFIX + kind.group: kind.built_in for kind in (EMBEDDERS, LEDGERS, MATCHERS, PACKS, SOURCES)}
    for group in sorted({*entry_points().groups, *own} - {COMMANDS}):
        if not group.startswith(PREFIX):
            continue
        seen = dict.fromkeys(own.get(group, ()), "skillweave itself")
        for name, of in seen.items():
            yield Finding(EXTENSIONS, f"{group.removeprefix(PREFIX)} {name}", Level.OK, of)
        for point in sorted(entry_points(group=group), key=lambda point: point.name):
            brought = point.dist.name if point.dist is not None else "an unknown package"
            level, message, fix = Level.OK, f"{point.value}, of {brought}", ""
            if point.name in seen:
                level, message = Level.PROBLEM, f"is brought twice, by {seen[point.name]} and by {brought}"
                fix = "uninstall one of the packages that bring it"
            seen[point.name] = brought
            try:
                point.load()
            except Exception as error:  # noqa: BLE001 - the code of a guest may raise anything
                level, message = Level.PROBLEM, f"cannot be loaded: {type(error).__name__}: {error}"
                fix = f"install {brought} again, or uninstall it"
            yield Finding(EXTENSIONS, f"{group.removeprefix(PREFIX)} {point.name}", level, message, fix or None)


async def look_at_the_engine() -> AsyncIterator[Finding]:
    """Whether each vocabulary that is shipped loads, and whether a skill is selected and rendered."""
    again = "install skillweave again"
    from skillweave.tokens.counter import Tiktoken
    from skillweave.tokens.ranks import VOCABULARIES

    for encoding in VOCABULARIES:
        try:
            Tiktoken(encoding).warm_up()
        except Exception as error:  # noqa: BLE001 - whatever a broken installation raises is the finding
            yield Finding(ENGINE, encoding, Level.PROBLEM, f"cannot be loaded: {error}", again)
        else:
            yield Finding(ENGINE, encoding, Level.OK, "counts tokens exactly, and offline")
    try:
        import skillweave

        injection = await skillweave.open(_SKILL).weave("Is all well?", conversation="doctor")
    except Exception as error:  # noqa: BLE001 - whatever a broken installation raises is the finding
        yield Finding(ENGINE, "a turn", Level.PROBLEM, f"fails: {type(error).__name__}: {error}", again)
        return
    if injection.skills == ("doctor",):
        yield Finding(ENGINE, "a turn", Level.OK, "selects a skill and renders it")
    else:
        yield Finding(ENGINE, "a turn", Level.PROBLEM, "does not select the skill that it must", again)
