"""One address or path in random spellings, against a judge of its own: urllib, ipaddress, pathlib (spec 4.3)."""

import ipaddress
import posixpath
from collections.abc import Callable
from pathlib import PurePosixPath
from urllib.parse import quote, unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Ruling, ToolPolicy
from skillweave.compose.matching import Reading, permits, prohibits
from skillweave.relations.rules import read_entry
from tests.depth import tried

HOSTS = st.sampled_from(
    ["internal.example", "docs.example", "docs.example.evil.com", "evil.com", "127.0.0.1", "10.0.0.7"]
)
SCHEMES = st.sampled_from(["http", "https"])
FOLDERS = st.sampled_from(["etc", "srv", "docs", "a", "etcetera"])
PATHS = st.lists(FOLDERS, max_size=4).map(tuple)
WIDE = {letter: chr(ord(letter) + 0xFEE0) for letter in "abcdefghijklmnopqrstuvwxyz0123456789"} | {".": "。"}
PORTS = {"http": 80, "https": 443}


@st.composite
def _host(draw: st.DrawFn, host: str) -> str:
    """The host in one of the spellings that a browser makes one."""
    if host[0].isdigit() and draw(st.booleans()):
        number = ipaddress.IPv4Address(host)
        first, *rest = map(int, host.split("."))
        ways = [str(int(number)), hex(int(number)), f"0{int(number):o}", f"[::ffff:{host}]"]
        return draw(
            st.sampled_from([*ways, f"{first:#x}.{'.'.join(map(str, rest))}", f"{first}.{int(number) & 0xFFFFFF}"])
        )
    ways_of: list[Callable[[str], str]] = [str, str, str.upper, lambda letter: WIDE.get(letter, letter), _percent]
    spelt = st.sampled_from(ways_of)
    letters = "".join(draw(spelt)(letter) for letter in host)
    return letters + draw(st.sampled_from(["", "."]))


def _percent(letter: str) -> str:
    return f"%{ord(letter):02x}"


@st.composite
def _path(draw: st.DrawFn, parts: tuple[str, ...]) -> str:
    """The absolute path in one of many spellings."""
    shown = ""
    for part in parts:
        shown += draw(st.sampled_from(["/", "/", "//", "/./", "/x/../", "/x/%2e%2e/", "/x/y/../../"]))
        shown += "".join(_percent(letter) if draw(st.integers(0, 3)) == 0 else letter for letter in part)
    return shown or "/"


@st.composite
def addresses(draw: st.DrawFn, scheme: str, host: str, parts: tuple[str, ...]) -> str:
    """The address in a random spelling."""
    port = draw(st.sampled_from(["", f":{PORTS[scheme]}", f":0{PORTS[scheme]}"]))
    user = draw(st.sampled_from(["", "u@", "u:p@", "docs.example@", "internal.example:443@"]))
    begin = "".join(draw(st.sampled_from([str.lower, str.upper]))(letter) for letter in scheme)
    end = draw(st.sampled_from(["", "?x=1", "#x", "?x=https://docs.example/"]))
    return f"{begin}://{user}{draw(_host(host))}{port}{draw(_path(parts))}{end}"


@st.composite
def paths(draw: st.DrawFn, parts: tuple[str, ...]) -> str:
    """The path in a random spelling, as a path or as a `file:` address."""
    begin = draw(st.sampled_from(["", "", "", "file://", "file:", "FILE://localhost"]))
    path = draw(_path(parts))
    return ("file://" if begin == "file:" and path.startswith("//") else begin) + path


def judged_path(text: str) -> PurePosixPath:
    """Where a path leads, by pathlib and posixpath."""
    plain = urlsplit(text).path if text[:5].lower() == "file:" else text
    return PurePosixPath("/" + posixpath.normpath(unquote(plain)).lstrip("/"))


def judged_address(text: str) -> tuple[str, str, int, PurePosixPath]:
    """Scheme, host, port and path by urllib and ipaddress."""
    parts = urlsplit(text)
    authority = parts.netloc.rpartition("@")[2]
    host, colon, port = authority.rpartition(":")
    if not colon or not port.isdigit():
        host, port = authority, ""
    plain = unquote(host)
    narrow = str.maketrans({wide: letter for letter, wide in WIDE.items()})
    return (
        parts.scheme.lower(),
        _ip(plain.translate(narrow).lower().removesuffix(".")),
        int(port or PORTS[parts.scheme.lower()]),
        judged_path(parts.path or "/"),
    )


def _ip(host: str) -> str:
    if host.startswith("["):
        mapped = ipaddress.IPv6Address(host.strip("[]")).ipv4_mapped
        return str(mapped or host)
    numbers = host.split(".")
    try:
        read = [int(one, 8 if one[:1] == "0" and one[1:].isdigit() else 0) for one in numbers]
    except ValueError:
        return host
    value = sum(number << 8 * (3 - place) for place, number in enumerate(read[:-1])) + read[-1]
    return str(ipaddress.IPv4Address(value))


def _ruling(text: str, parameter: str, **lists: tuple[str, ...]) -> Ruling:
    return ToolPolicy(**lists).authorize("t", {parameter: text}, parameters=(parameter,)).ruling  # type: ignore[arg-type]


@tried(200)
@given(st.data(), SCHEMES, HOSTS, PATHS, SCHEMES, HOSTS, PATHS)
def test_an_address_is_judged_by_where_it_leads(
    data: st.DataObject,
    scheme: str,
    host: str,
    parts: tuple[str, ...],
    named: str,
    wanted: str,
    folder: tuple[str, ...],
) -> None:
    text = data.draw(addresses(scheme, host, parts))
    judged = judged_address(text)
    assert judged == (scheme, host, PORTS[scheme], PurePosixPath("/", *parts))
    path = PurePosixPath("/", *folder)
    inside = judged[:2] == (named, wanted) and judged[3].is_relative_to(path)
    entry = f"t(url={named}://{wanted}{str(path).rstrip('/')}/*)"
    assert (_ruling(text, "url", forbidden_tools=(entry,)) is Ruling.DENY) == inside, (entry, text)
    allowed = _ruling(text, "url", allowed_tools=(entry,)) is Ruling.ALLOW
    assert allowed == (inside and (judged[3] != path or path == PurePosixPath("/"))), (entry, text)
    assert _ruling(text, "url", allowed_tools=(entry,), forbidden_tools=(entry,)) is Ruling.DENY


@tried(200)
@given(st.data(), PATHS, st.lists(FOLDERS, min_size=1, max_size=3).map(tuple))
def test_a_path_is_judged_by_where_it_leads(
    data: st.DataObject, parts: tuple[str, ...], folder: tuple[str, ...]
) -> None:
    text = data.draw(paths(parts))
    assert judged_path(text) == PurePosixPath("/", *parts)
    path = PurePosixPath("/", *folder)
    inside = judged_path(text).is_relative_to(path)
    entry = f"t(path={path}/*)"
    denied = _ruling(text, "path", forbidden_tools=(entry,)) is Ruling.DENY
    assert denied or not inside, (entry, text)
    # Its letters are forbidden too, and a percent sign may stand for itself.
    assert not denied or inside or text.startswith(f"{path}/") or "%" in text, (entry, text)
    if _ruling(text, "path", allowed_tools=(entry,)) is Ruling.ALLOW:
        assert inside
        assert judged_path(text) != path
    elif inside and judged_path(text) != path:
        assert "%" in text, (entry, text)


@tried(100)
@given(st.data(), HOSTS, PATHS, st.sampled_from(["\\", "\u200b", "\n", "\t", "%00", "%2500", "ß", "*"]))
def test_what_no_program_reads_alike_meets_every_forbid_and_no_allow(
    data: st.DataObject, host: str, parts: tuple[str, ...], odd: str
) -> None:
    text = data.draw(addresses("https", host, ()))
    authority = text.index("//") + 2
    at = data.draw(st.integers(authority, authority + 3))
    text = f"{text[:at]}{odd}{text[at:]}" if odd[0] != "%" else f"https://{host}/{odd}/{'/'.join(parts)}"
    entry = f"t(url=https://{host}/*)" if odd[0] != "%" else f"t(url=https://{host}/a/*)"
    allowed = _ruling(text, "url", allowed_tools=(entry,))
    # A star or a `*` in the user's name says nothing of the host.
    if odd != "*" or "@" not in text:
        assert allowed is Ruling.DENY, (entry, text)
        assert _ruling(text, "url", forbidden_tools=(entry,)) is Ruling.DENY, (entry, text)


@tried(200)
@given(
    st.text(alphabet="htps:/@.\\%2eE~[]*?#;ß。ａdocsexampl1270x \u200b\n", max_size=40),
    st.sampled_from(["https://docs.example/*", "docs/*", "/etc/*", "~/x/*", "file:///etc/*", "a:*", "*"]),
    st.sampled_from(Reading),
)
def test_no_text_is_both_surely_inside_and_surely_outside(text: str, argument: str, reading: Reading) -> None:
    entry = read_entry(f"t({argument})")
    if permits(entry, "t", text, reading):
        assert prohibits(entry, "t", text, reading), (argument, text)


@tried(66)
@given(st.text(max_size=60), st.text(max_size=20), st.sampled_from(Reading))
def test_any_text_and_any_entry_are_judged(text: str, argument: str, reading: Reading) -> None:
    entry = read_entry(f"t({argument})")
    assert isinstance(permits(entry, "t", quote(text, safe="/:@"), reading), bool)
    assert isinstance(prohibits(entry, "t", text, reading), bool)
