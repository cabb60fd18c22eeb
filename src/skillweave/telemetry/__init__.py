"""Observers for the telemetry systems of hosts, each behind an extra of its own."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.telemetry.opentelemetry import OpenTelemetry

__all__ = ["OpenTelemetry"]


def __getattr__(name: str) -> object:
    """Load an observer at its first use: each needs a package that is not installed everywhere."""
    if name not in __all__:
        raise AttributeError(f"module 'skillweave.telemetry' has no attribute {name!r}; it has {', '.join(__all__)}")
    from skillweave.telemetry.opentelemetry import OpenTelemetry

    return OpenTelemetry
