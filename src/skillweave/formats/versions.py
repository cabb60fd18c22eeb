"""Which of two versions is the newer (spec 1.1)."""

from enum import StrEnum
from typing import Any


class Order(StrEnum):
    """How one version stands to another; `unordered` where no rule reads both."""

    OLDER = "older"
    SAME = "same"
    NEWER = "newer"
    UNORDERED = "unordered"


def compare_versions(version: str, other: str) -> Order:
    """How the first stands to the second: by semantic-version rules where both parse, by `packaging` else."""
    if version == other:
        return Order.SAME
    for parse in (_semantic, _python):
        mine, theirs = parse(version), parse(other)
        if mine is not None and theirs is not None:
            return _order(mine, theirs)
    return Order.UNORDERED


def _order(mine: Any, theirs: Any) -> Order:  # noqa: ANN401 - two values of one parser, which orders them
    if mine == theirs:
        return Order.SAME
    return Order.NEWER if mine > theirs else Order.OLDER


def _semantic(text: str) -> object | None:
    from semver import Version

    try:
        return Version.parse(text)
    except ValueError:
        return None


def _python(text: str) -> object | None:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text)
    except (InvalidVersion, ValueError):
        return None
