"""What a provider's prompt cache could find again of a conversation's calls, in each framework and without one.

    .venv/bin/python benchmarks/prefix.py

The same conversation of seven messages goes through the real client classes to a server on this machine that keeps
what it is sent: once with skills, once with the bare framework. Nothing here is timed.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.adapters.recording.agents import FRAMEWORKS, Made
from tests.adapters.recording.plain_agent import PLAIN
from tests.adapters.recording.play import play
from tests.adapters.recording.prefix import Share, share

HEAD = ("host", "calls", "bytes", "found again", "begun anew", "bare: bytes", "found again", "begun anew")


async def _share(made: Made, *, skills: bool) -> Share:
    with tempfile.TemporaryDirectory() as folder:
        played = await play(made, Path(folder), skills=skills)
    if played.refusals:
        raise SystemExit(f"the provider refused: {played.refusals[0]}")
    return share(played.calls)


async def main() -> None:
    """Print the table as Markdown."""
    print(f"| {' | '.join(HEAD)} |")
    print(f"|---|{'---:|' * (len(HEAD) - 1)}")
    for name, made in {**PLAIN, **FRAMEWORKS}.items():
        ours, bare = await _share(made, skills=True), await _share(made, skills=False)
        cells = [f"{one.sent:,} | {one.percent:.0f}% | {len(one.breaks)}" for one in (ours, bare)]
        print(f"| {name} | {ours.calls} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
