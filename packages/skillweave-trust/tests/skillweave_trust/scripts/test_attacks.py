"""Scripts that mean harm, against every sandbox that this machine has; one that it has not is skipped by name."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.skillweave_trust.scripts import attacks

from skillweave.manifest import manifest_of
from skillweave_trust.scripts.runners import RUNNERS, Runner
from skillweave_trust.scripts.running import run_staged
from skillweave_trust.scripts.values import Ended, Limits, ScriptAnswer, ScriptRefused

SHORT = Limits(seconds=6)


@pytest.fixture(params=["bubblewrap", "sandlock"])
def runner(request: pytest.FixtureRequest) -> Runner:
    one = RUNNERS[request.param]
    problem = one.problem()
    if problem is not None:
        pytest.skip(problem)
    return one


async def attack(
    runner: Runner, source: str, *arguments: str, limits: Limits = SHORT, more: dict[str, bytes] | None = None
) -> ScriptAnswer:
    files = {"SKILL.md": b"x", "scripts/attack.py": source.encode(), **(more or {})}
    return await run_staged(files, manifest_of(files), "scripts/attack.py", arguments, runner, limits)


def held(answer: ScriptAnswer) -> None:
    assert answer.ended is Ended.BY_ITSELF and answer.exit_code == 0, answer
    assert "ESCAPED" not in answer.stdout, answer.stdout
    assert answer.stdout.strip(), "the attack did not run"


def commands_of_the_machine() -> list[str]:
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()


def wait_until_runs(command: str, *, runs: bool) -> None:
    for _ in range(400):
        if any(command in one for one in commands_of_the_machine()) is runs:
            return
        time.sleep(0.05)
    pytest.fail(f"after 20 s {command!r} {'does not run' if runs else 'still runs'}")


@pytest.fixture
def victim(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setenv("ATTACK_SECRET", "a secret of the user")
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as running:
        yield running.pid
        running.kill()


async def test_a_script_does_its_work_and_the_answer_says_what_it_wrote_and_what_held(runner: Runner) -> None:
    answer = await attack(runner, "import sys; open('out.txt','w').write(sys.argv[1]); print('done')", "hallo")
    assert (answer.stdout, answer.exit_code, answer.ended) == ("done\n", 0, Ended.BY_ITSELF), answer
    assert [(one.path, one.size) for one in answer.written] == [("out.txt", 5)]
    assert {"files", "network", "memory", "time", "processes"} <= set(answer.held)


async def test_the_users_of_the_machine_cannot_be_read(runner: Runner) -> None:
    held(await attack(runner, attacks.READS_PASSWD))


async def test_the_home_folder_cannot_be_listed(runner: Runner) -> None:
    held(await attack(runner, attacks.READS_HOME, str(Path.home())))


async def test_the_environment_and_files_of_the_user_cannot_be_read(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTACK_SECRET", "a secret of the user")
    secret = tmp_path / "secret"
    secret.write_text("a secret of the user")
    held(await attack(runner, attacks.READS_SECRET, str(secret)))


async def test_other_skills_cannot_be_read(runner: Runner, tmp_path: Path) -> None:
    other = tmp_path / "skills" / "other" / "SKILL.md"
    other.parent.mkdir(parents=True)
    other.write_text("a secret of the user")
    held(await attack(runner, attacks.READS_SECRET, str(other)))


async def test_nothing_can_be_written_outside_of_the_one_folder(runner: Runner, tmp_path: Path) -> None:
    held(await attack(runner, attacks.WRITES_OUTSIDE, str(tmp_path)))
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240


async def test_a_script_cannot_change_the_copy_of_the_skill(runner: Runner) -> None:
    held(await attack(runner, attacks.CHANGES_ITSELF))


async def test_no_tcp_connection_can_be_made(runner: Runner) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        held(await attack(runner, attacks.OPENS_TCP, str(listener.getsockname()[1])))


async def test_no_udp_packet_arrives(runner: Runner) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        held(await attack(runner, attacks.SENDS_UDP, str(listener.getsockname()[1])))
        with pytest.raises(BlockingIOError):
            listener.recv(100)


async def test_no_unix_and_no_abstract_socket_of_the_machine_can_be_reached(runner: Runner, tmp_path: Path) -> None:
    name, abstract = str(tmp_path / "socket"), f"skillweave-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as other:
        one.bind(name)
        one.listen()
        other.bind(f"\0{abstract}")
        other.listen()
        held(await attack(runner, attacks.CONNECTS_UNIX, name, abstract))


async def test_forks_without_end_are_ended(runner: Runner) -> None:
    answer = await attack(runner, attacks.FORKS, limits=Limits(seconds=2))
    assert answer.ended in {Ended.PROCESSES, Ended.TIME}


@pytest.mark.parametrize("source", [attacks.EATS_MEMORY, attacks.EATS_IN_CHILDREN], ids=["alone", "in children"])
async def test_memory_above_the_limit_ends_the_run(runner: Runner, source: str) -> None:
    answer = await attack(runner, source, limits=Limits(seconds=10, memory=192 * 1024 * 1024))
    assert answer.ended is Ended.MEMORY or answer.exit_code not in {0, None}, answer


@pytest.mark.parametrize(
    "source",
    [
        attacks.FILLS_DISK,
        attacks.ONE_LARGE_FILE,
        attacks.UNLINKED_FILES,
        attacks.MEMORY_FILES,
        attacks.MANY_FILES,
    ],
    ids=["many large files", "one large file", "deleted while open", "in memory", "many empty files"],
)
async def test_a_full_disk_ends_the_run(runner: Runner, source: str) -> None:
    answer = await attack(runner, source)
    assert answer.ended is Ended.FILES or answer.exit_code not in {0, None}, answer
    assert sum(one.size for one in answer.written) < 400 * 1024 * 1024


async def test_shared_memory_that_no_process_holds_cannot_be_made(runner: Runner) -> None:
    held(await attack(runner, attacks.SHARED_MEMORY))


async def test_folders_in_memory_are_bounded(runner: Runner) -> None:
    held(await attack(runner, attacks.FILLS_SHM))


@pytest.mark.parametrize("source", [attacks.RUNS_FOR_EVER, attacks.IGNORES_SIGTERM], ids=["busy", "ignores SIGTERM"])
async def test_a_run_without_end_is_killed_at_its_time(runner: Runner, source: str) -> None:
    answer = await attack(runner, source, limits=Limits(seconds=0.7))
    assert answer.ended is Ended.TIME


async def test_a_daemon_does_not_outlive_the_run(runner: Runner) -> None:
    answer = await attack(runner, attacks.LEAVES_DAEMON)
    assert answer.stdout == "left\n"
    assert not any("sleep 47.11" in one for one in commands_of_the_machine())


async def test_output_above_the_limit_ends_the_run_and_is_cut(runner: Runner) -> None:
    answer = await attack(runner, attacks.PRINTS)
    assert answer.ended is Ended.OUTPUT
    assert len(answer.stdout) == 64 * 1024


async def test_proc_leads_to_no_process_of_the_machine(runner: Runner, victim: int) -> None:
    held(await attack(runner, attacks.USES_PROC, str(victim)))


async def test_no_namespace_and_no_mount_can_be_made(runner: Runner) -> None:
    held(await attack(runner, attacks.NEW_NAMESPACE))


async def test_links_and_shut_folders_that_a_script_leaves_are_not_followed_and_go(
    runner: Runner, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret of the user")
    answer = await attack(runner, attacks.PLANTS_LINK, str(secret))
    assert answer.stdout == "planted\n"
    assert all(one.path != "answer.txt" for one in answer.written)
    assert secret.read_text() == "a secret of the user"


async def test_what_runs_is_what_was_hashed(runner: Runner) -> None:
    files = {"SKILL.md": b"x", "scripts/attack.py": b"print('approved')"}
    changed = {**files, "scripts/attack.py": b"print('ESCAPED')"}
    with pytest.raises(ScriptRefused, match="is not what was approved"):
        await run_staged(changed, manifest_of(files), "scripts/attack.py", (), runner, SHORT)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("run.sh", "echo hi $1 > out.txt; cat out.txt"),
        ("run.js", "console.log('hi', process.argv[2])"),
        ("run.py", "import sys; print('hi', sys.argv[1])"),
    ],
)
async def test_each_interpreter_of_the_table_runs(runner: Runner, name: str, source: str) -> None:
    if name == "run.js" and shutil.which("node", path="/usr/bin") is None:
        pytest.skip("no Node in /usr/bin")
    files = {"SKILL.md": b"x", f"scripts/{name}": source.encode()}
    answer = await run_staged(files, manifest_of(files), f"scripts/{name}", ("you",), runner, Limits(seconds=20))
    assert (answer.stdout, answer.exit_code) == ("hi you\n", 0), answer


async def test_a_run_that_is_cancelled_leaves_nothing(runner: Runner) -> None:
    task = asyncio.create_task(attack(runner, "import os; os.execv('/usr/bin/sleep', ['sleep', '48.13'])"))
    await asyncio.to_thread(wait_until_runs, "sleep 48.13", runs=True)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any("sleep 48.13" in one for one in commands_of_the_machine())


def test_a_run_dies_with_the_process_that_started_it(runner: Runner, tmp_path: Path) -> None:
    program = tmp_path / "host.py"
    program.write_text(HOST.format(runner=runner.name))
    with subprocess.Popen([sys.executable, str(program)]) as host:
        wait_until_runs("sleep 49.17", runs=True)
        host.kill()
    wait_until_runs("sleep 49.17", runs=False)


HOST = """
import asyncio
from skillweave.manifest import manifest_of
from skillweave_trust.scripts.runners import RUNNERS
from skillweave_trust.scripts.running import run_staged
files = {{"SKILL.md": b"x", "scripts/a.py": b"import os; os.execv('/usr/bin/sleep', ['sleep', '49.17'])"}}
asyncio.run(run_staged(files, manifest_of(files), "scripts/a.py", (), RUNNERS["{runner}"]))
"""
