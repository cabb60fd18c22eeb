"""What the skills of whole conversations cost in tokens: everything loaded, read from a list, or woven (spec 9)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillweave import Message, Role
from skillweave.errors import InvalidData
from skillweave.skills import invocation_of
from skillweave.turns import Rung
from skillweave.values import Portable
from skillweave_eval.ranking import Configuration
from skillweave_eval.reading import text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from skillweave import Injection, Weaver

    AsyncInjections = AsyncIterator[Injection]

EVERYTHING, CATALOG, NAMES, WOVEN = "everything loaded", "catalog + read", "names only + read", "skillweave"


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: what user and assistant said, in order; every message of the user leads to one model call."""

    id: str
    messages: tuple[Message, ...]

    @property
    def calls(self) -> int:
        """How many calls of the model it has."""
        return sum(message.role is Role.USER for message in self.messages)


@dataclass(frozen=True, slots=True)
class Method(Portable):
    """A way to bring skills into a model's context, and what it sends in all calls together.

    `cached` are those of its tokens that stood in the call before at the same place, so that a provider has them
    cached; `saved_percent` is against everything loaded.
    """

    name: str
    tokens: int
    cached: int
    calls: int
    saved_percent: float

    @property
    def cached_share(self) -> float:
        """The share of the tokens that is cached."""
        return self.cached / self.tokens if self.tokens else 0.0


@dataclass(frozen=True, slots=True)
class TokensReport(Portable):
    """What the skills of some conversations cost; the conversations' own words are not counted.

    `by_tier` are the tokens that skillweave gave, by tier, each counted in the call in which it came.
    """

    data: str
    conversations: int
    calls: int
    skills: int
    encoding: str
    configuration: Configuration
    methods: tuple[Method, ...]
    by_tier: Mapping[str, int] = field(default_factory=dict, hash=False)


def read_talks(path: Path) -> tuple[Talk, ...]:
    """The conversations of a file: JSON lines or a JSON list, each a list of messages or an object with `messages`.

    A row with `message`, and `before` where something was said earlier, is a conversation of the user's messages.

    Raises:
        InvalidData: there is none, or one cannot be read; with its number.
    """
    text = text_of(path, "name a file of conversations")
    try:
        lines = (line for line in text.splitlines() if line.strip())
        rows = [json.loads(line) for line in lines] if path.suffix.lower() == ".jsonl" else json.loads(text)
    except ValueError as error:
        raise InvalidData(f"{path} is not JSON: {error}; write one conversation a line, or a list of them") from None
    if isinstance(rows, list) and rows and all(isinstance(row, dict) and "role" in row for row in rows):
        rows = [rows]
    if not isinstance(rows, list) or not rows:
        raise InvalidData(f"{path} holds no conversations; write a list of them, or one a line")
    return tuple(_talk(row, f"{path}: conversation {number}", number) for number, row in enumerate(rows, start=1))


def _talk(row: object, place: str, number: int) -> Talk:
    said: object = row
    name = str(number)
    if isinstance(row, dict):
        name = str(row.get("id", number))
        said = row["messages"] if "messages" in row else [*(row.get("before") or ()), row.get("message")]
    if not isinstance(said, list) or not said:
        raise InvalidData(f"{place} is not a list of messages; write {{role, content}} objects, or what the user says")
    messages = tuple(_message(one, place) for one in said)
    return Talk(name, tuple(message for message in messages if message.role in (Role.USER, Role.ASSISTANT)))


def _message(said: object, place: str) -> Message:
    if isinstance(said, str):
        return Message(Role.USER, said)
    content = said.get("content") if isinstance(said, dict) else None
    role = said.get("role") if isinstance(said, dict) else None
    if role not in tuple(Role) or not isinstance(content, str | None):
        raise InvalidData(f"{place} has a message without a known role and a text; write {{role, content}}")
    return Message(Role(role), content)


async def count_tokens(
    weaver: "Weaver",
    talks: Sequence[Talk],
    data: str,
    configuration: Configuration,
    progress: "Callable[[int, int], None] | None" = None,
) -> TokensReport:
    """Play the conversations, each from its beginning, and count what each method sends in every call.

    Reading from a list is taken to load the very skills that skillweave gives, each once.
    """
    shown = [skill for skill in (await weaver.skills.snapshot()).active() if invocation_of(skill).by_model]
    count = weaver.skills.counter.count
    everything = await weaver.skills.tokens_of_everything()
    catalog = count("\n".join(f"- {skill.id}: {skill.description}" for skill in shown))
    names = count("\n".join(f"- {skill.id}" for skill in shown))
    totals = {name: _Sum() for name in (EVERYTHING, CATALOG, NAMES, WOVEN)}
    tiers: dict[str, int] = {}
    for number, talk in enumerate(talks, start=1):
        read = before = 0
        async for injection in _played(weaver, talk, number):
            new = sum(block.tokens for block in injection.blocks if block.rung > Rung.CATALOG)
            for name, first in ((EVERYTHING, everything), (CATALOG, catalog), (NAMES, names)):
                body = 0 if name == EVERYTHING else read
                totals[name].add(first + body + (new if name != EVERYTHING else 0), first + body if before else 0)
            read, before = read + new, before + 1
            totals[WOVEN].add(weaver.settings.budget.usable - injection.tokens.left, injection.cache.stable_tokens)
            for tier, tokens in injection.tokens.by_tier.items():
                tiers[tier] = tiers.get(tier, 0) + tokens
        if progress is not None:
            progress(number, len(talks))
    calls = sum(talk.calls for talk in talks)
    whole = totals[EVERYTHING].tokens
    methods = tuple(
        Method(name, one.tokens, one.cached, calls, round(100 * (1 - one.tokens / whole), 2) if whole else 0.0)
        for name, one in totals.items()
    )
    return TokensReport(
        data, len(talks), calls, len(shown), weaver.skills.counter.encoding, configuration, methods, tiers
    )


@dataclass(slots=True)
class _Sum:
    tokens: int = 0
    cached: int = 0

    def add(self, tokens: int, cached: int) -> None:
        self.tokens += tokens
        self.cached += min(tokens, cached)


async def _played(weaver: "Weaver", talk: Talk, number: int) -> "AsyncInjections":
    """The turns of a conversation at a host that keeps what it is given, and takes out what it is told to."""
    history: list[Message] = []
    for place, message in enumerate(talk.messages):
        if message.role is Role.USER:
            transcript = (*history, message)
            injection = await weaver.weave(
                message.text, conversation=f"talk-{number}", turn_id=f"{number}-{place}", transcript=transcript
            )
            gone = {drop.message_id for drop in injection.drop}
            history = [one for one in history if one.id is None or one.id not in gone]
            history += injection.messages
            yield injection
        history.append(replace(message, id=f"{number}-{place}"))
