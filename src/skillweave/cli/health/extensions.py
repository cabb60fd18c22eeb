"""The entry points that extend skillweave, built-in ones and guests: which there are, and whether each loads."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points

from skillweave.cli.health.finding import Finding, Level
from skillweave.cli.health.packages import PACKAGE, extra_with

EXTENSIONS = "extensions"
PREFIX = f"{PACKAGE}."


def look_at_extensions() -> Iterator[Finding]:
    """A finding for each entry point in a group of ours, and one where a name is there twice."""
    groups = sorted(group for group in entry_points().groups if group.startswith(PREFIX))
    for group in groups:
        seen: dict[str, str] = {}
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
