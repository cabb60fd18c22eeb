"""A chain of digests over the client's own messages: where in which history a request stands (spec 12.2)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from skillweave.exchange.wire import Unreadable, read_json, write_json

# What agents write around words of their own inside a message of the user. Claude Code: the first five, by its
# requests; Codex: the next four, by its requests and its source; Cline and Roo: the last two, by their source.
TAGS = (
    *("system-reminder", "command-name", "command-message", "local-command-stdout", "local-command-caveat"),
    *("environment_context", "user_instructions", "skills_instructions", "permissions"),
    *("environment_details", "task_progress"),
)
_OPENING = re.compile(rf"<({'|'.join(map(re.escape, TAGS))})(?: [^<>]{{0,200}})?>")
_LEFT_OUT = frozenset({"cache_control", "prompt_cache_breakpoint"})


def without_tags(text: str) -> str:
    """Returns the text without what an agent wrote in tags of its own; linear in its length."""
    if "<" not in text:
        return text
    kept, at, unclosed, removed = [], 0, set[str](), False
    while found := _OPENING.search(text, at):
        closing = f"</{found[1]}>"
        end = -1 if found[1] in unclosed else text.find(closing, found.end())
        if end < 0:
            unclosed.add(found[1])
            kept.append(text[at : found.end()])
            at = found.end()
            continue
        removed = True
        kept.append(text[at : found.start()])
        at = end + len(closing)
    return "".join([*kept, text[at:]]).strip() if removed else text


def tagged(text: str, tag: str) -> Iterator[str]:
    """Yields what stands inside each pair of these tags."""
    for piece in text.split(f"<{tag}>")[1:]:
        inside, closed, _ = piece.partition(f"</{tag}>")
        if closed:
            yield inside


def plain_texts(content: object, text_types: Sequence[str], *, tags: bool) -> list[Any]:
    """Returns content in the one form that is digested: texts as texts, other parts without cache markers.

    `tags` says that what agents wrote in tags of their own is left out, as in messages of the user.
    """
    parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    found: list[Any] = []
    for part in parts:
        text = part if isinstance(part, str) else part.get("text") if _is_text(part, text_types) else None
        if text is None:
            found.append(unmarked(part))
        elif said := without_tags(text) if tags else text:
            found.append(said)
    return found


def _is_text(part: object, text_types: Sequence[str]) -> bool:
    return isinstance(part, Mapping) and part.get("type") in text_types and isinstance(part.get("text"), str)


def unmarked(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Returns the value without cache markers, however deep."""
    if isinstance(value, Mapping):
        return {key: unmarked(one) for key, one in value.items() if key not in _LEFT_OUT}
    return [unmarked(one) for one in value] if isinstance(value, list) else value


def arguments_value(written: object) -> Any:  # noqa: ANN401 - JSON
    """Returns the arguments of a call as a value, where they are JSON: other blanks in them are the same call."""
    if not isinstance(written, str):
        return written
    try:
        return read_json(written or "{}")
    except Unreadable:
        return written


@dataclass(frozen=True, slots=True)
class Link:
    """One message in the chain: its place in the request, and the digest of everything up to it."""

    index: int
    digest: str


def chain_of(normal: Sequence[object], start: str = "") -> tuple[Link, ...]:
    """Returns the chain over messages in their one form; those that are None are left out."""
    digest, links = start, []
    for index, one in enumerate(normal):
        if one is not None:
            digest = sha256(digest.encode() + write_json(_sorted(one))).hexdigest()
            links.append(Link(index, digest))
    return tuple(links)


def _sorted(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list | tuple) else value
