"""The HTTP service: the same engine behind an API, for any number of tenants and replicas (spec 8)."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave_server.app import create_app, describe
    from skillweave_server.opening import Entry, open_service
    from skillweave_server.options import ServiceOptions
    from skillweave_server.service import Service

__all__ = ["Entry", "Service", "ServiceOptions", "create_app", "describe", "open_service"]

__getattr__ = door(
    __name__,
    """
app: create_app describe
opening: Entry open_service
options: ServiceOptions
service: Service
""",
)


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
