"""A shell command read to the safe side: the programs that it starts, or that nobody can tell (spec 4.3).

Words are split as a POSIX shell splits them. What is not a single command of plain words is not guessed at: `None` says
so, and a rule then forbids and allows nothing. This names programs for rules; it is no sandbox, as a program can start
others by itself.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

LONGEST_COMMAND = 10_000
"""Characters of a command that is read; nobody can tell what a longer one starts."""
_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\$`]|\\.)*"|\\.""")
_CONSTRUCT = re.compile(r"[;|&<>(){}$`\"'\\]")
"""What is left of these outside of quotes is an operator, an expansion, or a quote without its other half."""
_GLOB = re.compile(r"[*?\[]")
_HIDDEN = str.maketrans("*?[", "\ue000\ue001\ue002")
_SHOWN = str.maketrans("\ue000\ue001\ue002", "*?[")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|com)$")


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """A program that starts another one: its options without and with a value, and the words before the command."""

    flags: frozenset[str]
    valued: frozenset[str] = frozenset()
    operands: int = 0


def _wrapper(flags: str = "", valued: str = "", operands: int = 0) -> _Wrapper:
    return _Wrapper(frozenset(flags.split()), frozenset(valued.split()), operands)


_SUDO = _wrapper(
    "-A -b -E -H -n -P -S -k --askpass --background --non-interactive --preserve-env --set-home --stdin",
    "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -R --chroot -T --command-timeout -r -t -U",
)
_WRAPPERS: Mapping[str, _Wrapper] = {
    "!": _wrapper(),
    "env": _wrapper("- -i -0 -v --ignore-environment --null --debug", "-u --unset -C --chdir --argv0 -a"),
    "sudo": _SUDO,
    "doas": _wrapper("-n -L", "-u -C -a"),
    "nohup": _wrapper(),
    "command": _wrapper("-p -v -V"),
    "builtin": _wrapper(),
    "exec": _wrapper("-c -l", "-a"),
    "time": _wrapper("-p -v -a -q --portability --verbose --append --quiet", "-o --output -f --format"),
    "nice": _wrapper("", "-n --adjustment"),
    "ionice": _wrapper("-t --ignore", "-c --class -n --classdata"),
    "timeout": _wrapper("--foreground --preserve-status -v --verbose", "-s --signal -k --kill-after", 1),
    "xargs": _wrapper(
        "-0 -r -t -p -x -o --null --no-run-if-empty --verbose --interactive --exit --open-tty",
        "-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s --max-chars",
    ),
    "stdbuf": _wrapper("", "-i --input -o --output -e --error"),
    "setsid": _wrapper("-c -f -w --ctty --fork --wait"),
    **dict.fromkeys(("busybox", "bundle exec", "hatch run", "pdm run", "pipenv run", "poetry run"), _wrapper()),
    "uv run": _wrapper(
        "--all-extras --dev --exact --frozen --isolated --locked --no-dev --no-project --no-sync --offline -q -v",
        "--directory --env-file --extra --group --package -p --project --python --with --with-editable",
    ),
}
_PRIORITY = re.compile(r"-{1,2}\d+")
_RUN_IN_THEIR_OWN_WAY = (
    "eval source . trap alias unalias fc coproc if then elif else fi for while until do done case esac select function "
    "[[ ssh parallel watch script su runuser pkexec chroot unshare nsenter flock strace ltrace gdb systemd-run at "
    "batch crontab expect screen tmux awk gawk mawk nawk arch bwrap caffeinate catchsegv cgexec chrt dbus-run-session "
    "entr fakeroot firejail linux32 linux64 numactl prlimit proot setarch sg systemd-inhibit taskset unbuffer valgrind "
    "winpty xvfb-run bunx capsh chpst coreutils direnv fakechroot genv gosu gtimeout gxargs npx pnpx proxychains rsh "
    "run-parts run0 runcon schroot setpriv setuidgid ssh-agent sshpass su-exec systemd-nspawn tini torify torsocks uvx"
)
_UNREADABLE = frozenset(_RUN_IN_THEIR_OWN_WAY.split())
"""Words that begin a construct, and programs that run what their arguments or files say in a form of their own."""
_STARTING = {
    **dict.fromkeys(("conda", "docker", "kubectl", "mamba", "nix", "pipx", "pixi", "podman"), ("exec", "run", "shell")),
    **dict.fromkeys(("bun", "mise", "npm", "pnpm", "yarn"), ("dlx", "exec", "x")) | {"uv": ("run", "tool")},
}
"""Programs with the words behind which another program stands."""
_INTERPRETERS = (
    (re.compile(r"r?(?:ba|z|da|m?k|pdk|tc|c|fi|a)?sh"), "cC"),
    (re.compile(r"(?:python|pypy)[\d.]*w?"), "c"),
    (re.compile(r"(?:perl|ruby|lua|luajit|osascript|rscript)[\d.]*"), "eE"),
    (re.compile(r"(?:node|nodejs|bun|deno)"), "ep"),
    (re.compile(r"php[\d.]*"), "rRBE"),
    (re.compile(r"(?:pwsh|powershell)"), "ceCE"),
)
"""Interpreters, with the letters of the options after which code stands."""
_RUNNING = re.compile(r"--(?:eval|print|command|init-command)(?:=.*)?|eval|/[ckCK]|-(?:exec|execdir|ok|okdir|delete)")
_RUNNERS = re.compile(r"node|nodejs|bun|deno|fish|cmd|find")


@lru_cache(maxsize=256)
def words_in(text: str) -> tuple[str, ...] | None:
    """The words of a text that is one plain command; None for one with any operator, expansion or open quote."""
    marked = _marked(text)
    return None if marked is None else tuple(word.translate(_SHOWN) for word in marked)


@lru_cache(maxsize=256)
def commands_in(text: str) -> tuple[tuple[str, ...], ...] | None:
    """The command of a text, and the commands that it starts through `env`, `sudo` and the like, outermost first.

    A variable that is set in front of a command is no word of it; the command with its variables is one more of those.
    None where it cannot be said which programs start.
    """
    words = _marked(text)
    if words is None:
        return None
    found: list[tuple[str, ...]] = []
    while words:
        left = _without_variables(words)
        if left is not words:
            found.append(tuple(words))
            words = left
            continue
        if _GLOB.search(words[0].removeprefix("[")) or not words[0]:
            return None
        found.append(tuple(words))
        name = real_name(words[0])
        wrapper = _WRAPPERS.get("busybox" if name.startswith(("busybox", "toybox")) else name)
        if wrapper is None and (wrapper := _WRAPPERS.get(f"{name} {words[1]}" if words[1:] else "")):
            words = words[1:]
        if name in _UNREADABLE or (name.startswith("!") and name != "!") or _runs_code(name, words):
            return None
        if wrapper is None:
            break
        inner = _behind(wrapper, words)
        if inner is None:
            return None
        words = inner
    return tuple(tuple(word.translate(_SHOWN) for word in command) for command in found)


def real_name(program: str) -> str:
    """A program's own name, without the folder it lies in and what Windows adds; letter case does not count."""
    return _SUFFIX.sub("", re.split(r"[/\\]", program.casefold())[-1])


def _marked(text: str) -> Sequence[str] | None:
    """The words, with glob characters that stand in quotes written as others: these are what they show."""
    if len(text) > LONGEST_COMMAND or not text.isprintable() or _CONSTRUCT.search(_QUOTED.sub("", text)):
        return None
    hidden = _QUOTED.sub(lambda quoted: quoted.group().translate(_HIDDEN), text)
    try:
        return shlex.split(hidden)
    except ValueError:  # a backslash at the end
        return None


def _without_variables(words: Sequence[str]) -> Sequence[str]:
    count = next((n for n, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words))
    return words[count:] if count else words


def _behind(wrapper: _Wrapper, words: Sequence[str]) -> Sequence[str] | None:
    """The command that the wrapper starts; None for an option that is not known, which may take any value."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        if word == "--":
            at += 1
            break
        taken = _taken(wrapper, word)
        if taken is None or _GLOB.search(word):
            return None
        at += taken
    if any(_GLOB.search(word) for word in words[1 : at + wrapper.operands]):
        return None
    return words[at + wrapper.operands :]


def _taken(wrapper: _Wrapper, word: str) -> int | None:
    """How many words the option takes, itself included."""
    if word in wrapper.flags or _PRIORITY.fullmatch(word):
        return 1
    if word in wrapper.valued:
        return 2
    if word.startswith("--"):
        name, equals, _ = word.partition("=")
        return 1 if equals and name in wrapper.valued else None
    for place, letter in enumerate(word[1:], 2):
        if f"-{letter}" in wrapper.valued:
            return 1 if word[place:] else 2
        if f"-{letter}" not in wrapper.flags:
            return None
    return 1


def _runs_code(name: str, words: Sequence[str]) -> bool:
    """Whether a program is given code among its words, or another program in a form of its own."""
    if (name.startswith("ld-") and ".so" in name) or not set(words[1:]).isdisjoint(_STARTING.get(name, ())):
        return True
    if _RUNNERS.fullmatch(name) and any(_RUNNING.fullmatch(word) for word in words[1:]):
        return True
    letters = next(_letters(name), "")
    options = (word for word in words[1:] if word.startswith("-") and not word.startswith("--"))
    return any(letter in option for option in options for letter in letters)


def _letters(name: str) -> Iterator[str]:
    return (letters for interpreter, letters in _INTERPRETERS if interpreter.fullmatch(name))
