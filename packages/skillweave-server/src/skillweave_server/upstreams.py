"""The providers that the gateway may call: only these, only the paths of their forms, and never with a key of ours."""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from skillweave.errors import InvalidValue
from skillweave_server.problems import Refused

MOST_BODY_BYTES = 32 * 1024 * 1024
"""Bytes that the body of a request may have, as it comes and unpacked."""
FORMS = frozenset({"chat/completions", "responses", "messages", "messages/count_tokens"})
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]*")
_HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "upgrade"),
        *("transfer-encoding", "content-length", "content-encoding", "host", "accept-encoding", "cookie"),
    }
)
_OF_OURS = "x-skillweave-"
_OF_PROXIES = ("x-forwarded-", "x-real-ip", "forwarded", "via")
CREDENTIALS = ("authorization", "x-api-key", "api-key")
"""The headers in which a client proves who it is."""
KEY_BEGINS = "sw_"


@dataclass(frozen=True, slots=True)
class Provider:
    """An upstream: where it is, and the key that the server holds for it, None where clients bring their own.

    `others` are paths beside those of the forms that pass, such as `embeddings`.
    """

    name: str
    url: str
    key: str | None = field(default=None, repr=False)
    others: frozenset[str] = frozenset({"models"})

    def target(self, method: str, path: str) -> str:
        """The address of a path; raises Refused for one that is not served."""
        parts = path.split("/")
        if not all(_SEGMENT.fullmatch(one) for one in parts):
            raise _no_path(self.name, path)
        versioned = parts[0] == "v1"
        rest = "/".join(parts[1:] if versioned else parts)
        looked_up = rest in self.others or (rest.split("/")[0] == "models" and "models" in self.others)
        if not ((method == "POST" and (rest in FORMS or looked_up)) or (method == "GET" and looked_up)):
            raise _no_path(self.name, path)
        stem = self.url if self.url.endswith("/v1") or not versioned else f"{self.url}/v1"
        return f"{stem}/{rest}"

    def headers(self, sent: Sequence[tuple[str, str]], *, anthropic: bool) -> list[tuple[str, str]]:
        """The headers that go upstream: the client's, without what is ours, or of one connection alone."""
        kept = [(name, value) for name, value in sent if _goes_on(name.lower(), value)]
        if self.key is not None:
            kept = [(name, value) for name, value in kept if name.lower() not in CREDENTIALS]
            kept.append(("x-api-key", self.key) if anthropic else ("authorization", f"Bearer {self.key}"))
        return [*kept, ("accept-encoding", "gzip")]


def providers_of(
    named: Sequence[str], keys: Sequence[str], environ: Mapping[str, str], others: Sequence[str] = ()
) -> Mapping[str, Provider]:
    """The upstreams that `NAME=URL` and `NAME=VARIABLE` say; a URL alone is called `default`. Raises InvalidValue."""
    held = dict(_pair(one, "--upstream-key", "NAME=VARIABLE") for one in keys)
    found: dict[str, Provider] = {}
    for one in named:
        name, url = (
            ("default", one) if one.startswith(("http://", "https://")) else _pair(one, "--upstream", "NAME=URL")
        )
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise InvalidValue(f"--upstream {name}: {url[:100]!r} is no address; give https://HOST, without a user")
        variable = held.pop(name, None)
        key = None if variable is None else environ.get(variable)
        if variable is not None and not key:
            raise InvalidValue(f"--upstream-key {name}={variable}: there is no variable {variable}; set it to the key")
        if name in found:
            raise InvalidValue(f"--upstream {name} is there twice; give each a name of its own")
        found[name] = Provider(name, url.rstrip("/"), key, frozenset({"models", *(o.strip("/") for o in others)}))
    if held:
        raise InvalidValue(f"--upstream-key {next(iter(held))}: there is no such upstream; add --upstream NAME=URL")
    return found


def unpacked(body: bytes, coding: str, most: int = MOST_BODY_BYTES) -> bytes:
    """The body as JSON has it; raises Refused for a coding that is not known, and for what is too large unpacked."""
    for one in reversed([part.strip().lower() for part in coding.split(",") if part.strip()]):
        if one == "identity":
            continue
        try:
            body = _UNPACK[one](body, most)
        except KeyError:
            known = ", ".join(_UNPACK)
            raise Refused(415, "packed", f"bodies packed as {one[:40]!r} are not read; send {known}") from None
        except Refused:
            raise
        except Exception as error:  # noqa: BLE001 - each of the libraries has an exception of its own
            raise Refused(400, "packed", f"the body is not packed as {one}: {error}"[:300]) from None
        if len(body) > most:
            raise too_large(most)
    return body


def too_large(most: int) -> Refused:
    """The refusal of a body that is too large."""
    return Refused(413, "body-too-large", f"the body has more than {most:,} bytes", {"Connection": "close"})


def _gunzip(body: bytes, most: int) -> bytes:
    return zlib.decompressobj(wbits=47).decompress(body, most + 1)


def _unbrotli(body: bytes, most: int) -> bytes:
    import brotli

    reader, found = brotli.Decompressor(), b""
    for at in range(0, len(body), 1024):  # a thousand bytes of brotli may hold many millions
        found += reader.process(body[at : at + 1024], output_buffer_limit=most + 1 - len(found))
        if len(found) > most:
            raise too_large(most)
    if not reader.is_finished():
        raise ValueError("it breaks off, or is too large")
    return found


def _unzstd(body: bytes, most: int) -> bytes:
    import zstandard

    with zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(body) as reader:
        return reader.read(most + 1)


_UNPACK = {"gzip": _gunzip, "deflate": _gunzip, "br": _unbrotli, "zstd": _unzstd}


def _goes_on(name: str, value: str) -> bool:
    ours = name.startswith(_OF_OURS) or value.removeprefix("Bearer ").removeprefix("bearer ").startswith(KEY_BEGINS)
    return not (ours or name in _HOP_BY_HOP or name.startswith(_OF_PROXIES))


def given_back(headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers of an upstream's answer that go to the client."""
    return [(name, value) for name, value in headers if name.lower() not in _HOP_BY_HOP]


def _pair(given: str, option: str, form: str) -> tuple[str, str]:
    name, separator, value = given.partition("=")
    if not separator or not value or not _NAME.fullmatch(name):
        raise InvalidValue(f"{option} is {given[:60]!r}; give {form}, the name in small letters, digits, - and _")
    return name, value


def _no_path(name: str, path: str) -> Refused:
    known = ", ".join(sorted(FORMS))
    return Refused(404, "no-such-path", f"the gateway to {name} has no {path[:100]!r}; it has {known}, and models")
