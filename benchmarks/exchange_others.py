"""Gateways of others that only pass a request on, and what a process uses of the processor.

Each stands in an environment of its own, and is left out where its variable names nothing:
`SKILLWEAVE_LITELLM` the command `litellm` (`pip install 'litellm[proxy]'`), `SKILLWEAVE_PORTKEY` the file
`start-server.js` (`npm install @portkey-ai/gateway`).
"""

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

from service import _answers, free_port

LITELLM, PORTKEY = "SKILLWEAVE_LITELLM", "SKILLWEAVE_PORTKEY"
START_SECONDS = 180
_CONFIG = """
model_list:
  - model_name: m
    litellm_params: {{model: openai/m, api_base: "http://127.0.0.1:{upstream}/v1", api_key: none}}
litellm_settings: {{telemetry: false}}
general_settings: {{master_key: {key}}}
"""


@dataclass(frozen=True, slots=True)
class Hop:
    """A process between client and model: its base URL, the headers that it needs, its id."""

    url: str
    process: int
    headers: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def hop(command: Callable[[int], Sequence[str]], ready: str, path: str, **headers: str) -> Iterator[Hop]:
    """The process of a command that gets a port, as soon as `ready` answers; its base URL ends with `path`."""
    port = free_port()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command(port), stdout=said, stderr=said, stdin=subprocess.DEVNULL)
        try:
            end = time.monotonic() + START_SECONDS
            while not _answers(port, ready):
                if process.poll() is not None or time.monotonic() > end:
                    said.seek(0)
                    raise SystemExit(f"{command(port)[0]} does not start: {said.read()[-1000:]}")
                time.sleep(0.1)
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            yield Hop(f"http://127.0.0.1:{port}{path}", process.pid, named)
        finally:
            process.terminate()
            process.wait(30)


@contextlib.contextmanager
def others(upstream: int) -> Iterator[Mapping[str, Hop]]:
    """Those that are installed, before the upstream at this port."""
    with contextlib.ExitStack() as stack:
        found = {}
        if command := os.environ.get(LITELLM):
            config = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "litellm.yaml"
            key = f"sk-{token_hex(32)}"  # it starts with one alone
            config.write_text(_CONFIG.format(upstream=upstream, key=key))
            given = [command, "--config", str(config), "--host", "127.0.0.1", "--port"]
            served = hop(lambda port: [*given, str(port)], "/health/liveliness", "/v1", authorization=f"Bearer {key}")
            found["litellm"] = stack.enter_context(served)
        if script := os.environ.get(PORTKEY):
            headers = {"x_portkey_provider": "openai", "x_portkey_custom_host": f"http://127.0.0.1:{upstream}/v1"}
            served = hop(lambda port: ["node", script, f"--port={port}", "--headless"], "/", "/v1", **headers)
            found["portkey"] = stack.enter_context(served)
        yield found


def processor_seconds(process: int) -> float:
    """What a process and those that it started have used of the processor; 0 is this process alone."""
    if not process:
        return time.process_time()
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return used + sum(processor_seconds(int(one)) for one in children)
