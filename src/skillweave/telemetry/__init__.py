"""Observers for the telemetry systems of hosts, each behind an extra of its own and loaded at its first use."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.telemetry.opentelemetry import OpenTelemetry

__all__ = [
    "OpenTelemetry",
]

__getattr__ = door(
    __name__,
    """
opentelemetry: OpenTelemetry attributes_of
""",
)
