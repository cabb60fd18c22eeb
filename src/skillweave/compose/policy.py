"""The answer to one tool call: may it run, must a person be asked, or not (spec 4.3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from skillweave.codec import Portable
from skillweave.compose.entries import (
    DEFAULT_ARGUMENT,
    EntryIndex,
    index_entries,
    is_plain,
    matched_text,
    permits,
    prohibits,
    without,
)
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.relations.rules import Form, name_shown, read_entry


class Ruling(StrEnum):
    """What happens to a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Refusal(StrEnum):
    """Why a call is denied: the error codes of rule V004."""

    FORBIDDEN = "TOOL_FORBIDDEN"
    NOT_ALLOWED = "TOOL_NOT_ALLOWED"


@dataclass(frozen=True, slots=True)
class Verdict(Portable):
    """The ruling on one call; `message` is written for the model to read, `code` says why a call is denied.

    `checkpoints` are the names that a person must approve first; `preapproved` says that consent covers the call, so
    that the host need not ask on its own account.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("ruling", "tool", "message", "code", "rule", "...")

    ruling: Ruling
    tool: str
    message: str
    code: Refusal | None = None
    checkpoints: tuple[str, ...] = ()
    preapproved: bool = False

    @property
    def rule(self) -> str | None:
        """V004 for a denied call (seed 002), else None."""
        return None if self.code is None else "V004"


_NAMED = 3


@dataclass(frozen=True, slots=True)
class ToolOwners(Portable):
    """By tool, the wired skills that it belongs to; a name that ends in `*` stands for all tools that begin so.

    `shared` are the names of the tools that skills outside the graph list too: these belong to no place.
    """

    by_name: Mapping[str, tuple[str, ...]] = field(default=EMPTY, hash=False)
    starred: tuple[str, ...] = ()
    shared: frozenset[str] = frozenset()
    shared_stems: tuple[str, ...] = ()

    @classmethod
    def among(cls, wired: Iterable[tuple[str, str]], shared: Iterable[str]) -> "ToolOwners":
        """The owners, from pairs of a tool and a wired skill that lists it; `shared` are the tools of other skills."""
        common = frozenset(shared)
        stems = tuple(name[:-1] for name in common if name.endswith("*"))
        owners: dict[str, dict[str, None]] = {}
        for tool, skill_id in wired:
            if tool not in common and not tool.removesuffix("*").startswith(stems):
                owners.setdefault(tool, {})[skill_id] = None
        by_name = FrozenDict((tool, tuple(skills)) for tool, skills in owners.items())
        return cls(by_name, tuple(tool for tool in by_name if tool.endswith("*")), common, stems)

    def of(self, tool: str) -> tuple[str, ...]:
        """The skills that the tool belongs to, empty for one that belongs to no place."""
        exact = self.by_name.get(tool, ())
        if not self.starred or tool in self.shared or tool.startswith(self.shared_stems):
            return exact
        return tuple(dict.fromkeys((*exact, *self._by_stem(tool))))

    def _by_stem(self, tool: str) -> Iterator[str]:
        for starred in self.starred:
            if tool.startswith(starred[:-1]):
                yield from self.by_name[starred]


NO_OWNERS = ToolOwners()


@dataclass(frozen=True, slots=True)
class ToolScope(Portable):
    """Whose the tools are; which skills are engaged, and where the conversation is in words.

    A tool that belongs to skills is denied while none of them is engaged (spec 3.2).
    """

    owners: ToolOwners = NO_OWNERS
    engaged: frozenset[str] = frozenset()
    where: str = ""

    def denies(self, tool: str) -> bool:
        """Whether the tool belongs to other places only."""
        owners = self.owners.of(tool)
        return bool(owners) and self.engaged.isdisjoint(owners)

    def reason(self, tool: str) -> str:
        """Why a denied tool is."""
        owners = self.owners.of(tool)
        more = f" and {len(owners) - _NAMED} more" if owners[_NAMED:] else ""
        return (
            f"it belongs to {', '.join(map(name_shown, owners[:_NAMED]))}{more}, and the conversation is {self.where}"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All denied tools; a pattern as it stands, though a tool that it covers may be of a skill that is engaged."""
        return tuple(tool for tool in self.owners.by_name if self.denies(tool))


ALL_IN_SCOPE = ToolScope()


OWN_TOOLS = frozenset({"read_skill", "list_skills", "read_artifact", "search_skills"})
"""skillweave's own tools, which no rule of a skill takes away."""

_LISTED = 20


@dataclass(frozen=True, slots=True)
class ToolPolicy(Portable):
    """What may be called now; a call must pass `grant` and `allowed_tools` (None passes all) and no forbidden entry.

    `preapproved_tools` are what the skills ask to run unasked, `consented_tools` those of them that a person agreed to.
    `asks` are tool entries with the checkpoints before them; `argument_names` name, by tool, the argument whose text
    patterns are matched with (`command` where none is named). `rejected` are those of the forbidden entries that a
    person refused at a checkpoint, each with who did. `elsewhere` are the tools that belong to other places of the
    skill graph, which are denied too. `closed` says why no tool may be called at all, empty otherwise.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("allowed_tools", "denied_tools as forbidden_tools", "preapproved_tools", "forbidden_entries?"),
        *("consented_tools?", "grant?", "asks?", "argument_names?", "rejected?", "elsewhere?", "closed?"),
    )
    json_exact: ClassVar[bool] = True

    allowed_tools: tuple[str, ...] | None = None
    forbidden_tools: tuple[str, ...] = ()
    preapproved_tools: tuple[str, ...] = ()
    consented_tools: tuple[str, ...] = ()
    grant: tuple[str, ...] | None = None
    asks: Mapping[str, tuple[str, ...]] = field(default=EMPTY, hash=False)
    argument_names: Mapping[str, str] = field(default=EMPTY, hash=False)
    rejected: Mapping[str, str] = field(default=EMPTY, hash=False)
    elsewhere: ToolScope = ALL_IN_SCOPE
    closed: str = ""

    @property
    def denied_tools(self) -> tuple[str, ...]:
        """What is forbidden, and what belongs elsewhere."""
        return tuple(dict.fromkeys((*self.forbidden_tools, *self.elsewhere.names)))

    @property
    def forbidden_entries(self) -> tuple[str, ...] | None:
        """What is forbidden everywhere, None where nothing is denied beside it."""
        return None if self.denied_tools == self.forbidden_tools else self.forbidden_tools

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data without what is denied elsewhere among the forbidden, where that is told apart."""
        return {**data, "forbidden_tools": data.get("forbidden_entries", data["forbidden_tools"])}

    def offers(self, names: Iterable[str]) -> tuple[str, ...]:
        """The tools to show to the model: those that could be called with some arguments, in the order given."""
        forbidden = index_entries(self.forbidden_tools)
        limits = [index_entries(entries) for entries in (self.grant, self.allowed_tools) if entries is not None]
        here = (name for name in names if not self.elsewhere.denies(name) or name in OWN_TOOLS)
        return tuple(name for name in here if name in OWN_TOOLS or _could_run(name, forbidden, limits))

    def authorize(self, name: str, arguments: Mapping[str, object] | None = None) -> Verdict:
        """Judge one call. Call it for hidden tools too: frameworks run whatever tool the model names."""
        if name in OWN_TOOLS:
            return Verdict(Ruling.ALLOW, name, f"{name_shown(name)} is always allowed")
        text = matched_text(arguments, self.argument_names.get(name, DEFAULT_ARGUMENT))
        if any(prohibits(entry, name, text) for entry in index_entries(self.forbidden_tools).about(name)):
            return self._denied(Refusal.FORBIDDEN, name, text)
        if self.elsewhere.denies(name) or not (
            _passes(self.grant, name, text) and _passes(self.allowed_tools, name, text)
        ):
            return self._denied(Refusal.NOT_ALLOWED, name, text)
        checkpoints = self._checkpoints(name, text)
        if checkpoints:
            message = f"{name_shown(name)} waits for a person's approval: {', '.join(map(name_shown, checkpoints))}"
            return Verdict(Ruling.ASK, name, message, checkpoints=checkpoints)
        consented = bool(self.consented_tools) and _passes(self.consented_tools, name, text)
        return Verdict(Ruling.ALLOW, name, f"{name_shown(name)} is allowed", preapproved=consented)

    def _checkpoints(self, name: str, text: str | None) -> tuple[str, ...]:
        asked = (names for entry, names in self.asks.items() if prohibits(read_entry(entry), name, text))
        return tuple(dict.fromkeys(checkpoint for names in asked for checkpoint in names))

    def _denied(self, code: Refusal, name: str, text: str | None) -> Verdict:
        if self.closed:
            return Verdict(
                Ruling.DENY, name, f"{code.value}: this call of {name_shown(name)} waits: {self.closed}", code
            )
        what = self._why_not_allowed(name) if code is Refusal.NOT_ALLOWED else self._why_forbidden(name, text)
        hint = "" if text is not None and is_plain(text) else self._hint(name)
        message = f"{code.value}: this call of {name_shown(name)} is {what}{hint}; {self._way_out()}"
        return Verdict(Ruling.DENY, name, message, code)

    def _why_not_allowed(self, name: str) -> str:
        return f"not allowed here: {self.elsewhere.reason(name)}" if self.elsewhere.denies(name) else "not allowed"

    def _why_forbidden(self, name: str, text: str | None) -> str:
        reasons = (why for entry, why in self.rejected.items() if prohibits(read_entry(entry), name, text))
        return next(reasons, "forbidden by a skill in force")

    def _hint(self, name: str) -> str:
        entries = map(read_entry, (*self.forbidden_tools, *(self.allowed_tools or ()), *(self.grant or ())))
        if not any(entry.form in (Form.PREFIX, Form.EXACT) and entry.names(name) for entry in entries):
            return ""
        argument = name_shown(self.argument_names.get(name, DEFAULT_ARGUMENT))
        return f" (its {argument} must be plain text: no shell operator, redirection or invisible character)"

    def _way_out(self) -> str:
        limits = self.grant if self.allowed_tools is None else self.allowed_tools
        forbidden = f"forbidden: {_listed(self.forbidden_tools)}" if self.forbidden_tools else ""
        allowed = "every other tool" if limits is None else _listed(without(limits, self.forbidden_tools))
        return "; ".join(part for part in (f"allowed: {allowed or 'no tool'}", forbidden) if part)


def _passes(entries: tuple[str, ...] | None, name: str, text: str | None) -> bool:
    return entries is None or any(permits(entry, name, text) for entry in index_entries(entries).about(name))


def _could_run(name: str, forbidden: EntryIndex, limits: Sequence[EntryIndex]) -> bool:
    if any(entry.form in (Form.TOOL, Form.BROKEN) for entry in forbidden.about(name)):
        return False
    return all(any(entry.form is not Form.BROKEN for entry in limit.about(name)) for limit in limits)


def _listed(entries: Sequence[str]) -> str:
    more = f" and {len(entries) - _LISTED} more" if len(entries) > _LISTED else ""
    return ", ".join(map(name_shown, entries[:_LISTED])) + more
