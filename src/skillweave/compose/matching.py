"""Whether one call falls under one entry of a tool list, judged to the safe side (spec 4.3).

Where a call cannot be judged, a forbidding entry covers it and an allowing one does not. Rules on arguments keep an
honest agent in its lane; they are no sandbox, since a shell spells one thing in many ways.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from skillweave.compose.places import any_word_at, is_address, is_place, permits_place, prohibits_place
from skillweave.compose.shell import commands_in, real_name, words_in
from skillweave.relations.rules import Form, ToolEntry

DEFAULT_PARAMETER = "command"
"""The parameter that a pattern is about, where neither the entry nor the policy names another and the tool has it."""


class Reading(StrEnum):
    """What a text is: a command for a shell, or a path, an address or a name, in which a shell's signs mean nothing."""

    SHELL = "shell"
    PATH = "path"
    ADDRESS = "address"
    PLAIN = "plain"


_READINGS = {
    **dict.fromkeys(("path", "paths", "file", "filename", "folder", "dir", "directory"), Reading.PATH),
    **dict.fromkeys(("url", "uri", "href", "link", "endpoint"), Reading.ADDRESS),
    **dict.fromkeys(("query", "sql", "pattern", "glob", "id", "name", "key"), Reading.PLAIN),
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_CLIMBS = re.compile(r"(?:^|[/\\{},])\.(?:\.|[^/\\{},]*[*?\[][^/\\{},]*)(?:$|[/\\{},])")
"""A name that is `..`, or a wildcard that may stand for it."""


def reading_of(parameter: str) -> Reading:
    """How the text of a parameter is read: by the last word of its name, as a shell's command where that says nothing.

    `file_path` is a path, `baseUrl` an address, `command` and `input` are a shell's.
    """
    words = _WORD.findall(parameter)
    return _READINGS.get(words[-1].lower(), Reading.SHELL) if words else Reading.SHELL


@dataclass(frozen=True, slots=True)
class Called:
    """One call of a tool, as rules look at it.

    `parameters` are the names of all parameters that the tool has, None where nobody said; `named` is the one that a
    policy names for patterns about this tool. Arguments that are not a mapping, such as JSON text that a host has not
    parsed, have no text.
    """

    tool: str
    arguments: Mapping[str, object] | None = None
    parameters: Sequence[str] | None = None
    named: str | None = None

    def parameter_of(self, entry: ToolEntry) -> str | None:
        """The parameter that the entry is about; None where that cannot be told, or the tool has no such parameter.

        It is the one that the entry names, else the policy, else `command`, else the only one that the tool has.
        """
        known = self.parameters
        wanted = entry.parameter or self.named
        if not wanted and known is not None and DEFAULT_PARAMETER not in known:
            wanted = known[0] if len(known) == 1 else None
        elif not wanted:
            wanted = DEFAULT_PARAMETER
        return wanted if wanted and (known is None or wanted in known) else None

    def text_for(self, entry: ToolEntry) -> tuple[str | None, Reading]:
        """The text that the entry is matched with, None where there is none, and how it is read."""
        parameter = self.parameter_of(entry)
        if parameter is None:
            return None, Reading.SHELL
        text = self.arguments.get(parameter) if isinstance(self.arguments, Mapping) else None
        return text if isinstance(text, str) else None, reading_of(parameter)

    def permitted_by(self, entry: ToolEntry) -> bool:
        """Whether an allowing entry covers the call."""
        if entry.form is Form.TOOL:
            return entry.names(self.tool)
        return permits(entry, self.tool, *self.text_for(entry))

    def prohibited_by(self, entry: ToolEntry) -> bool:
        """Whether a forbidding entry covers the call."""
        return prohibits(entry, self.tool, *self.text_for(entry))

    def unknown_arguments(self) -> tuple[str, ...]:
        """The arguments that the tool does not have, in the order given; none where its parameters are not known."""
        if self.parameters is None or not isinstance(self.arguments, Mapping):
            return ()
        return tuple(str(name) for name in self.arguments if name not in self.parameters)


def permits(entry: ToolEntry, tool: str, text: str | None, reading: Reading = Reading.SHELL) -> bool:
    """Whether an allowing entry covers a call with that text; a pattern never covers what cannot be read.

    A program is meant as it is written: `git:*` covers neither `/tmp/git` nor `env git`.
    """
    if entry.form is Form.BROKEN or not entry.names(tool):
        return False
    if entry.form is Form.TOOL:
        return True
    if text is None or not text.isprintable():
        return False
    if reading is Reading.SHELL:
        return _permits_command(entry, text)
    if is_place(entry.argument) or (reading is not Reading.PLAIN and ("/" in entry.argument or entry.parameter)):
        return permits_place(entry.argument, text, whole=entry.form is Form.EXACT)
    if entry.form is Form.EXACT:
        return text.strip() == entry.argument
    climbing = _CLIMBS.search(unquote(text)) and not _CLIMBS.search(entry.argument)
    return not climbing and _continues(text.strip(), entry.argument)


def prohibits(entry: ToolEntry, tool: str, text: str | None, reading: Reading = Reading.SHELL) -> bool:
    """Whether a forbidding entry covers a call with that text; a pattern covers all that is missing or cannot be read.

    A prefix is taken letter by letter (`python:*` also stops `python3`), and so is what stands before a `*` elsewhere.
    A program is meant by its own name, wherever it lies and whatever starts it; a path or an address whichever way it
    is written.
    """
    if not entry.names(tool):
        return False
    if entry.form in (Form.TOOL, Form.BROKEN) or text is None or not text.isprintable():
        return True
    stem, star, _ = entry.argument.partition("*")
    whole = entry.form is Form.EXACT and not star
    if _squeezed(text) == _squeezed(stem) or (not whole and _squeezed(text).startswith(_squeezed(stem))):
        return True
    if reading is Reading.SHELL:
        return _prohibits_command(stem, text, whole=whole)
    strict = {Reading.ADDRESS, Reading.ADDRESS if is_address(stem) else Reading.PATH}
    return prohibits_place(stem, text, whole=whole, strict=reading in strict)


def is_readable(text: str, reading: Reading) -> bool:
    """Whether a text means what it shows, so that a pattern can cover it."""
    return text.isprintable() and (reading is not Reading.SHELL or commands_in(text) is not None)


def _permits_command(entry: ToolEntry, text: str) -> bool:
    words = words_in(text)
    if words is None:
        return False
    if entry.form is Form.EXACT:
        return text.strip() == entry.argument
    # Code in an argument says nothing of what it starts, unless the entry itself asks for code there.
    if commands_in(text) is None and (commands_in(entry.argument) is not None or words_in(entry.argument) is None):
        return False
    wanted = words_in(entry.argument) or ()
    last = wanted[-1] if wanted else ""
    # A program's path is its name; behind it, and in an entry that is an address, a place is compared as one.
    if is_address(last) or (len(wanted) > 1 and ("/" in last or is_place(last))):
        at = len(wanted) - 1
        inside = (permits_place(last, word, whole=False) for word in words[at:])
        return words[:at] == wanted[:at] and len(words) > at and all(inside)
    climbing = entry.argument.endswith("/") and any(map(_CLIMBS.search, words))
    return not climbing and _continues(text.strip(), entry.argument)


def _continues(text: str, prefix: str) -> bool:
    # `git:*` is the command git, not gitleaks: what follows begins a new word, unless the prefix itself ended one.
    rest = text[len(prefix) :]
    return text.startswith(prefix) and (not prefix or not rest or rest[0] == " " or not prefix[-1].isalnum())


def _prohibits_command(stem: str, text: str, *, whole: bool) -> bool:
    commands = commands_in(text)
    if commands is None:
        return True
    wanted = words_in(stem)
    if not wanted:
        return False  # an entry that is not a command itself is compared by its letters only
    if len(wanted) == 1 and is_address(stem):
        return any(any_word_at(stem, one) for one in commands)
    if not whole:
        return any(_begins(wanted, one) for one in commands)
    alike = (one for one in commands if len(one) == len(wanted) and _same_program(wanted[0], one[0]))
    return any(all(map(_same_word, wanted[1:], one[1:])) for one in alike)


def _same_word(wanted: str, word: str) -> bool:
    return wanted == word or ("/" in wanted and prohibits_place(wanted, word, whole=True, strict=False))


def _begins(wanted: Sequence[str], command: Sequence[str]) -> bool:
    """Whether the command begins with the wanted words, where options and their values may stand between them."""
    if len(wanted) == 1:
        name = real_name(wanted[0])
        begins = real_name(command[0]).startswith(name) if name else command[0].startswith(wanted[0])
        return begins or ("/" in wanted[0] and any_word_at(wanted[0], command[:1]))
    if not _same_program(wanted[0], command[0]):
        return False
    places = {1}
    options = "".join(word[1:] for word in command if _is_short(word))
    for number, word in enumerate(wanted[1:], 2):
        last = number == len(wanted)
        if last and "/" in word:
            return any_word_at(word, command[min(places) :])
        places = _behind_options(places, command)
        met = (at for at in places if at < len(command) and command[at].startswith(word))
        found = {at + 1 for at in met if last or command[at] == word}
        if _is_short(word) and set(word[1:]) <= set(options):
            found |= places  # `-rf` is also written `-r -f` and `-fr`
        places = found
        if not places:
            return False
    return True


def _behind_options(places: set[int], command: Sequence[str]) -> set[int]:
    """The places with all that lie behind options there; each option may have a value."""
    reached: set[int] = set()
    waiting = list(places)
    while waiting:
        at = waiting.pop()
        if at not in reached:
            reached.add(at)
            if at < len(command) and command[at].startswith("-"):
                waiting += [at + 1, at + 2]
    return reached


def _same_program(wanted: str, program: str) -> bool:
    return bool(real_name(wanted)) and real_name(wanted) == real_name(program)


def _is_short(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and word[1:].isalpha()


def _squeezed(text: str) -> str:
    return " ".join(text.split())
