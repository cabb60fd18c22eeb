"""What is installed: Python, packages, extras, extensions, and an engine that runs a turn."""

import platform
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution, entry_points, version
from typing import TYPE_CHECKING

from skillweave.cli.commands import GROUP as COMMANDS
from skillweave.cli.commands import find_guests
from skillweave.cli.health import Finding, Level
from skillweave.skill import Json

if TYPE_CHECKING:
    from packaging.requirements import Requirement


PACKAGE = "skillweave"
PACKAGES, EXTRAS = "packages", "extras"

EXTENSIONS = "extensions"
PREFIX = f"{PACKAGE}."
ENGINE = "engine"
_OF_MAINTAINERS = frozenset({"dev"})
"""Extras that only people who change skillweave itself install."""
_AGAIN = "install skillweave again"
_SKILL: Mapping[str, Json] = {
    "name": "doctor",
    "description": "Is chosen, when all is well.",
    "triggers": ["is all well"],
}


@dataclass(frozen=True, slots=True)
class Need:
    """One package that is needed, in which versions, and the version that is installed."""

    name: str
    specifier: str
    installed: str | None
    satisfied: bool

    def __str__(self) -> str:
        if self.satisfied:
            return f"{self.name} {self.installed}"
        if self.installed is None:
            return f"{self.name} is not installed"
        return f"{self.name} is {self.installed}, and {self.specifier} is needed"


def look_at_packages() -> Iterator[Finding]:
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
    yield _python(own)
    yield Finding(PACKAGES, PACKAGE, Level.OK, f"{own.version} in {_place()}")
    for need in _needs(stated, ""):
        yield _required(need)
    for extra in sorted({*(own.metadata.get_all("Provides-Extra") or ())} - _OF_MAINTAINERS):
        yield _extra(extra, _needs(stated, extra))


def extra_with(module: str) -> str | None:
    """The smallest extra of skillweave that brings a module, as far as the names of its packages tell."""
    from packaging.requirements import Requirement

    wanted = _normal(module.partition(".")[0])
    own = distribution(PACKAGE)
    stated = [Requirement(text) for text in own.requires or ()]
    bringing = []
    for extra in own.metadata.get_all("Provides-Extra") or ():
        names = [_normal(need.name) for need in _needs(stated, extra)]
        if any(name == wanted or name.startswith(f"{wanted}-") for name in names):
            bringing.append((wanted not in names, len(names), extra))
    return min(bringing)[2] if bringing else None


def _python(own: Distribution) -> Finding:
    from packaging.specifiers import SpecifierSet

    found = platform.python_version()
    wanted = "".join(own.metadata.get_all("Requires-Python") or ())
    what = f"{found} ({platform.python_implementation()}, {platform.system()} {platform.machine()})"
    if SpecifierSet(wanted).contains(found, prereleases=True):
        return Finding(PACKAGES, "Python", Level.OK, what)
    return Finding(PACKAGES, "Python", Level.PROBLEM, f"{what}, and {wanted} is needed", f"use Python {wanted}")


def _required(need: Need) -> Finding:
    if need.satisfied:
        return Finding(PACKAGES, need.name, Level.OK, need.installed or "")
    return Finding(
        PACKAGES,
        need.name,
        Level.PROBLEM,
        str(need).removeprefix(f"{need.name} "),
        f"pip install '{need.name}{need.specifier}'",
    )


def _extra(extra: str, needs: Sequence[Need]) -> Finding:
    missing = [need for need in needs if not need.satisfied]
    if not missing:
        return Finding(EXTRAS, extra, Level.OK, ", ".join(map(str, needs)) or "nothing is needed for it here")
    message = "; ".join(map(str, missing))
    return Finding(EXTRAS, extra, Level.MISSING, message, f"pip install '{PACKAGE}[{extra}]'")


def _needs(stated: Iterable["Requirement"], extra: str) -> tuple[Need, ...]:
    """What an extra adds, of what this Python and system need; the empty name stands for what is always needed."""
    stated = list(stated)
    found: dict[str, Need] = {}
    pending, seen = [extra], {extra}
    while pending:
        name = pending.pop(0)
        for requirement in stated:
            if not _belongs(requirement, name):
                continue
            if _normal(requirement.name) == PACKAGE:
                pending += sorted(requirement.extras - seen)
                seen |= requirement.extras
            else:
                found.setdefault(requirement.name, _need(requirement))
    return tuple(found.values())


def _belongs(requirement: "Requirement", extra: str) -> bool:
    marker = requirement.marker
    always = marker is None or marker.evaluate({"extra": ""})
    if not extra:
        return always
    return not always and marker is not None and marker.evaluate({"extra": extra})


def _need(requirement: "Requirement") -> Need:
    from packaging.version import InvalidVersion

    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return Need(requirement.name, str(requirement.specifier), None, satisfied=False)
    try:
        satisfied = requirement.specifier.contains(installed, prereleases=True)
    except (InvalidVersion, TypeError):
        satisfied = False
    return Need(requirement.name, str(requirement.specifier), installed or "of no known version", satisfied)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _place() -> str:
    from pathlib import Path

    return str(Path(__file__).parents[2])


def look_at_extensions() -> Iterator[Finding]:
    """Yields a finding for what is built in, for each entry point, and where a name is there twice."""
    guests = find_guests()
    for name, spec in guests.taken.items():
        yield Finding(EXTENSIONS, f"commands {name}", Level.OK, spec.module)
    for name, why in guests.refused.items():
        message, _, fix = why.rpartition("; ")
        yield Finding(EXTENSIONS, f"commands {name}", Level.PROBLEM, message, fix)
    from skillweave.embedders import EMBEDDERS
    from skillweave.select.selection import EXTENSIONS as MATCHERS
    from skillweave.sources.named import PACKS, SOURCES
    from skillweave.stores import LEDGERS

    built_in = {PREFIX + kind.group: kind.built_in for kind in (EMBEDDERS, LEDGERS, MATCHERS, PACKS, SOURCES)}
    brought = {group for group in entry_points().groups if group.startswith(PREFIX) and group != COMMANDS}
    for group in sorted(brought | built_in.keys()):
        own = built_in.get(group, {})
        yield from (
            Finding(EXTENSIONS, f"{group.removeprefix(PREFIX)} {name}", Level.OK, of) for name, of in own.items()
        )
        seen: dict[str, str] = dict(own)
        for point in sorted(entry_points(group=group), key=lambda point: point.name):
            subject = f"{group.removeprefix(PREFIX)} {point.name}"
            other = seen.setdefault(point.name, point.value)
            if other != point.value:
                message = f"is brought twice, as {other} and as {point.value}"
                yield Finding(
                    EXTENSIONS, subject, Level.PROBLEM, message, "uninstall one of the packages that bring it"
                )
            else:
                yield _loaded(subject, point)


def _loaded(subject: str, point: EntryPoint) -> Finding:
    brought = point.dist.name if point.dist is not None else "an unknown package"
    try:
        point.load()
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if brought == PACKAGE and missing and missing.partition(".")[0] != PACKAGE:
            extra = extra_with(missing)
            fix = f"pip install '{PACKAGE}[{extra}]'" if extra else f"install the package that brings {missing}"
            return Finding(EXTENSIONS, subject, Level.MISSING, f"needs the module {missing}", fix)
        return _broken(subject, brought, error)
    except Exception as error:  # noqa: BLE001 - the code of a guest may raise anything, and is not to end the report
        return _broken(subject, brought, error)
    return Finding(EXTENSIONS, subject, Level.OK, f"{point.value}, of {brought}")


def _broken(subject: str, brought: str, error: Exception) -> Finding:
    message = f"cannot be loaded: {type(error).__name__}: {error}"
    return Finding(EXTENSIONS, subject, Level.PROBLEM, message, f"install {brought} again, or uninstall it")


def look_at_vocabularies() -> Iterator[Finding]:
    """Whether each vocabulary that is shipped can be loaded; none is ever fetched."""
    from skillweave.tokens.counter import DEFAULT_ENCODING, Tiktoken
    from skillweave.tokens.ranks import VOCABULARIES

    for encoding in VOCABULARIES:
        used = ", the default" if encoding == DEFAULT_ENCODING else ""
        try:
            Tiktoken(encoding).warm_up()
        except Exception as error:  # noqa: BLE001 - whatever a broken installation raises is the finding
            yield Finding(ENGINE, encoding, Level.PROBLEM, f"cannot be loaded: {error}", _AGAIN)
        else:
            yield Finding(ENGINE, encoding, Level.OK, f"counts tokens exactly, and offline{used}")


async def look_at_a_turn() -> AsyncIterator[Finding]:
    """Whether a skill is selected and rendered; needs every package that selection and rendering need."""
    try:
        import skillweave

        injection = await skillweave.open(_SKILL).weave("Is all well?", conversation="doctor")
    except Exception as error:  # noqa: BLE001 - whatever a broken installation raises is the finding
        yield Finding(ENGINE, "a turn", Level.PROBLEM, f"fails: {type(error).__name__}: {error}", _AGAIN)
        return
    if injection.skills == ("doctor",):
        yield Finding(ENGINE, "a turn", Level.OK, "selects a skill and renders it")
    else:
        yield Finding(ENGINE, "a turn", Level.PROBLEM, "does not select the skill that it must", _AGAIN)
