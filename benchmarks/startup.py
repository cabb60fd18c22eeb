"""What `import skillweave` and the command cost over the bare interpreter, each in fresh processes that take turns."""

import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from results import Effort, Figure, Row, Target, figure
from timing import interleaved

BARE = (sys.executable, "-c", "pass")
IMPORT = (sys.executable, "-c", "import skillweave")
OPEN = (sys.executable, "-c", "import skillweave; skillweave.open")
HELP = (str(Path(sys.executable).with_name("skillweave")), "--help")
LIMITS = {"import skillweave": 0.080, "skillweave --help": 0.200}


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Both start-ups beside `python -c pass`; what the target bounds is the difference of the medians."""
    commands = {"python": BARE, "import skillweave": IMPORT, "skillweave.open": OPEN, "skillweave --help": HELP}
    for command in commands.values():
        _run(command)
    rounds = 15 if effort is Effort.QUICK else 31
    batches = {name: _Processes(command) for name, command in commands.items()}
    times = await interleaved(batches, samples=rounds, seconds=60)
    bare = times.pop("python")
    for name, timing in times.items():
        over = Figure(timing.median - bare.median, timing.fastest - bare.median, timing.slowest - bare.median)
        limit = LIMITS.get(name)
        target = Target(f"<{limit * 1000:.0f} ms over", over.median < limit) if limit else None
        yield Row("start-up, over the interpreter", name, over, "python -c pass", figure(bare), target)


class _Processes:
    """A batch of runs of one command."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command

    async def __call__(self, times: int) -> float:
        begin = time.perf_counter()
        for _ in range(times):
            _run(self._command)
        return time.perf_counter() - begin


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[1:])} failed: {done.stderr.strip()[-300:]}")
