"""How much of our own code one message wakes: functions, files and changes of file, beside what they may be.

    .venv/bin/python benchmarks/trips.py            # the table
    .venv/bin/python benchmarks/trips.py --json     # the same figures for a program
    .venv/bin/python benchmarks/trips.py --list weave     # the calls of one trip, file by file

Counted are calls in files of this project: of packages in folders whose names begin with "skillweave". `functions`
and `files` are the distinct ones; `changes` says how often a call is in another file than the call before it.
Comprehensions, lambdas and modules are left out. Only the thread of the event loop is counted: threads run when the
system says so.

- weave: the examples' skills, and a message that gives one of them
- graph turn: the pack `support-triage`, whose graph the message enters
- HTTP turn: a service on a SQLite file, open to everybody, called as ASGI, so that no server is counted
- LangGraph markers: the ready agent, whose model calls one tool and then answers, and in which only markers select
- LangGraph message: the same as it is by default, where the words of the message select too
- Folder.load: a new source on a folder of one SKILL.md; its thread's work is done in place, so that it counts
- SQL source turn: the examples' skills in a SQLite file, whose version is compared, as it is once a second

All but `Folder.load` are the first message of a conversation, after others of its kind.
"""

import argparse
import asyncio
import contextlib
import importlib
import itertools
import json
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, TypeAlias

import skillweave

SKILLS = Path(__file__).parent.parent / "examples" / "skills"
MESSAGE = "Is this invoice from Brandt GmbH right?"
TICKET = "I was charged twice"
TIMES_WARM = 3
COMPARE_SECONDS = 1.05
"""After so long the next turn compares the versions of sources that have one."""

_OURS = re.compile(r"/skillweave[a-z_]*/")

Call: TypeAlias = tuple[str, str]
"""A file and the qualified name of a function in it."""
Message: TypeAlias = Callable[[str], Awaitable[object]]
"""What is measured, in the conversation of that id."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one trip wakes."""

    functions: int
    files: int
    changes: int

    def __str__(self) -> str:
        return f"{self.functions} / {self.files} / {self.changes}"


def figures_of(calls: Sequence[Call]) -> Figures:
    """Returns the counts of a trip's calls."""
    changes = sum(one[0] != after[0] for one, after in itertools.pairwise(calls))
    return Figures(len(set(calls)), len({file for file, _ in calls}), changes)


async def calls_of(trip: Callable[[], Awaitable[object]]) -> list[Call]:
    """Returns the calls of our own functions while the trip runs, in their order."""
    calls: list[Call] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # A comprehension is part of the function that it stands in; a module runs once.
        if event == "call" and not code.co_name.startswith("<") and _is_ours(code.co_filename):
            calls.append((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    try:
        await trip()
    finally:
        sys.setprofile(None)
    return calls


def _is_ours(file: str) -> bool:
    return _OURS.search(file) is not None and "site-packages" not in file


@contextlib.asynccontextmanager
async def weave() -> AsyncIterator[Message]:
    weaver = skillweave.open(SKILLS)
    yield lambda conversation: weaver.weave(MESSAGE, conversation=conversation)
    await weaver.close()


@contextlib.asynccontextmanager
async def graph_turn() -> AsyncIterator[Message]:
    weaver = skillweave.open(packs=["support-triage"])
    yield lambda conversation: weaver.weave(TICKET, conversation=conversation)
    await weaver.close()


@contextlib.asynccontextmanager
async def http_turn() -> AsyncIterator[Message]:
    opening = _first_of("skillweave_server.opening", "skillweave_server.opening")
    application = _first_of("skillweave_server.app", "skillweave_server.app")
    with tempfile.TemporaryDirectory() as folder:
        service = opening.open_service(SKILLS, store=Path(folder, "service.db"), entry=opening.Entry.OPEN)
        app = application.create_app(service)
        async with app.router.lifespan_context(app):
            yield lambda conversation: _posted(app, f"/api/v1/conversations/{conversation}/turns", {"message": MESSAGE})


async def _posted(app: Any, path: str, document: Mapping[str, object]) -> None:  # noqa: ANN401
    """Sends one request to an ASGI application; raises RuntimeError for another answer than 200."""
    body = json.dumps(document).encode()
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 80),
    }
    answered: list[int] = []

    async def receive() -> Mapping[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(part: Mapping[str, Any]) -> None:
        if part["type"] == "http.response.start":
            answered.append(part["status"])

    await app(scope, receive, send)
    if answered != [200]:
        raise RuntimeError(f"POST {path} answers {answered}")


def _first_of(*names: str) -> ModuleType:
    """Returns the first of these modules that there is: parts move to distributions of their own."""
    for name in names[:-1]:
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    return importlib.import_module(names[-1])


@contextlib.asynccontextmanager
async def langgraph_message(matchers: Sequence[str] | None = None) -> AsyncIterator[Message]:
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver

    from skillweave.adapters.langgraph import build_skill_agent

    class Model(GenericFakeChatModel):
        def bind_tools(self, *_: object, **__: object) -> Any:  # noqa: ANN401
            return self

    def look_up(number: str) -> str:
        """Returns the invoice of that number."""
        return f"invoice {number}"

    def replies() -> Iterator[AIMessage]:
        for number in itertools.count():
            call = {"name": "look_up", "args": {"number": "17"}, "id": f"call-{number}"}
            yield AIMessage("", tool_calls=[call])
            yield AIMessage("It is right.")

    weaver = skillweave.open(SKILLS)
    model, memory = Model(messages=replies()), InMemorySaver()
    agent: Any = build_skill_agent(model, weaver, [look_up], matchers=matchers, checkpointer=memory)
    said = {"messages": [{"role": "user", "content": MESSAGE}]}
    yield lambda conversation: agent.ainvoke(said, {"configurable": {"thread_id": conversation}})
    await weaver.close()


@contextlib.asynccontextmanager
async def folder_load() -> AsyncIterator[Message]:
    from skillweave.sources.folder import Folder

    with tempfile.TemporaryDirectory() as parent:
        shutil.copytree(SKILLS / "python-release", Path(parent, "python-release"))

        async def load(_: str) -> object:
            # Called here, not by a thread, which would not be counted.
            return await _stepped(Folder(parent).load())

        yield load


async def _stepped(loading: Awaitable[object]) -> object:
    """Awaits with `asyncio.to_thread` running what it is given in place."""
    in_thread = asyncio.to_thread

    async def in_place(call: Callable[..., object], /, *args: object, **named: object) -> object:
        return call(*args, **named)

    asyncio.to_thread = in_place  # type: ignore[assignment]
    try:
        return await loading
    finally:
        asyncio.to_thread = in_thread


@contextlib.asynccontextmanager
async def sql_source_turn() -> AsyncIterator[Message]:
    from skillweave.sources.folder import Folder

    stored = _first_of("skillweave_stores.sql.skills", "skillweave_stores.sql.skills")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder, 'skills.db')}"
        async with stored.SqlSource(url) as store:
            for skill in (await Folder(SKILLS).load()).skills:
                await store.publish(skill)
        weaver = skillweave.open(url)
        yield lambda conversation: weaver.weave(MESSAGE, conversation=conversation)
        await weaver.close()


TRIPS: Mapping[str, tuple[Callable[[], contextlib.AbstractAsyncContextManager[Message]], Figures]] = {
    "weave": (weave, Figures(120, 25, 90)),
    "graph turn": (graph_turn, Figures(180, 40, 160)),
    "HTTP turn": (http_turn, Figures(190, 45, 170)),
    "LangGraph markers": (partial(langgraph_message, ("explicit",)), Figures(190, 40, 300)),
    "LangGraph message": (langgraph_message, Figures(260, 45, 400)),
    "Folder.load": (folder_load, Figures(80, 13, 55)),
    "SQL source turn": (sql_source_turn, Figures(130, 35, 110)),
}
"""Each trip with what it may wake at the most."""


async def measured(name: str) -> list[Call]:
    """Returns the calls of one trip, made after a few of its kind."""
    opened, _ = TRIPS[name]
    async with opened() as message:
        for number in range(TIMES_WARM):
            await message(f"warm-{number}")
        if opened is sql_source_turn:
            await asyncio.sleep(COMPARE_SECONDS)
        return await calls_of(lambda: message("counted"))


def main() -> None:
    """Prints the figures of the trips, or the calls of one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("trips", nargs="*", help=f"some of: {', '.join(TRIPS)}")
    parser.add_argument("--json", action="store_true", help="figures for a program")
    parser.add_argument("--list", action="store_true", help="the calls of the trips too, in their order")
    given = parser.parse_args()
    found: dict[str, dict[str, object]] = {}
    for name in given.trips or TRIPS:
        calls = asyncio.run(measured(name))
        now, most = figures_of(calls), TRIPS[name][1]
        met = all(one <= limit for one, limit in zip(asdict(now).values(), asdict(most).values(), strict=True))
        found[name] = {"now": asdict(now), "at most": asdict(most), "met": met}
        if given.list:
            _print_calls(calls)
        if not given.json:
            print(f"{name:18} {now!s:>16}   at most {most!s:>16}   {'met' if met else 'NO'}")
    if given.json:
        print(json.dumps(found, indent=2))


def _print_calls(calls: Sequence[Call]) -> None:
    last = ""
    for file, name in calls:
        if file != last:
            last = file
            print(_OURS.split(file)[-1])
        print(f"    {name}")


if __name__ == "__main__":
    main()
