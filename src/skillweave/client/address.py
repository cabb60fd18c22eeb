"""Where a service is and with which key it is called: checked before anything is sent."""

import warnings
from ipaddress import ip_address
from urllib.parse import urlsplit

from skillweave.errors import InvalidValue
from skillweave.redaction import without_secrets


class KeyInTheOpen(UserWarning):
    """A key goes over a network without encryption: whoever stands between can read it."""


def require_address(url: str, key: str | None) -> str:
    """The address without a slash at its end; raises InvalidValue for what is none, or has a user or a query in it.

    Warns with KeyInTheOpen of a key that would travel unencrypted beyond this machine.
    """
    shown = without_secrets(str(url))[:100]
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # the port is read here, so that a wrong one is found now
    except (ValueError, AttributeError):
        raise InvalidValue(f"Client(url={shown!r}) is no address; give one like http://127.0.0.1:8321") from None
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidValue(f"Client(url={shown!r}) is no address; give one like http://127.0.0.1:8321")
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidValue(
            f"Client(url={shown!r}) has more than an address; leave out user, `?` and `#`, and give the key as key="
        )
    if key is not None and parts.scheme == "http" and not is_loopback(host):
        warnings.warn(
            f"the API key goes to {host} without encryption; use https, or a network that nobody else reads",
            KeyInTheOpen,
            stacklevel=4,
        )
    return url.rstrip("/")


def require_key(key: str) -> str:
    """The key, if it can stand in a header; raises InvalidValue, which does not show it."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidValue("Client(key=...) is no API key; give it as `skillweave keys new` printed it, in one line")
    return key


def is_loopback(host: str) -> bool:
    """Whether what is sent there stays on this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
