"""What an adapter demands of its host: a version that it was tested with, and no agent or tool past its guard."""

from collections.abc import Iterable
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

from skillweave.errors import MissingExtra, UnsupportedVersion


class Unguarded(StrEnum):
    """What to do with an agent or a tool that no rule can hold back: `refuse` it, or `allow` it."""

    REFUSE = "refuse"
    ALLOW = "allow"


def require_version(package: str, extra: str) -> None:
    """Raise UnsupportedVersion for an installed release outside the range that the extra of skillweave names.

    Raises MissingExtra where the package is not installed. A version that is none by the standard (PEP 440) is refused.
    """
    try:
        found, declared = version(package), requires("skillweave")
    except PackageNotFoundError as missing:
        raise MissingExtra(f"the adapter for {package}", missing.name, extra) from None
    wanted = _range(package, extra, declared or ())
    try:
        fits = Version(found) in wanted.specifier if wanted else True
    except InvalidVersion:
        fits = False
    if wanted is not None and not fits:
        raise UnsupportedVersion(package, found, str(wanted.specifier))


def _range(package: str, extra: str, declared: Iterable[str]) -> Requirement | None:
    # The installed metadata says the range, so that it is written down once, in pyproject.toml.
    named = (one for one in map(Requirement, declared) if one.name == package and one.marker is not None)
    return next((one for one in named if one.marker is not None and one.marker.evaluate({"extra": extra})), None)
