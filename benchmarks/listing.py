"""Tokens of a conversation beside a list of all skills in the prompt with a load tool, and what a prompt cache reuses.

Both hosts get the same messages and the same perfect model: it opens the right skill at once whenever it can see its
line. What a real model does with a long list is not measured here.
"""

import json
import random
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

from real_skills import SAMPLE, folder_of
from results import Effort, Figure, Row, single
from selection_pools import draw_library

from skillweave.adapters.messages import openai_style as style
from skillweave.disclose.fit import CountedOnce
from skillweave.injection import Injection
from skillweave.registry import Registry
from skillweave.settings import Settings
from skillweave.skill import Skill
from skillweave.sources.code import InCode
from skillweave.sources.folder import Folder
from skillweave.stores.memory import MemoryStore
from skillweave.tokens.counter import Tiktoken, TokenCounter
from skillweave.weaver import Weaver

REQUESTS = "SKILLWEAVE_REQUESTS"
SIZES = (22, 100, 0)
"""How many skills the libraries have; 0 is all of the sample."""
CONVERSATIONS = {Effort.QUICK: 4, Effort.FULL: 20}
"""Conversations for each size, each in a library of its own where not all skills are in it."""
TOPICS = 4
FOLLOW_UPS = ("Thanks. Please go on.", "And what is still open?")
"""Behind each request of a topic: 12 turns in all."""
ANSWER = "Here is what I found, step by step, with what is still open and what I would do next. " * 6
"""Some 120 tokens, for each answer of the model."""
PROMPT = "You are a helpful assistant. Answer in the language of the user and say what you did."
LOAD = {
    "type": "function",
    "function": {
        "name": "load_skill",
        "description": "Load the full instructions of a skill by its name.",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
}
INTRODUCTION = (
    "You have these skills. When a task fits one of them, call load_skill with its name before you begin.\n\n"
)
LISTED = "list of names"


@dataclass(frozen=True, slots=True)
class Request:
    """A message that was labelled: what was said before, and the ids that are right; none for no skill."""

    message: str
    before: Sequence[str]
    gold: frozenset[str]


@dataclass(slots=True)
class Sent:
    """The tokens of all calls of one conversation, and how many stand at the start of the call before, unchanged.

    `reached` is in how many of its topics the model had the text of a right skill.
    """

    counter: TokenCounter
    calls: int = 0
    tokens: int = 0
    cached: int = 0
    reached: int = 0
    before: Sequence[str] = field(default_factory=tuple)

    def call(self, tools: Sequence[Any], messages: Sequence[Mapping[str, Any]]) -> None:
        """One call of the model; a provider reads tools, system prompt and messages in this order."""
        parts = [json.dumps(tools), *(json.dumps(message, ensure_ascii=False) for message in messages)]
        same = next((n for n, pair in enumerate(zip(self.before, parts, strict=False)) if pair[0] != pair[1]), None)
        shared = min(len(parts), len(self.before)) if same is None else same
        self.calls += 1
        self.tokens += sum(map(self.counter.count, parts))
        self.cached += sum(map(self.counter.count, parts[:shared]))
        if shared < min(len(parts), len(self.before)):
            self.cached += self.counter.count(common(self.before[shared], parts[shared]))
        self.before = parts

    @property
    def fresh(self) -> int:
        """Tokens that no cache could reuse."""
        return self.tokens - self.cached


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Rows for each size; none without the folders that two variables must name."""
    sample, requests = folder_of(SAMPLE), folder_of(REQUESTS)
    if sample is None or requests is None:
        print(f"  left out: {SAMPLE} and {REQUESTS} must name folders", file=sys.stderr)
        return
    registry = Registry([Folder(sample)])
    await registry.refresh()
    skills = tuple(registry.snapshot.values())
    asked = read_requests(requests / "dev.jsonl")
    counter = CountedOnce(Tiktoken())
    for size in SIZES:
        name = f"{size or len(skills):,} skills"
        pairs = [
            [await of_list(*one, counter), await of_skillweave(*one, counter)]
            for one in libraries(skills, asked, size, CONVERSATIONS[effort])
        ]
        for row in rows_of(name, [pair[1] for pair in pairs], [pair[0] for pair in pairs]):
            yield row
        drawn = next(libraries(skills, asked, size, 1))[0]
        async for row in reached(name, drawn, asked, counter):
            yield row


def read_requests(path: Path) -> list[Request]:
    """The labelled messages of a file."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Request(row["message"], row.get("before", ()), frozenset(row["gold"])) for row in rows]


def libraries(
    skills: Sequence[Skill], asked: Sequence[Request], size: int, count: int
) -> Iterator[tuple[Sequence[Skill], Sequence[Request]]]:
    """Seeded pairs of a library and the requests of one conversation, each with a right skill in it."""
    rng = random.Random(size)
    wanted = frozenset[str]().union(*(request.gold for request in asked))
    golden = [place for place, skill in enumerate(skills) if skill.id in wanted]
    for _ in range(count):
        drawn = [skills[n] for n in draw_library(list(range(len(skills))), golden, size, rng)] if size else list(skills)
        here = {skill.id for skill in drawn}
        yield drawn, rng.sample([one for one in asked if one.gold & here and not one.before], TOPICS)


async def of_list(skills: Sequence[Skill], topics: Sequence[Request], counter: TokenCounter) -> Sent:
    """The host that lists: names and descriptions in the system prompt, texts as results of its load tool."""
    known = {skill.id: skill for skill in skills}
    lines = "\n".join(f"- {skill.id}: {skill.description}" for skill in skills)
    chat: list[dict[str, Any]] = [{"role": "system", "content": f"{PROMPT}\n\n{INTRODUCTION}{lines}"}]
    sent = Sent(counter)
    loaded: set[str] = set()
    for request in topics:
        for said in (request.message, *FOLLOW_UPS):
            chat.append({"role": "user", "content": said})
            sent.call([LOAD], chat)
            right = sorted(request.gold & known.keys())
            if not loaded.intersection(right):
                loaded.add(right[0])
                chat += [
                    calling(right[0]),
                    {"role": "tool", "tool_call_id": "1", "content": known[right[0]].text.instructions or ""},
                ]
                sent.call([LOAD], chat)
            chat.append({"role": "assistant", "content": ANSWER})
        sent.reached += bool(loaded & request.gold)
    return sent


async def of_skillweave(skills: Sequence[Skill], topics: Sequence[Request], counter: TokenCounter) -> Sent:
    """skillweave with its defaults in a plain list; the model writes a marker for what it can see and was not given."""
    weaver = weaver_of(skills, counter)
    chat: list[dict[str, Any]] = []
    sent = Sent(counter)
    had: set[str] = set()
    for request in topics:
        for said in (request.message, *FOLLOW_UPS):
            chat.append({"role": "user", "content": said})
            chat, injection = await woven(weaver, chat, sent)
            had.update(injection.skills)
            right = sorted(request.gold & visible(injection))
            if right and not had.intersection(request.gold):
                chat.append({"role": "assistant", "content": f"SKILL_SELECT:{right[0]}"})
                chat, injection = await woven(weaver, chat, sent)
                had.update(injection.skills)
            chat.append({"role": "assistant", "content": ANSWER})
        sent.reached += bool(had & request.gold)
    return sent


async def woven(weaver: Weaver, chat: list[dict[str, Any]], sent: Sent) -> tuple[list[dict[str, Any]], Injection]:
    """One call of the model with what skillweave puts around it, and the chat as it is kept."""
    injection = await weaver.weave(style.turn(chat, conversation="c"))
    kept = style.place(chat, injection)
    prompt = {"role": "system", "content": style.system(PROMPT, injection)}
    sent.call([], [prompt, *style.with_tail(kept, injection)])
    return kept, injection


async def reached(
    name: str, skills: Sequence[Skill], asked: Sequence[Request], counter: TokenCounter
) -> AsyncIterator[Row]:
    """How often the right skill is given at once, and how often the model can at least see its line."""
    weaver = weaver_of(skills, counter)
    here = {skill.id for skill in skills}
    given: list[float] = []
    seen: list[float] = []
    for number, request in enumerate(one for one in asked if one.gold & here):
        said = [{"role": "user", "content": text} for text in (*request.before, request.message)]
        injection = await weaver.weave(style.turn(said, conversation=str(number)))
        given.append(100.0 * bool(request.gold & set(injection.skills)))
        seen.append(max(given[-1], 100.0 * bool(request.gold & visible(injection))))
    job = "the right skill among real ones"
    yield Row(job, f"{name}, given before the model is asked", single(fmean(given), "%"))
    yield Row(job, f"{name}, given or in a line for the model", single(fmean(seen), "%"))


def rows_of(name: str, ours: Sequence[Sent], theirs: Sequence[Sent]) -> Iterator[Row]:
    """What 12 turns take and bring; a list brings every right text, because its model is perfect."""
    job = "12 turns beside a list of names"
    measures: Mapping[str, tuple[Callable[[Sent], float], str]] = {
        "tokens sent": (lambda one: one.tokens, "tokens"),
        "of these not reusable": (lambda one: one.fresh, "tokens"),
        "paid, reused at a tenth": (lambda one: one.fresh + one.cached / 10, "tokens"),
        "calls of the model": (lambda one: one.calls, "calls"),
    }
    for what, (measure, unit) in measures.items():
        of = partial(spread, measure=measure, unit=unit)
        yield Row(job, f"{name}, {what}", of(ours), LISTED, of(theirs))
    for host, found in (("skillweave", ours), (LISTED, theirs)):
        share = spread(found, lambda one: 100 * one.cached / one.tokens, "%")
        yield Row("share of 12 turns that a prompt cache can reuse", f"{name}, {host}", share)
    right = fmean(100 * one.reached / TOPICS for one in ours)
    yield Row("topics of 12 turns with the right text", name, single(right, "%"))


def spread(found: Sequence[Sent], measure: Callable[[Sent], float], unit: str) -> Figure:
    """The median over conversations, with the lowest and the highest."""
    values = [measure(one) for one in found]
    return Figure(median(values), min(values), max(values), unit)


def weaver_of(skills: Sequence[Skill], counter: TokenCounter) -> Weaver:
    """A weaver over these skills with everything left as it comes."""
    return Weaver(Registry([InCode(*skills)]), MemoryStore(), Settings(), counter=counter)


def visible(injection: Injection) -> set[str]:
    """The skills whose line the model can see in this call: in the catalog, or offered at its end."""
    lines = (line for line in injection.catalog.splitlines() if line.startswith("- "))
    return {*injection.offered, *(line[2:].partition(":")[0] for line in lines)}


def calling(skill: str) -> dict[str, Any]:
    """The message in which the model asks for a skill of the list."""
    function = {"name": "load_skill", "arguments": json.dumps({"name": skill})}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}


def common(one: str, other: str) -> str:
    """What both begin with."""
    length = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return one[: min(len(one), len(other)) if length is None else length]
