"""An address or a path is one, however it is spelt (spec 4.3)."""

from time import perf_counter

import pytest

from skillweave import Ruling, ToolPolicy

ONE_ADDRESS = [
    "https://internal.example/x",
    "https://u@internal.example/x",
    "https://u:p@internal.example/x",
    "https://docs.example@internal.example/x",
    "https://internal.example:443/x",
    "https://internal.example:8443/x",
    "https://internal.example./x",
    "https://internal.example.:443/x",
    "https://internal。example/x",
    "https://internal．example/x",
    "https://ｉnternal.example/x",
    "https://INTERNAL.Example",
    "HTTPS://internal.example",
    " https://internal.example/x",
    "https:internal.example",
    "https:/internal.example",
    "https:///internal.example/x",
    "https:\\\\internal.example\\x",
    "https://internal%2eexample/",
    "https://%69nternal.example/",
    "https://internal.example?x",
    "https://internal.example#x",
    "https://internal.example/%0a",
    "https://internal.example/%252e",
    "//internal.example/x",
    "internal.example/x",
    "view-source:https://internal.example/",
    "blob:https://internal.example/x",
    "https://internal.example..",
    "https://internal.example:99999/",
]
ONE_IP = [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1",
    "http://127.0.0.1.",
    "http://①②⑦.0.0.1/",
    "http://127。0。0。1",
    "http://１２７.0.0.1",
    "http://%31%32%37.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:FFFF:127.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://0/",
    "http://[::]/",
    "http://127.0.0.1%2f@127.0.0.1/",
]
ONE_PATH = [
    "/etc/passwd",
    "//etc//passwd",
    "/./etc/passwd",
    "/x/../etc/passwd",
    "/../etc/passwd",
    "/ETC/passwd",
    "/etc./passwd",
    "/etc/../etc/passwd",
    "\\etc\\passwd",
    "/x\\..\\etc/passwd",
    "/etc%2fpasswd",
    "/%65tc/passwd",
    "/x/%2e%2e/etc/passwd",
    "/x/%252e%252e/etc/passwd",
    "/x/%u002e%u002e/etc/passwd",
    "/x/%c0%ae%c0%ae/etc/passwd",
    "／etc／passwd",
    "/x/．．/etc/passwd",
    "/etc",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "file:/etc/passwd",
    "FILE:///etc/%70asswd",
    "file://elsewhere/etc/passwd",
    "jar:file:///etc/x!/",
    "/proc/self/root/etc/passwd",
    "/proc/1/root/etc/passwd",
    "/proc/self/task/1/root/etc/passwd",
    "/proc/thread-self/cwd/etc",
    "/host/proc/1/root/etc/passwd",
    "/dev/fd/3",
    "../x",
    "docs/../../x",
    "~root/x",
    "x" * 20_000,
]


def _ruling(
    text: str, parameter: str, *, forbidden: tuple[str, ...] = (), allowed: tuple[str, ...] | None = None
) -> Ruling:
    policy = ToolPolicy(forbidden_tools=forbidden, allowed_tools=allowed)
    return policy.authorize("t", {parameter: text}, parameters=(parameter,)).ruling


@pytest.mark.parametrize("text", ONE_ADDRESS)
@pytest.mark.parametrize("parameter", ["url", "path", "query", "command", "input"])
@pytest.mark.parametrize("entry", ["https://internal.example/*", "https://internal.example:*"])
def test_a_forbidden_address_is_known_in_every_spelling(text: str, parameter: str, entry: str) -> None:
    assert _ruling(text, parameter, forbidden=(f"t({entry})",)) is Ruling.DENY
    assert _ruling(text, parameter, forbidden=(f"t({parameter}={entry})",)) is Ruling.DENY


@pytest.mark.parametrize("text", ONE_IP)
@pytest.mark.parametrize("entry", ["http://127.0.0.1/*", "http://0x7f.1/*", "http://[::ffff:7f00:1]/*"])
def test_a_forbidden_ip_is_known_in_every_spelling(text: str, entry: str) -> None:
    assert _ruling(text, "url", forbidden=(f"t({entry})",)) is Ruling.DENY


@pytest.mark.parametrize("text", ONE_PATH)
@pytest.mark.parametrize("entry", ["/etc/*", "path=/etc/*", "file:///etc/*", "path=file:///etc/*"])
def test_a_forbidden_path_is_known_in_every_spelling(text: str, entry: str) -> None:
    assert _ruling(text, "path", forbidden=(f"t({entry})",)) is Ruling.DENY
    assert _ruling(text, "path", allowed=("t(path=/srv/*)",)) is Ruling.DENY


@pytest.mark.parametrize(
    ("entry", "parameter", "text"),
    [
        ("https://internal.example/*", "url", "https://other.example/internal.example"),
        ("https://internal.example/*", "url", "https://internal.example.evil.com/"),
        ("https://internal.example/*", "url", "https://notinternal.example/"),
        ("https://internal.example/*", "url", "http://internal.example/"),
        ("https://internal.example:8443/*", "url", "https://internal.example/"),
        ("https://internal.example/admin/*", "url", "https://internal.example/administration"),
        ("https://internal.example/*", "path", "docs/a.md"),
        ("https://internal.example/*", "path", "file:///x"),
        ("https://internal.example/*", "command", "git push origin HEAD:main"),
        ("http://127.0.0.1/*", "url", "http://[::1]/"),
        ("/etc/*", "path", "/srv/etc/passwd"),
        ("/etc/*", "path", "docs/etc.md"),
        ("/etc/*", "path", "/x/../srv/etc"),
        ("/etc/*", "path", "https://docs.example"),
        ("/etc/*", "path", ""),
        ("/etc/*", "path", "docs/R&D (old); 100%.md"),
        ("/etc/*", "path", "docs/文（二）….md"),
        ("secret/*", "path", "app/[id]/page.tsx"),
        ("/etc/*", "path", "/srv/proc/x/rooted"),
        ("DROP:*", "query", "author:bob select a::int"),
    ],
)
def test_another_place_is_not_forbidden(entry: str, parameter: str, text: str) -> None:
    assert _ruling(text, parameter, forbidden=(f"t({entry})",)) is Ruling.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        "https://docs.example",
        "https://docs.example/a",
        "https://u:p@docs.example:443/a?x=1&b=2",
        "https://DOCS.example./a#b",
    ],
)
@pytest.mark.parametrize(
    "entry", ["https://docs.example/*", "url=https://docs.example/*", "url=https://docs.example:*"]
)
def test_an_allowed_address_may_be_called(text: str, entry: str) -> None:
    assert _ruling(text, "url", allowed=(f"t({entry})",)) is Ruling.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        "https://docs.example.evil.com/",
        "https://docs.example@evil.com/",
        "https://docs.example\\@evil.com/",
        "https://evil.com\\@docs.example/",
        "https://docs.example%2f.evil.com",
        "https://evil.com/https://docs.example/",
        "https://evildocs.example/",
        "https://docs.example:8443/",
        "http://docs.example/",
        "view-source:https://docs.example/",
        "//docs.example/",
        "docs.example/",
        "https://docs.example/a\u200b",
        "https://docs.example*",
        "https://",
    ],
)
@pytest.mark.parametrize(
    "entry",
    ["https://docs.example/*", "url=https://docs.example/*", "url=https://docs.example:*", "https://docs.example*"],
)
def test_an_allowed_address_lets_no_other_through(text: str, entry: str) -> None:
    assert _ruling(text, "url", allowed=(f"t({entry})",)) is Ruling.DENY


@pytest.mark.parametrize(
    ("entry", "text", "ruling"),
    [
        ("https://a.example/docs/*", "https://a.example/docs/x", Ruling.ALLOW),
        ("https://a.example/docs/*", "https://a.example/docs/", Ruling.ALLOW),
        ("https://a.example/docs/*", "https://a.example/x/../docs/y", Ruling.ALLOW),
        ("https://a.example/docs:*", "https://a.example/docs/x", Ruling.ALLOW),
        ("https://a.example/docs:*", "https://a.example/docs2", Ruling.DENY),
        ("https://a.example/docs/*", "https://a.example/docs/../x", Ruling.DENY),
        ("https://a.example/docs/*", "https://a.example/docs/%2e%2e%2fx", Ruling.DENY),
        ("https://a.example/docs/*", "https://a.example/docs/..;/x", Ruling.DENY),
        ("https://a.example/docs/*", "https://a.example/docs/%252e%252e/x", Ruling.DENY),
        ("https://a.example/docs/*", "https://a.example/docs/a%00", Ruling.DENY),
        ("https://a.example/x?q=1", "https://a.example/x?q=1", Ruling.ALLOW),
        ("https://a.example/x?q=1", "https://a.example/x?q=1&r=2", Ruling.DENY),
        ("https://a.example/x?q=:*", "https://a.example/x?q=1", Ruling.ALLOW),
        ("https://a.example/x?q=:*", "https://a.example/x?r=1", Ruling.DENY),
        ("https://a.example/x", "https://a.example/x/", Ruling.DENY),
        ("https://*", "https://any.example/x", Ruling.ALLOW),
        ("https://*", "http://any.example/x", Ruling.DENY),
        ("*", "https://any.example/x", Ruling.ALLOW),
        ("ssh://git@a.example/*", "ssh://A.example./repo", Ruling.ALLOW),
        ("ssh://0x7f.1/*", "ssh://127.0.0.1/repo", Ruling.ALLOW),
        ("https://straße.example/*", "https://strasse.example/", Ruling.DENY),
        ("https://straße.example/*", "https://straße.example/", Ruling.DENY),
        ("https://xn--strae-oqa.example/*", "https://xn--strae-oqa.example/", Ruling.ALLOW),
    ],
)
def test_an_allowing_entry_covers_what_lies_under_its_path(entry: str, text: str, ruling: Ruling) -> None:
    assert _ruling(text, "url", allowed=(f"t(url={entry})",)) is ruling


@pytest.mark.parametrize(
    ("text", "ruling"),
    [
        ("docs/a.md", Ruling.ALLOW),
        ("./docs/a.md", Ruling.ALLOW),
        ("docs//a/./b", Ruling.ALLOW),
        ("docs/x/../a.md", Ruling.ALLOW),
        ("x/../docs/a.md", Ruling.ALLOW),
        ("docs/100%.md", Ruling.ALLOW),
        ("docs/文（二）.md", Ruling.ALLOW),
        ("docs/", Ruling.ALLOW),
        ("docs", Ruling.DENY),
        ("docs2/a", Ruling.DENY),
        ("DOCS/a", Ruling.DENY),
        ("/docs/a", Ruling.DENY),
        ("~/docs/a", Ruling.DENY),
        ("docs/../secret", Ruling.DENY),
        ("docs/%2e%2e/secret", Ruling.DENY),
        ("x/%2e%2e/docs/a", Ruling.DENY),
        ("docs\\..\\..\\x", Ruling.DENY),
        ("x\\..\\docs/a", Ruling.DENY),
        ("docs/．．/．．/x", Ruling.DENY),
        ("docs/.. /x", Ruling.DENY),
        ("docs/.?/x", Ruling.DENY),
        ("../docs/a", Ruling.DENY),
        ("file:docs/a", Ruling.DENY),
        ("https://docs/a", Ruling.DENY),
        ("docs/proc/1/root/x", Ruling.DENY),
    ],
)
@pytest.mark.parametrize("entry", ["docs/*", "path=docs/*", "path=docs/**", "docs/:*", "path=./docs/*"])
def test_an_allowing_path_covers_what_every_program_reads_as_below_it(text: str, ruling: Ruling, entry: str) -> None:
    assert _ruling(text, "path", allowed=(f"t({entry})",)) is ruling


@pytest.mark.parametrize(
    ("entry", "text", "ruling"),
    [
        ("curl https://internal.example/*", "curl https://u@internal.example/x", Ruling.DENY),
        ("curl https://internal.example/*", "curl -s -o f https://a.example https://internal.example.", Ruling.DENY),
        ("curl https://internal.example/*", "curl internal.example/x", Ruling.DENY),
        ("curl https://internal.example/*", "curl --url=https://internal.example:443", Ruling.DENY),
        ("curl https://internal.example/*", "curl https://a.example", Ruling.ALLOW),
        ("https://internal.example/*", "wget https://u@internal.example", Ruling.DENY),
        ("https://internal.example/*", "ls -la docs", Ruling.ALLOW),
        ("cat /etc/*", "cat notes.md /etc/passwd", Ruling.DENY),
        ("cat /etc/*", "cat /e?c/passwd", Ruling.DENY),
        ("cat /etc/*", "cat /[e]tc/passwd", Ruling.DENY),
        ("cat /etc/*", "cat -f/etc/passwd", Ruling.DENY),
        ("cat /etc/*", "cat --file=/etc/passwd", Ruling.DENY),
        ("cat /etc/*", "cat file:///etc/passwd", Ruling.DENY),
        ("cat /etc/*", "cat /proc/self/root/etc/passwd", Ruling.DENY),
        ("cat /etc/passwd", "cat /etc//passwd", Ruling.DENY),
        ("cat /etc/passwd", "cat /etc/passwd.md", Ruling.ALLOW),
        ("cat /etc/*", "cat *.md /srv/x HEAD:src", Ruling.ALLOW),
        ("cat /var/log/*", "cat *.txt", Ruling.ALLOW),
    ],
)
def test_places_among_the_words_of_a_command_are_forbidden_too(entry: str, text: str, ruling: Ruling) -> None:
    assert _ruling(text, "command", forbidden=(f"t({entry})",)) is ruling


@pytest.mark.parametrize(
    ("entry", "text", "ruling"),
    [
        ("curl https://docs.example/*", "curl https://docs.example/a", Ruling.ALLOW),
        ("curl https://docs.example/*", "curl https://docs.example/a https://evil.com", Ruling.DENY),
        ("curl https://docs.example/*", "curl https://docs.example@evil.com/", Ruling.DENY),
        ("curl https://docs.example/*", "curl https://docs.example/a; rm x", Ruling.DENY),
        ("cat docs/*", "cat docs/a docs/b", Ruling.ALLOW),
        ("cat docs/*", "cat docs/a /etc/passwd", Ruling.DENY),
        ("cat docs/*", "cat docs/a -o x", Ruling.DENY),
    ],
)
def test_places_among_the_words_of_a_command_are_allowed_one_by_one(entry: str, text: str, ruling: Ruling) -> None:
    assert _ruling(text, "command", allowed=(f"t({entry})",)) is ruling


@pytest.mark.parametrize(
    "text",
    [
        "/" + "a*/" * 3000,
        "../" * 3000,
        "%2e" * 3000,
        "https://" + "a." * 4000,
        "https://" + "@" * 9000,
        "proc/" * 1900,
        "[*" * 4900,
        "https://a/" + "%25" * 3000,
    ],
)
def test_a_long_text_is_judged_at_once(text: str) -> None:
    begin = perf_counter()
    for parameter in ("path", "url", "command", "query"):
        for entry in ("t(secret/a/*)", "t(/etc/a/*)", "t(https://internal.example/*)"):
            _ruling(text, parameter, forbidden=(entry,))
            _ruling(text, parameter, allowed=(entry,))
    assert perf_counter() - begin < 2
