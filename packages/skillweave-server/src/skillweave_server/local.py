"""A service that is open to everybody on its machine is not open to the pages that a browser there shows."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import Request

from skillweave_server.problems import Refused


def require_local(request: Request) -> None:
    """Raise Refused for a request that a page of another site may have made a browser send.

    Such a page can have its own name stand for this machine, and is then let in by the browser: what gives it away is
    the name, in `Host`, or in `Origin` where it asks without that.
    """
    names = [f"//{one}" for one in request.headers.getlist("host")] + request.headers.getlist("origin")
    if not all(map(_is_local, names)):
        detail = (
            "this service is open to everybody on its machine, and so answers only as localhost and to no pages of "
            "other sites; make a key with `skillweave keys new` and start it with keys to reach it from elsewhere"
        )
        raise Refused(403, "not-local", detail)


def _is_local(address: str) -> bool:
    """Whether its name can only be one of this machine or its network: nobody elsewhere has one without a dot."""
    try:
        # A page that has no origin of its own says `null`, which names no host.
        name = urlsplit(address).hostname or "nowhere.invalid"
    except ValueError:
        return False
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return "." not in name or name.endswith(".localhost")
