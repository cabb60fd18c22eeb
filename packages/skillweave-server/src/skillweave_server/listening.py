"""Where the service listens: sockets that are bound before all else, and whether only this machine reaches them."""

import errno
import os
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from ipaddress import ip_address

from skillweave import SkillweaveError

MOST_PORT = 65_535
BACKLOG = 2048
"""Clients that wait to be let in, at most."""
_ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""One of a host's addresses may be of a kind that this machine does not have."""


class CannotListen(SkillweaveError):
    """A host or a port on which this process cannot listen."""


def bound_sockets(host: str, port: int) -> list[socket.socket]:
    """Sockets at every address of the host, which do not listen yet; with port 0 the system chooses one for all.

    Raises CannotListen.
    """
    if not 0 <= port <= MOST_PORT:
        raise CannotListen(f"{port} is no port; give a number from 1 to {MOST_PORT:,}, or 0 for any that is free")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise CannotListen(f"the host {host[:100]!r} is not known ({why}); give a name or an address") from None
    sockets: list[socket.socket] = []
    absent: OSError | None = None
    with ExitStack() as opened:
        for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
            # With port 0 the first address decides for the others.
            chosen = sockets[0].getsockname()[1] if sockets else port
            try:
                one = opened.enter_context(socket.socket(family, socket.SOCK_STREAM))
                _bind(one, family, (address[0], chosen, *address[2:]))
            except OSError as error:
                if error.errno not in _ABSENT:
                    raise _refused(error, host, chosen) from None
                absent = error
            else:
                sockets.append(one)
        if absent is not None and not sockets:
            raise _refused(absent, host, port)
        opened.pop_all()
    return sockets


def start_listening(sockets: Sequence[socket.socket]) -> None:
    """Let clients come, who wait until they are served; raises CannotListen where another process was faster."""
    for one in sockets:
        try:
            one.listen(BACKLOG)
        except OSError as error:
            host, port = one.getsockname()[:2]
            raise _refused(error, host, port) from None


def addresses_of(sockets: Sequence[socket.socket]) -> list[str]:
    """The addresses as the beginnings of URLs."""
    places = [one.getsockname()[:2] for one in sockets]
    return [f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}" for host, port in places]


def only_this_machine(sockets: Sequence[socket.socket]) -> bool:
    """Whether nobody elsewhere reaches them, by the addresses that they have, whatever name was given."""
    return all(ip_address(one.getsockname()[0].partition("%")[0]).is_loopback for one in sockets)


def _bind(one: socket.socket, family: int, address: tuple[object, ...]) -> None:
    if os.name == "posix":
        # A port that an earlier process has just left may be taken at once.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    one.bind(address)


def _refused(error: OSError, host: str, port: int) -> CannotListen:
    if error.errno == errno.EADDRINUSE:
        return CannotListen(f"port {port} of {host} is in use; end what listens there, or name another with --port")
    if error.errno == errno.EACCES:
        return CannotListen(f"port {port} of {host} is not open to this user; name one from 1024 on with --port")
    why = error.strerror or str(error)
    return CannotListen(f"this machine cannot listen at {host} port {port} ({why}); name another with --host or --port")
