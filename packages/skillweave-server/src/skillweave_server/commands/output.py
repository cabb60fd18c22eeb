"""The service as JSON and for people: where it listens and what it holds, its keys, and its log of approvals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from skillweave import WhenUnknown
from skillweave.approvals import LogRow
from skillweave.commands import Ink, Page, Portable, counted, printable, shown_time
from skillweave.weaver import OnStoreFailure
from skillweave_stores.access import ApiKey


@dataclass(frozen=True, slots=True)
class Listening(Portable):
    """A service that has begun to listen.

    `skills` are those of the default tenant. `is_open` says that everybody who reaches it may do everything,
    `keeps_approvals` that it has a key for their log. `first_key` is the text of the key that was made, else null;
    `upstreams` are the providers behind its gateway.
    """

    addresses: tuple[str, ...]
    store: str
    redis: str | None
    skills: int
    is_open: bool
    keeps_approvals: bool
    on_store_failure: OnStoreFailure
    when_unknown: WhenUnknown
    first_key: str | None = None
    upstreams: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyShown(Portable):
    """An API key without its secret; times are in seconds since 1970, `revoked_at` is null while it is in use."""

    id: str
    tenant: str
    name: str
    scopes: tuple[str, ...]
    created_at: float
    revoked_at: float | None


@dataclass(frozen=True, slots=True)
class KeyMade(Portable):
    """A new API key, with the text that opens the service, which is kept nowhere else."""

    key: KeyShown
    text: str


@dataclass(frozen=True, slots=True)
class KeysShown(Portable):
    """All API keys, by their tenant and then by when they were made."""

    keys: tuple[KeyShown, ...]


@dataclass(frozen=True, slots=True)
class TenantLog(Portable):
    """What is wrong with the log of approvals of a tenant, in words; empty where it is whole."""

    tenant: str
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogVerified(Portable):
    """Whether the logs of approvals are whole, and what is wrong with each."""

    json_keys: ClassVar[tuple[str, ...]] = ("...", "whole")

    logs: tuple[TenantLog, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong with any of them."""
        return not any(one.findings for one in self.logs)


@dataclass(frozen=True, slots=True)
class LogShown(Portable):
    """Rows of the log of approvals of one tenant, in their order."""

    tenant: str
    rows: tuple[LogRow, ...]


def key_shown(key: ApiKey) -> KeyShown:
    """The key without its hash."""
    return KeyShown(key.id, key.tenant, key.name, tuple(sorted(key.scopes)), key.created_at, key.revoked_at)


def listening_text(shown: Listening, page: Page) -> str:
    """Where it listens, what it holds, and who may come in."""
    lines = [page.entry("listening", " and ".join(shown.addresses), Ink.GOOD)]
    beside = "" if shown.redis is None else f"; conversations, memory and events in {shown.redis}"
    lines.append(page.entry("kept in", f"{shown.store}{beside}"))
    lines.append(page.entry("skills", f"{shown.skills:,}"))
    turns = "go on without a record" if shown.on_store_failure is OnStoreFailure.CONTINUE else "answer 503"
    calls = "are denied" if shown.when_unknown is WhenUnknown.DENY else "are allowed by the rules that are known"
    lines.append(page.entry("store down", f"turns {turns}; tool calls whose rules cannot be read {calls}"))
    for name in shown.upstreams:
        base = f"{shown.addresses[0]}/gateway/{name}"
        lines.append(page.entry(name, f"ANTHROPIC_BASE_URL={base} claude", Ink.STRONG))
        lines.append(page.entry("", f"OPENAI_BASE_URL={base}/v1 (Codex: base_url of a model provider)", Ink.STRONG))
    if shown.is_open:
        told = (
            "open to everybody on this machine, as there is no API key; `skillweave keys new --name ...` makes one, "
            "which counts from the next start on"
        )
        lines.append(page.entry("keys", told, Ink.WARN))
    if not shown.keeps_approvals:
        told = "not kept: start every replica with the same --approval-key-file"
        lines.append(page.entry("approvals", told, Ink.WARN))
    if shown.first_key is not None:
        lines.append(page.entry("first key", f"{shown.first_key} (it is shown this once)", Ink.STRONG))
    return "\n".join(lines)


def made_text(made: KeyMade, page: Page) -> str:
    """The text of the key, alone in its line, and what it may do."""
    return (
        f"{made.text}\n{key_text(made.key, page)}\nKeep it: it is shown this once. Send it as `Authorization: Bearer`."
    )


def key_text(key: KeyShown, page: Page) -> str:
    """A key in a line."""
    whose = f" of {printable(key.tenant)}" if key.tenant else ""
    state = "" if key.revoked_at is None else f"  revoked {shown_time(key.revoked_at)}"
    line = f"{key.id}  {shown_time(key.created_at)}  {printable(key.name)}{whose}: {', '.join(key.scopes)}{state}"
    return page.paint(line, Ink.FAINT) if key.revoked_at is not None else line


def keys_text(shown: KeysShown, page: Page) -> str:
    """Each key in a line."""
    if not shown.keys:
        return "There is no API key; `skillweave keys new --name ... --scope ...` makes one."
    return "\n".join(key_text(key, page) for key in shown.keys)


def log_text(shown: LogShown, page: Page) -> str:
    """Each row in a line, without the state of the conversation."""
    return "\n".join(_rows(shown.rows)) or "The log has no such row."


def verified_text(shown: LogVerified, page: Page) -> str:
    """Each log with what is wrong with it."""
    if not shown.logs:
        return "There is no log of approvals yet."
    lines: list[str] = []
    for one in shown.logs:
        name = printable(one.tenant) or "default"
        if one.findings:
            lines.append(f"{page.paint(name, Ink.BAD)}: {counted(len(one.findings), 'finding')}")
            lines += (page.wrap(finding, 2) for finding in one.findings)
        else:
            lines.append(f"{page.paint(name, Ink.GOOD)}: whole")
    return "\n".join(lines)


def _rows(rows: Sequence[LogRow]) -> Iterable[str]:
    for row in rows:
        yield f"{row.number:>6}  {shown_time(row.at)}  {row.kind:<9}  {printable(row.approval)}"
