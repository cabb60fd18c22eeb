"""What an agent may call now: hides tools from the model and judges each call (spec 4.3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.compose.entries import EntryIndex, index_entries, without
from skillweave.compose.matching import Called, is_readable
from skillweave.conversation import ToolCall
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.relations.rules import Form, ToolEntry, name_shown, read_entry


class Ruling(StrEnum):
    """What happens to a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Refusal(StrEnum):
    """Why a call is denied: the error codes of rule V004, and that nobody knows which rules hold."""

    FORBIDDEN = "TOOL_FORBIDDEN"
    NOT_ALLOWED = "TOOL_NOT_ALLOWED"
    STATE_UNAVAILABLE = "STATE_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Verdict(Portable):
    """The ruling on one call; `message` is written for the model to read, `code` says why a call is denied.

    `checkpoints` are the names that a person must approve first; `preapproved` says that consent covers the call, so
    that the host need not ask on its own account. `approved` are, of a call that asks nobody any more, the checkpoints
    at which a person said yes: `weaver.authorize` lets it through, once. `used_at` is when it was let through before,
    in seconds of the store's clock: what it did then is not known.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("ruling", "tool", "message", "code", "rule", "...", "approved?", "used_at?")

    ruling: Ruling
    tool: str
    message: str
    code: Refusal | None = None
    checkpoints: tuple[str, ...] = ()
    preapproved: bool = False
    approved: tuple[str, ...] = ()
    used_at: float | None = None

    @property
    def rule(self) -> str | None:
        """V004 for a call that a rule denies (seed 002), else None."""
        return None if self.code in (None, Refusal.STATE_UNAVAILABLE) else "V004"


UNKNOWN_RULES = (
    "the conversation's state cannot be read now, so nobody knows which rules hold and what people decided; "
    "try again later"
)
"""Why a call is denied while the ledger does not answer, in words for the model."""


def denied_unread(tool: str, why: str = UNKNOWN_RULES) -> Verdict:
    """The ruling on a call of which nobody knows whether a rule denies it."""
    code = Refusal.STATE_UNAVAILABLE
    return Verdict(Ruling.DENY, tool, f"{code.value}: {name_shown(tool)} was not called: {why}", code)


_AUTHORIZE = Checked("authorize")
_NAMED = 3
_LISTED = 20


@dataclass(frozen=True, slots=True)
class ToolOwners(Portable):
    """By tool, the wired skills that it belongs to; a name that ends in `*` stands for all tools that begin so.

    `shared` are the names of the tools that skills outside the graph list too: these belong to no place.
    """

    by_name: Mapping[str, tuple[str, ...]] = field(default=EMPTY, hash=False)
    shared: frozenset[str] = frozenset()
    _starred: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _shared_stems: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Found once: every call of a tool is judged by them.
        object.__setattr__(self, "_starred", tuple(name for name in self.by_name if name.endswith("*")))
        object.__setattr__(self, "_shared_stems", tuple(name[:-1] for name in self.shared if name.endswith("*")))

    @classmethod
    def among(cls, wired: Iterable[tuple[str, str]], shared: Iterable[str]) -> "ToolOwners":
        """The owners, from pairs of a tool and a wired skill that lists it; `shared` are the tools of other skills."""
        common = cls(shared=frozenset(shared))
        owners: dict[str, dict[str, None]] = {}
        for tool, skill_id in wired:
            if tool not in common.shared and not tool.removesuffix("*").startswith(common._shared_stems):
                owners.setdefault(tool, {})[skill_id] = None
        return cls(FrozenDict({tool: tuple(skills) for tool, skills in owners.items()}), common.shared)

    def of(self, tool: str) -> tuple[str, ...]:
        """The skills that the tool belongs to, empty for one that belongs to no place."""
        exact = self.by_name.get(tool, ())
        if not self._starred or tool in self.shared or tool.startswith(self._shared_stems):
            return exact
        by_stem = (skill for name in self._starred if tool.startswith(name[:-1]) for skill in self.by_name[name])
        return tuple(dict.fromkeys((*exact, *by_stem)))


@dataclass(frozen=True, slots=True)
class ToolScope(Portable):
    """Whose the tools are; which skills are engaged, and where the conversation is in words.

    A tool that belongs to skills is denied while none of them is engaged (spec 3.2). `closed_skills` are those that
    nobody may open from here, no sub-agent either.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...", "closed_skills?")

    owners: ToolOwners = ToolOwners()
    engaged: frozenset[str] = frozenset()
    where: str = ""
    closed_skills: frozenset[str] = frozenset()

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


OWN_TOOLS = ("read_skill", "list_skills", "read_artifact", "search_skills")
"""skillweave's own tools, which no rule of a skill takes away."""


@dataclass(frozen=True, slots=True)
class ToolPolicy(Portable):
    """What may be called now; a call must pass `grant` and `allowed_tools` (None passes all) and no forbidden entry.

    `preapproved_tools` are what the skills ask to run unasked, `consented_tools` those of them that a person agreed to.
    `asks` are tool entries with the checkpoints before them; `argument_names` name, by tool, the parameter that
    patterns are about where an entry names none itself (else `command`, or the only one that the tool has). `rejected`
    are those of the forbidden entries that a person refused at a checkpoint, each with who did. `elsewhere` are the
    tools that belong to other places of the skill graph, which are denied too. `closed` says why no tool may be called
    at all, empty otherwise. `own_tools` are the names under which the model has skillweave's own tools, which nothing
    denies; any other tool is judged, also a host's that happens to have such a name. `cleared` are, by the digest of a
    call, the checkpoints in `asks` that a person let this one call through; `rejected_calls` are, by the digest of what
    a call does (`ToolCall.content`), the words in which a person refused it.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("allowed_tools", "denied_tools as forbidden_tools", "preapproved_tools", "forbidden_entries?"),
        *("consented_tools?", "grant?", "asks?", "argument_names?", "rejected?", "elsewhere?", "closed?"),
        *("own_tools?", "cleared?", "rejected_calls?"),
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
    own_tools: tuple[str, ...] = OWN_TOOLS
    cleared: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default=EMPTY, hash=False)
    rejected_calls: Mapping[str, str] = field(default=EMPTY, hash=False)

    @property
    def denied_tools(self) -> tuple[str, ...]:
        """The entries that are forbidden, and those of tools that belong to another place of the graph."""
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
        return tuple(
            name
            for name in names
            if name in self.own_tools or (not self.elsewhere.denies(name) and _could_run(name, forbidden, limits))
        )

    def authorize(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        call_id: str | None = None,
        parameters: Sequence[str] | None = None,
        host_tools: Iterable[str] | None = None,
    ) -> Verdict:
        """Judge one call. Call it for hidden tools too: frameworks run whatever tool the model names.

        `call_id` is the model's id of the call: without it, no yes of a person to one call is known to be about this.
        `parameters` are the names of all parameters that the tool has, None where they are not known or it takes any:
        an argument that it does not have is denied, as no rule could be judged on it. `host_tools` are the names of the
        tools that the host has, so that a denial names no others. Raises InvalidValue for a name that is no text, and
        for names that are no list: letter by letter they would let other arguments pass.
        """
        _AUTHORIZE.text("name", name)
        parameters = None if parameters is None else _AUTHORIZE.texts("parameters", parameters, "command")
        host_tools = None if host_tools is None else _AUTHORIZE.texts("host_tools", host_tools, "read_file")
        if name in self.own_tools:
            return Verdict(Ruling.ALLOW, name, f"{name_shown(name)} is always allowed")
        called = Called(name, arguments, parameters, self.argument_names.get(name))
        known = tuple(self.grant or ()) if host_tools is None else tuple(host_tools)
        if any(called.prohibited_by(entry) for entry in index_entries(self.forbidden_tools).about(name)):
            return self._denied(Refusal.FORBIDDEN, called, known)
        if self.closed:
            return denied_unread(name, self.closed)
        if self.elsewhere.denies(name) or not (_passes(self.grant, called) and _passes(self.allowed_tools, called)):
            return self._denied(Refusal.NOT_ALLOWED, called, known)
        if unknown := called.unknown_arguments():
            return _denied_argument(called, unknown[0])
        if self.rejected_calls and (why := self._why_refused(name, arguments)):
            code, hint = Refusal.FORBIDDEN, "go on without it, or ask for something else"
            message = f"{code.value}: this call of {name_shown(name)} with these arguments was {why}; {hint}"
            return Verdict(Ruling.DENY, name, message, code)
        if self.asks:
            cleared = self._cleared(name, arguments, call_id)
            checkpoints, every = self._checkpoints(called, cleared), self._checkpoints(called, EMPTY)
            if checkpoints:
                message = f"{name_shown(name)} waits for a person's approval: {', '.join(map(name_shown, checkpoints))}"
                return Verdict(Ruling.ASK, name, message, checkpoints=checkpoints)
            if every:
                message = f"{name_shown(name)} is approved; `weaver.authorize` lets this call through, once"
                return Verdict(Ruling.ASK, name, message, approved=every)
        consented = bool(self.consented_tools) and _passes(self.consented_tools, called)
        return Verdict(Ruling.ALLOW, name, f"{name_shown(name)} is allowed", preapproved=consented)

    def _checkpoints(self, called: Called, cleared: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        asked = (
            (checkpoint for checkpoint in names if checkpoint not in cleared.get(entry, ()))
            for entry, names in self.asks.items()
            if called.prohibited_by(read_entry(entry))
        )
        return tuple(dict.fromkeys(checkpoint for names in asked for checkpoint in names))

    def _cleared(self, name: str, arguments: object, call_id: str | None) -> Mapping[str, tuple[str, ...]]:
        digest = call.digest if self.cleared and call_id and (call := call_of(call_id, name, arguments)) else None
        return EMPTY if digest is None else self.cleared.get(digest, EMPTY)

    def _why_refused(self, name: str, arguments: object) -> str | None:
        call = call_of("", name, arguments)
        digests = () if call is None else (call.content, call.content_as_written)
        return next((self.rejected_calls[one] for one in digests if one and one in self.rejected_calls), None)

    def _denied(self, code: Refusal, called: Called, known: Sequence[str]) -> Verdict:
        name = called.tool
        what = "not allowed"
        if code is Refusal.FORBIDDEN:
            reasons = (why for entry, why in self.rejected.items() if called.prohibited_by(read_entry(entry)))
            what = next(reasons, "forbidden by a skill in force")
        elif self.elsewhere.denies(name):
            what = f"not allowed here: {self.elsewhere.reason(name)}"
        hint = self._hint(called)
        message = f"{code.value}: this call of {name_shown(name)} is {what}{hint}; {self._way_out(known)}"
        return Verdict(Ruling.DENY, name, message, code)

    def _hint(self, called: Called) -> str:
        entries = map(read_entry, (*self.forbidden_tools, *(self.allowed_tools or ()), *(self.grant or ())))
        about = (entry for entry in entries if entry.form in (Form.PREFIX, Form.EXACT) and entry.names(called.tool))
        return next((hint for entry in about if (hint := _why_unjudged(entry, called))), "")

    def _way_out(self, known: Sequence[str]) -> str:
        limits = self.grant if self.allowed_tools is None else self.allowed_tools
        denied = _about(self.forbidden_tools, known)
        forbidden = f"forbidden: {_listed(denied)}" if denied else ""
        left = () if limits is None else _about(without(limits, self.forbidden_tools), known)
        allowed = "every other tool" if limits is None else _listed(left)
        return "; ".join(part for part in (f"allowed: {allowed or 'no tool'}", forbidden) if part)


def call_of(call_id: str, name: str, arguments: object) -> ToolCall | None:
    """The call, None where its arguments are not a mapping, such as JSON text that a host has not parsed."""
    if arguments is None:
        return ToolCall(call_id, name)
    return ToolCall(call_id, name, arguments) if isinstance(arguments, Mapping) else None


def _passes(entries: tuple[str, ...] | None, called: Called) -> bool:
    return entries is None or any(called.permitted_by(entry) for entry in index_entries(entries).about(called.tool))


def _denied_argument(called: Called, argument: str) -> Verdict:
    has = ", ".join(map(name_shown, called.parameters or ())) or "no argument"
    message = (
        f"{Refusal.NOT_ALLOWED.value}: {name_shown(called.tool)} has no argument {name_shown(argument)}; "
        f"it takes {has}; call again without it"
    )
    return Verdict(Ruling.DENY, called.tool, message, Refusal.NOT_ALLOWED)


def _why_unjudged(entry: ToolEntry, called: Called) -> str:
    """Why an entry with a pattern cannot be judged on the call, in words for the model; empty where it can."""
    parameter = called.parameter_of(entry)
    text, reading = called.text_for(entry)
    if parameter is None:
        return " (it is not known which of its arguments a rule is about, so that every call of it counts)"
    if text is None:
        return f" (its {name_shown(parameter)} must be a text)"
    if not is_readable(text, reading):
        return (
            f" (its {name_shown(parameter)} must be one plain command: no shell operator, expansion, redirection, "
            "code in an option, or invisible character)"
        )
    return ""


def _about(entries: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The entries about tools that the host is known to have; all where that is not known."""
    if not known:
        return tuple(entries)
    names = index_entries(tuple(known))
    read = ((entry, read_entry(entry)) for entry in entries)
    return tuple(text for text, entry in read if names.about(entry.tool) or names.named_by(entry))


def _could_run(name: str, forbidden: EntryIndex, limits: Sequence[EntryIndex]) -> bool:
    if any(entry.form in (Form.TOOL, Form.BROKEN) for entry in forbidden.about(name)):
        return False
    return all(any(entry.form is not Form.BROKEN for entry in limit.about(name)) for limit in limits)


def _listed(entries: Sequence[str]) -> str:
    more = f" and {len(entries) - _LISTED} more" if len(entries) > _LISTED else ""
    return ", ".join(map(name_shown, entries[:_LISTED])) + more
