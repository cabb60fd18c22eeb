"""One run of a script from its files to its answer: staged, started behind barriers, watched, ended."""

import asyncio
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skillweave.manifest import Manifest
from skillweave_trust.scripts.interpreters import interpreter_for
from skillweave_trust.scripts.runners import Runner
from skillweave_trust.scripts.staging import Stage, staged, written_in
from skillweave_trust.scripts.values import Ended, Limits, ScriptAnswer, ScriptRefused, check_arguments
from skillweave_trust.scripts.watching import broken, end_tree, used_by

__all__ = ["run_staged"]

_EVERY, _STEP = 0.02, 0.003
_CHUNK, _MOST_LEFT = 16 * 1024, 64


async def run_staged(
    files: Mapping[str, bytes],
    manifest: Manifest,
    path: str,
    arguments: Sequence[str],
    runner: Runner,
    limits: Limits | None = None,
) -> ScriptAnswer:
    """Runs one script of the files on a fresh copy of them, which has to be what the manifest says.

    A run that is cancelled is killed with everything that it started. Raises ScriptRefused for what is not run.
    """
    given = check_arguments(arguments)
    if path not in files:
        scripts = ", ".join(sorted(one for one in files if one.startswith("scripts/"))[:10]) or "none"
        raise ScriptRefused(f"the skill has no file {path[:100]!r}; its scripts are: {scripts}")
    interpreter, readable = interpreter_for(path)
    problem = await asyncio.to_thread(runner.problem)
    if problem is not None:
        raise ScriptRefused(problem)
    lent = staged(files, manifest)
    stage = await asyncio.to_thread(lent.__enter__)
    try:
        argv = (*interpreter, str(stage.skill / path), *given)
        bounds = limits or Limits()
        command = await asyncio.to_thread(runner.command, stage, argv, readable, bounds)
        return await _run(command, stage, runner, bounds)
    finally:
        await asyncio.shield(asyncio.to_thread(lent.__exit__, None, None, None))


@dataclass(slots=True)
class _Output:
    """What both streams gave until now, up to the limit together; more is read and thrown away."""

    left: int
    full: bool = False
    streams: dict[int, bytearray] = field(default_factory=dict)

    def follow(self, loop: asyncio.AbstractEventLoop, stream: int) -> None:
        """Reads the descriptor from now on, whenever there is something."""
        os.set_blocking(stream, False)
        self.streams[stream] = bytearray()
        loop.add_reader(stream, self._read, loop, stream)

    def text(self, stream: int) -> str:
        """What the descriptor gave."""
        return self.streams[stream].decode("utf-8", "replace")

    def stop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Reads what is still there, then no more: a process that got away may hold the other end."""
        for stream in self.streams:
            for _ in range(_MOST_LEFT):
                if not self._read(loop, stream):
                    break
            loop.remove_reader(stream)

    def _read(self, loop: asyncio.AbstractEventLoop, stream: int) -> bool:
        try:
            data = os.read(stream, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            loop.remove_reader(stream)
            return False
        self.streams[stream] += data[: self.left]
        self.full = self.full or len(data) > self.left
        self.left = max(0, self.left - len(data))
        return True


async def _run(command: Sequence[str], stage: Stage, runner: Runner, limits: Limits) -> ScriptAnswer:
    began = time.monotonic()
    loop, output = asyncio.get_running_loop(), _Output(limits.output)
    # By the loop's own thread: what dies with its parent dies with the thread that started it.
    with subprocess.Popen(  # noqa: ASYNC220, S603 - takes 2 ms; the command is made of a table and checked texts
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.defpath},
        cwd=stage.work,
        start_new_session=True,
    ) as process:
        streams = [one.fileno() for one in (process.stdout, process.stderr) if one is not None]
        for stream in streams:
            output.follow(loop, stream)
        try:
            ended = await _watched(process, output, stage, runner, limits)
        finally:
            reaped = process.returncode is not None
            await asyncio.shield(asyncio.to_thread(end_tree, process.pid, reaped=reaped))
            output.stop(loop)
    stdout, stderr = map(output.text, streams)
    if ended is Ended.BY_ITSELF and output.full:
        ended = Ended.OUTPUT
    return ScriptAnswer(
        runner=runner.name,
        ended=ended,
        exit_code=process.returncode if ended is Ended.BY_ITSELF else None,
        stdout=stdout,
        stderr=stderr,
        seconds=round(time.monotonic() - began, 3),
        written=await asyncio.to_thread(written_in, stage.work),
        held=runner.held,
        not_held=runner.not_held,
    )


async def _watched(
    process: "subprocess.Popen[bytes]", output: _Output, stage: Stage, runner: Runner, limits: Limits
) -> Ended:
    """Waits for the end, and looks at the tree every 20 ms until then."""
    last = time.monotonic() + limits.seconds
    look = time.monotonic() + _EVERY
    while (now := time.monotonic()) < last:
        if process.poll() is not None:
            return Ended.BY_ITSELF
        if output.full:
            return Ended.OUTPUT
        if now >= look:
            use = await asyncio.to_thread(used_by, process.pid, stage.work)
            over = broken(use, limits, runner.own_processes)
            if over is not None:
                return over
            look = time.monotonic() + _EVERY
        await asyncio.sleep(_STEP)
    return Ended.TIME
