"""Addresses and paths, compared by where they lead and not by how they are spelt (spec 4.3).

Programs read one path in several ways: some decode percent signs, some take a backslash for a slash. An allow must hold
for every reading, a forbid for any. Nothing is looked up: no name, no link, no mount.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize
from urllib.parse import unquote

if TYPE_CHECKING:
    from ada_url import URL

LONGEST_PLACE = 10_000
"""Characters of an address or a path that is read; nobody can tell where a longer one leads."""
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]+):")
"""Two letters at least: `C:` is a drive."""
_WEB = frozenset(("http", "https", "ws", "wss", "ftp"))
_PATH = re.compile(r"[/\\~]|\.{1,2}[/\\]|[A-Za-z]:[/\\]")
_UNSURE = re.compile(r"%(?:[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|\ufffd")
"""What is left of a text that was encoded twice, or in no known way."""
_AUTHORITY = re.compile(r"[^:]*:[/\\]*[^/?#]*")
_READ_DIFFERENTLY = frozenset("\\ßẞς")
"""Browsers and other programs make different hosts of these."""
_CARRYING_IPV4 = tuple(map(ip_network, ("::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16")))
_ANYWHERE = re.compile(r"(?:^|/)(?:proc/[^/]+/(?:task/[^/]+/)?(?:root|cwd|fd|exe)|dev/(?:fd|stdin)|\.vol)(?:/|$)")
"""Names that a system itself makes links of."""
_GLOB = re.compile(r"[*?\[]")


class _Place(NamedTuple):
    """`anchor` is `/`, `~`, empty for a relative path, or a scheme; `parts` are None where servers read them apart."""

    anchor: str
    parts: tuple[str, ...] | None
    folder: bool
    up: int = 0
    host: str = ""
    port: str = ""
    ending: str = ""


def scheme_of(text: str) -> str:
    """The scheme that the text begins with, empty for none."""
    found = _SCHEME.match(text)
    return found[1].lower() if found else ""


def is_address(stem: str) -> bool:
    """Whether what an entry says is an address."""
    scheme = scheme_of(stem)
    return scheme in _WEB or (scheme not in ("", "file") and "://" in stem)


def is_place(stem: str) -> bool:
    """Whether what an entry says is an address, or a path whatever the parameter."""
    return is_address(stem) or scheme_of(stem) == "file" or bool(_PATH.match(stem))


def permits_place(stem: str, text: str, *, whole: bool) -> bool:
    """Whether the text surely lies where an allowing entry says; `whole`: is what it says."""
    base, found = _base(stem), _paths(text) if scheme_of(text) in ("", "file") else [_address(text)]
    if base is None or not found:
        return False
    return all(one is not None and not one.up and (not stem or _is_inside(base, one, whole=whole)) for one in found)


def prohibits_place(stem: str, text: str, *, whole: bool, strict: bool) -> bool:
    """Whether the text may lie where a forbidding entry says; it may be a wildcard or a word unless it is `strict`."""
    base, scheme = _base(stem), scheme_of(text)
    if base is None or is_address(stem):
        return base is None or (scheme != "file" and _may_be_under(base, text, whole=whole, strict=strict))
    found: Sequence[_Place | None] = _paths(text)
    if scheme in _WEB:
        one = _address(text)
        if one is None or one.parts is None:
            return True
        found = [one._replace(anchor="/", parts=one.parts if base.anchor == "/" else (one.host, *one.parts))]
    elif strict and scheme not in ("", "file"):
        return True
    return not found or any(not one or one.up or _may_be_at(base, one, whole=whole, globs=not strict) for one in found)


def _may_be_under(base: _Place, text: str, *, whole: bool, strict: bool) -> bool:
    # Programs that are given a host alone put a scheme before it.
    bare = not strict and not scheme_of(text) and not text.startswith(("//", "\\\\"))
    one = _address(f"{base.anchor}://{text}" if bare else text)
    if one is None:
        return strict or "//" in text or base.anchor in text.lower()
    if base.anchor != one.anchor or base.host not in ("", one.host) or base.port not in ("", one.port):
        return False
    return not base.parts or one.parts is None or _may_be_at(base, one, whole=whole, globs=False)


def any_word_at(stem: str, words: Iterable[str]) -> bool:
    """Whether a word of a command, or the value in an option, lies where a forbidding entry says."""
    values = (value for word in words for value in (word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""))
    return any(prohibits_place(stem, value, whole=False, strict=False) for value in values if value)


def _base(stem: str) -> _Place | None:
    if not is_address(stem):
        return _resolved(_local(stem).replace("\\", "/"))
    any_host = stem.rstrip("/").endswith(":")
    return _Place(scheme_of(stem), (), folder=True) if any_host else _address(stem)


@lru_cache(maxsize=512)
def _url(text: str) -> "URL | None":
    from ada_url import URL

    try:
        return URL(text) if len(text) <= LONGEST_PLACE else None
    except ValueError:
        return None


def _address(text: str) -> _Place | None:
    """What browsers make of the text; None where nobody can tell, or programs disagree on the host."""
    url, authority = _url(text), _AUTHORITY.match(text)
    if url is None or authority is None or not _READ_DIFFERENTLY.isdisjoint(authority[0]):
        return None
    scheme = url.protocol.removesuffix(":")
    named = url if scheme in _WEB else _url(f"https://{url.hostname}")
    host = None if named is None else _host(named.hostname)
    if host is None:
        return None
    path = _decoded(url.pathname)
    # Servers cut what follows a semicolon from a segment.
    plain = path and _resolved("/".join(part.partition(";")[0] for part in re.split(r"[/\\]", path)))
    return (plain or _Place("/", None, folder=False))._replace(
        anchor=scheme, host=host, port=url.port, ending=url.search
    )


def _decoded(text: str) -> str:
    """The text without percent signs; empty where a second program would decode it again, or it cannot be shown."""
    plain = unquote(text)
    return "" if len(text) > LONGEST_PLACE or not plain.isprintable() or _UNSURE.search(plain) else plain


def _host(name: str) -> str | None:
    name = name.removesuffix(".").lower()
    if not all(name.split(".")) or "*" in name:
        return None
    try:
        address = ip_address(name.strip("[]"))
    except ValueError:
        return name
    address = getattr(address, "ipv4_mapped", None) or address
    carries = not address.is_loopback and any(address in network for network in _CARRYING_IPV4)
    return None if carries or address.is_unspecified else str(address)


def _local(text: str) -> str:
    """The path that a `file:` address names, which stands in it encoded; a path as it is."""
    url = _url(text) if scheme_of(text) == "file" else None
    return text if url is None or url.hostname else url.pathname


def _paths(text: str) -> Sequence[_Place | None]:
    """The paths that programs may take the text for; none where nobody can tell."""
    path = _local(text.strip())
    decoded = _decoded(path)
    if (path and not decoded) or scheme_of(path) == "file":
        return ()
    plain = (path, decoded, normalize("NFKC", path), normalize("NFKC", decoded))
    return [_resolved(one) for one in dict.fromkeys((*plain, *(one.replace("\\", "/") for one in plain)))]


@lru_cache(maxsize=1024)
def _resolved(path: str) -> _Place | None:
    """The path without `.`, `..` and doubled slashes; None where it goes through what may lead anywhere."""
    path = path.removeprefix("//?/")
    anchor = "/" if path.startswith("/") or re.match(r"[A-Za-z]:", path) else "~" if path.startswith("~") else ""
    names = [name for name in path.split("/") if name not in ("", ".")]
    if anchor == "~" and names.pop(0) != "~":
        return None
    parts, up = names[:0], 0
    for name in names:
        if name == "..":
            up += not parts and anchor != "/"
            del parts[-1:]
        elif name[0] == "." and (name.rstrip() == ".." or _GLOB.search(name)):
            return None  # it may stand for `..`
        else:
            parts.append(name)
    if any(_ANYWHERE.search("/".join(walked).casefold()) for walked in (names, parts)):
        return None
    return _Place(anchor, tuple(parts), not path or path.endswith("/"), up)


def _is_inside(base: _Place, one: _Place, *, whole: bool) -> bool:
    if base.anchor != one.anchor or (base.host and (base.host, base.port) != (one.host, one.port)) or base.up:
        return False
    if base.parts is None or one.parts is None:
        return base.parts == () and not whole and not base.ending
    if whole or base.ending:
        same = (base.parts, base.folder) == (one.parts, one.folder)
        return same and (one.ending == base.ending if whole else one.ending.startswith(base.ending))
    least = len(base.parts) + (bool(base.parts) and base.folder and not one.folder)
    return len(one.parts) >= least and one.parts[: len(base.parts)] == base.parts


def _may_be_at(base: _Place, one: _Place, *, whole: bool, globs: bool) -> bool:
    """Whether a place is, or lies at, another, or may do so: the working folder is not known.

    It is taken to lie outside of what an absolute entry forbids. The last name of what is no folder may go on.
    """
    wanted, parts = (tuple(map(_as_compared, place.parts or ())) for place in (base, one))
    if not wanted:
        return one.anchor != "" if base.up else not whole or not parts

    def meets(name: str, found: str) -> bool:
        sign = _GLOB.search(found) if globs and name != found else None
        if sign is None or not name.startswith(found[: sign.start()]):
            return name == found
        return name.endswith(re.split(r"[*?\]]", found)[-1])

    def stands(names: Sequence[str], at: int) -> bool:
        found = parts[at : at + len(names)]
        if len(found) != len(names) or (whole and at + len(names) != len(parts)):
            return False
        goes_on = not base.folder and not whole and found[-1].startswith(names[-1])
        return all(map(meets, names[:-1], found)) and (goes_on or meets(names[-1], found[-1]))

    home = "~" in (base.anchor, one.anchor)
    rooted, absolute = bool(base.anchor), bool(one.anchor)
    if stands(wanted, 0) and (home or rooted == absolute):
        return True
    if (home or not rooted) and any(stands(wanted, at) for at in range(len(parts)) if home or absolute):
        return True
    # A relative path may go on where the working folder ends.
    return (home or (rooted and not absolute)) and any(stands(wanted[n:], 0) for n in range(1, len(wanted)))


def _as_compared(name: str) -> str:
    """The name as any system compares names: some look past letter case, what ends it, and what a colon begins."""
    return normalize("NFC", name.casefold()).partition(":")[0].rstrip(" .") or name
