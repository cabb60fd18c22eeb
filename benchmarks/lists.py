"""Doubling series of every list of a turn, from 1,000 to 64,000 members: processor time of one turn and of one verdict.

    .venv/bin/python benchmarks/lists.py            # all fields, up to 64,000
    .venv/bin/python benchmarks/lists.py --to 8000

The limits are lifted for it, so that the growth is seen beyond them; the last column says which size is the
largest that a turn takes.
"""

import argparse
import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import skillweave
from skillweave import Message, Role, ToolResult, Turn, conversation
from skillweave.tools import ToolLimits
from skillweave.turns import Read

ASKED = "Is this invoice from Brandt GmbH right?"
LIMITS = {one.name: one.metadata["most"] for cls in (ToolLimits, Turn) for one in fields(cls) if "most" in one.metadata}


def cases(n: int) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yields the name of each case, the list that it fills with `n` members, and the fields of its turn."""
    names = tuple(f"tool_{i}" for i in range(n))
    patterns = tuple(f"Bash(cmd{i}:*)" for i in range(n))
    others = tuple(f"Bash(run{i}:*)" for i in range(n))
    stars = tuple(f"mcp__s{i}__*" for i in range(n))
    paths = tuple(f"Edit(path=/srv/{i}/:*)" for i in range(n))
    yield "reads of sections", "reads", {"reads": tuple(Read("invoice-checking", f"s{i}") for i in range(n))}
    yield "reads of documents", "reads", {"reads": tuple(Read("invoice-checking", None, f"{i}.md") for i in range(n))}
    yield "named", "named", {"named": tuple(f"skill-{i}" for i in range(n))}
    yield "results", "results", {"results": tuple(ToolResult(f"tool_{i}", "ok") for i in range(n))}
    yield "memory", "memory", {"memory": {f"key{i}": i for i in range(n)}}
    yield "transcript", "transcript", {"transcript": tuple(Message(Role.USER, f"message {i}") for i in range(n))}
    yield "parts of a message", "content", {"transcript": (Message(Role.USER, tuple(map(str, range(n)))),)}
    marked = " ".join(f"SKILL_SELECT:skill-{i}" for i in range(n))
    yield "markers", "", {"message": Message(Role.ASSISTANT, marked)}
    yield "tools", "tools", {"tools": names}
    yield "patterns of one tool", "tools", {"tools": patterns}
    for kind, tools, allowed in (
        ("names, the same", names, names),
        ("names, stars", names, stars),
        ("stars, other stars", stars, tuple(f"mcp__t{i}__*" for i in range(n))),
        ("patterns, others", patterns, others),
        ("paths, others", paths, tuple(f"Edit(path=/var/{i}/:*)" for i in range(n))),
    ):
        yield f"tools and allowed: {kind}", "allowed", {"tools": tools, "limits": ToolLimits(allowed=allowed)}
    yield "forbidden", "forbidden", {"tools": names, "limits": ToolLimits(forbidden=names)}
    yield "forbidden patterns", "forbidden", {"limits": ToolLimits(forbidden=patterns)}
    yield "asks", "asks", {"limits": ToolLimits(asks=dict.fromkeys(patterns, ("check",)))}
    yield "closed skills", "closed_skills", {"limits": ToolLimits(closed_skills=names)}


async def main() -> None:
    """Print a row for each case and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, default=64_000, help="the largest size")
    largest = parser.parse_args().to
    weaver = skillweave.open("examples/skills")
    await weaver.weave(ASKED, conversation="warm")
    # The limits stand between us and the sizes that are to be seen.
    conversation.require_few = lambda *_: None  # type: ignore[assignment]
    print(f"{'case':42} {'members':>8} {'turn, ms':>9} {'verdict, ms':>12} {'limit':>8}")
    size = 1_000
    while size <= largest:
        for name, part, given in cases(size):
            turn = Turn(f"t{size}", f"{name} {size}", **{"message": Message(Role.USER, ASKED), **given})
            begin = time.process_time()
            injection = await weaver.weave(turn)
            woven = time.process_time()
            await weaver.authorize(injection, "Bash", {"command": "run5 a"}, host_tools=turn.tools, limits=turn.limits)
            judged = time.process_time()
            limit = f"{LIMITS[part]:,}" if part in LIMITS else "-"
            print(
                f"{name:42} {size:8,} {(woven - begin) * 1e3:9.1f} {(judged - woven) * 1e3:12.1f} {limit:>8}",
                flush=True,
            )
        size *= 2
    await weaver.close()


if __name__ == "__main__":
    asyncio.run(main())
