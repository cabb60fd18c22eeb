"""What whoever runs the service decides: how large, how slow and how many requests may be."""

from dataclasses import dataclass
from ipaddress import ip_network

from skillweave.values import Checked


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """The limits of the service. Raises InvalidValue.

    `most_body_bytes` are the bytes that the body of a request may have: long transcripts are sent whole. `body_seconds`
    are the seconds in which it must have come. `requests_per_minute` is for each API key, None for no limit; a service
    that is open to everybody has none. `refusals_per_minute` is how often a client address may come with a key's id
    and no key that opens, before it is told to wait. `trusted_proxies` are addresses and networks of proxies: of nobody
    else does an `X-Forwarded-For` count. `key_seconds` are the seconds for which a key is remembered: so long a
    revoked one may go on. Of the requests of one tenant `requests_at_once` may be under way, of which a sixteenth works
    at a time; a service that is open to everybody has no such limit. A stream of events that is silent says every
    `heartbeat_seconds` that it lives; a reader who takes nothing of it for `reader_seconds` is dropped. After
    `stream_seconds` a stream ends and its reader comes again, so that a key which no longer opens is noticed.
    """

    most_body_bytes: int = 8 * 1024 * 1024
    body_seconds: float = 30.0
    requests_per_minute: int | None = 6_000
    refusals_per_minute: int = 60
    trusted_proxies: tuple[str, ...] = ()
    key_seconds: float = 30.0
    requests_at_once: int = 256
    heartbeat_seconds: float = 15.0
    reader_seconds: float = 30.0
    stream_seconds: float = 900.0

    def __post_init__(self) -> None:
        checked = Checked("ServiceOptions")
        checked.whole("most_body_bytes", self.most_body_bytes, 1)
        if self.requests_per_minute is not None:
            checked.whole("requests_per_minute", self.requests_per_minute, 1)
        checked.whole("refusals_per_minute", self.refusals_per_minute, 1)
        checked.whole("requests_at_once", self.requests_at_once, 1)
        for one in self.trusted_proxies:
            try:
                ip_network(one)
            except ValueError:
                checked.refuse("trusted_proxies", one, "the address or network of a proxy: 10.0.0.5 or 10.0.0.0/8, say")
        checked.number("key_seconds", self.key_seconds, 0, 3600)
        checked.number("stream_seconds", self.stream_seconds, 0.001, 24 * 3600.0)
        for name in ("body_seconds", "heartbeat_seconds", "reader_seconds"):
            checked.number(name, getattr(self, name), 0.001, 3600)
