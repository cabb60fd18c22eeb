"""The Python client of the service: the same verbs and values as a Weaver, over HTTP; needs the extra `client`."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.client.client import Client, SyncClient
    from skillweave.client.failures import ServiceError, ServiceUnreachable
    from skillweave.client.sending import Retries

__all__ = ["Client", "Retries", "ServiceError", "ServiceUnreachable", "SyncClient"]

__getattr__ = door(
    __name__,
    """
client: Client SyncClient
failures: ServiceError ServiceUnreachable
sending: Retries
""",
)


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
