"""Runs every example of the documentation and compares what it shows with what really comes out.

Run it as `python -m docs.tools.run [--write] [PAGE ...]`; without a page it runs all.

A page gets a folder of its own with the example skills in `skills`, and its blocks are steps in their order:

- `console`: every line that begins with `$ ` is a command; what follows must be its output. `skillweave` and `python`
  run in this process, what would install something is only shown, everything else goes to a shell.
- `python`: runs, all blocks of a page in one namespace; what it prints stands in a `text` block titled `Output` behind.
- a block whose title is a path: a file, written before the next step.
- `json`, `yaml`, `toml`: must be such.
- `sql`: runs in the page's database; its rows, if it has any, stand in a `text` block titled `Output` behind it.
- `db.example:5432` and `kv.example:6379` are a real PostgreSQL, with the database `skills` of a user `weaver`, and a
  real Redis.
- `localhost:8321` is a real service with the example skills, in a page that shows `skillweave.client`.
- clients of OpenAI and Anthropic, and of a model at `http://localhost:8080`, reach a script that answers in its place.
- an image whose file one of these steps wrote too: both must be the same.

A line `...` in an output stands for any lines. With `--write` outputs that differ are replaced by the real ones.
"""

import io
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

from docs.tools.page import OUTPUT, Block, Page
from docs.tools.provider import LOCAL, scripted_provider
from docs.tools.servers import DATABASE, POSTGRES, USER, real_servers, table_of
from docs.tools.service import real_service
from skillweave import Weaver

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SKILLS = ROOT / "examples" / "skills"
sys.path.append(str(ROOT / "examples"))  # the pages import `scripted` from there
SHOWN_ONLY = ("pip", "make", "uv", "git", "source", "npm", "docker")
"""Commands that change the machine or need a network."""

_CHANGING = (
    (re.compile(r"\b[0-9a-f]{32}\b|(?<=-)[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| UTC|\+00:00)?"), "TIME"),
    (re.compile(r"\b\d+\.\d\d? ms\b"), "A WHILE"),
    (re.compile(r"\b(PostgreSQL|Redis|SQLite) \d[\d.]*"), r"\1 VERSION"),
    (re.compile(r"\bin use: \d+ of \d+"), "CONNECTIONS"),
)
_BROKEN = re.compile(r"\n {17}(?=\S)")
"""Where a line of an entry goes on, which what changes may move."""
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=")
_CLIENT = re.compile(rf"{re.escape(LOCAL)}|(?:OpenAI|Anthropic)\w*\(")
"""What in a page calls for a provider."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """An output or picture that is not the shown one; with `correction` from `start` to `end` of the text it would be.

    `page` is the file to be corrected: the page itself, or a picture in it.
    """

    page: Path
    line: int
    what: str
    shown: str
    real: str
    start: int
    end: int
    correction: str

    def __str__(self) -> str:
        place = f"{self.page}:{self.line}: {self.what}"
        return f"{place}\n--- the page shows\n{self.shown}\n--- it really gives\n{self.real}"


@dataclass(slots=True)
class _Run:
    page: Page
    addresses: Mapping[str, str]
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    wrong: list[Wrong] = field(default_factory=list)

    def steps(self) -> None:
        blocks = self.page.blocks
        for block, following in zip_longest(blocks, blocks[1:]):
            if block.title == OUTPUT:
                continue
            if block.title and _is_path(block.title):
                path = Path(block.title)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self._reachable(block.body), encoding="utf-8")
            elif block.language == "console":
                self._session(block)
            elif block.language == "python":
                self._python(block, following)
            elif block.language == "sql":
                self._sql(block, following)
            else:
                _require_valid(block, self.page.path)

    @contextmanager
    def ended(self) -> Iterator[None]:
        """Close at the end what the page has opened, as its reader's process would by ending."""
        try:
            yield
        finally:
            for value in self.namespace.values():
                if isinstance(value, Weaver):
                    value.sync.close()

    def pictures(self) -> None:
        """The images that the steps wrote too."""
        for target in self.page.images:
            shown, made = (self.page.path.parent / target).resolve(), Path(Path(target).name)
            if not made.is_file():
                continue
            real = made.read_text(encoding="utf-8")
            text = shown.read_text(encoding="utf-8") if shown.is_file() else ""
            if text != real:
                what = f"the picture that {self.page.path.name} makes"
                self.wrong.append(Wrong(shown, 1, what, "another one", "what it draws now", 0, len(text), real))

    def _session(self, block: Block) -> None:
        for command, shown, start, end in _commands(block):
            if command.split()[0] not in SHOWN_ONLY:
                real = self._as_shown(run_command(self._reachable(command)))
                self._compare(block, command, shown, real, start, end)

    def _python(self, block: Block, following: Block | None) -> None:
        source = "\n" * block.line + self._reachable(block.body)
        real, _ = _printed(lambda: exec(compile(source, str(self.page.path), "exec"), self.namespace))  # noqa: S102
        self._answered(block, following, self._as_shown(real))

    def _sql(self, block: Block, following: Block | None) -> None:
        real = table_of(f"postgresql://{USER}@{self.addresses[POSTGRES]}/{DATABASE}", block.body)
        self._answered(block, following, real)

    def _answered(self, block: Block, following: Block | None, real: str) -> None:
        if following is not None and following.title == OUTPUT:
            self._compare(block, "this block", following.body, real, following.start, following.end)
        elif real:
            message = f"this block prints; show it in a `text` block titled {OUTPUT} after it"
            added = f'\n\n```text title="{OUTPUT}"\n{real.rstrip()}\n```'
            place = block.after
            self.wrong.append(Wrong(self.page.path, block.line, message, "", real.rstrip(), place, place, added))

    def _reachable(self, source: str) -> str:
        for shown, real in self.addresses.items():
            source = source.replace(shown, real)
        return source

    def _as_shown(self, output: str) -> str:
        for shown, real in self.addresses.items():
            output = output.replace(real, shown)
        return output

    def _compare(self, block: Block, what: str, shown: str, real: str, start: int, end: int) -> None:
        if agrees(shown, real):
            return
        real = real.strip("\n")
        gap = "\n\n" if self.page.text.startswith("$ ", end) else "\n"
        correction = f"{indent(real, block.indent)}{gap}" if real else ""
        self.wrong.append(Wrong(self.page.path, block.line, what, shown.rstrip(), real, start, end, correction))


def run_page(path: Path) -> list[Wrong]:
    """Run a page in a new folder; what its outputs show wrongly. A Python block that raises ends the page so."""
    page = Page(path)
    with (
        scripted_provider() if _CLIENT.search(page.text) else nullcontext(LOCAL) as address,
        real_servers(page.text) as servers,
        real_service(page.text, SKILLS) as service,
    ):
        run = _Run(page, {LOCAL: address, **servers, **service})
        with _folder(), _environment(_keys(address)), run.ended():
            run.steps()
            run.pictures()
    return run.wrong


def run_command(command: str) -> str:
    """What a command prints, errors after the rest."""
    environment, words = _split(command)
    with _environment({"COLUMNS": "80", "NO_COLOR": "1", **environment}):
        if words[0] == "skillweave":
            from skillweave.cli.entry import run

            return "".join(_printed(lambda: run(words[1:])))
        if words[0] == "python" and len(words) > 1 and words[1].endswith(".py"):
            return "".join(_printed(lambda: _script(words[1])))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        done = subprocess.run(  # noqa: S602 - the commands of our own pages
            command, shell=True, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
        )
        return done.stdout + done.stderr


def agrees(shown: str, real: str) -> bool:
    """Whether an output is the shown one but for ids and times, and for what `...` leaves out."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.$", settled(shown), flags=re.MULTILINE)]
    return re.fullmatch("(?s:.*?)".join(parts), settled(real)) is not None


def settled(output: str) -> str:
    """The output without what changes from run to run: ids, times, versions of servers, `0.42 ms`, breaks of lines."""
    output = _BROKEN.sub(" ", output)
    for pattern, word in _CHANGING:
        output = pattern.sub(word, output)
    return "\n".join(line.rstrip() for line in output.strip().splitlines())


def write(wrong: Sequence[Wrong]) -> None:
    """Put the real outputs into the page, and the real pictures beside it."""
    for path in dict.fromkeys(one.page for one in wrong):
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for one in sorted((one for one in wrong if one.page == path), key=lambda one: -one.start):
            text = f"{text[: one.start]}{one.correction}{text[one.end :]}"
        path.write_text(text, encoding="utf-8")


def pages() -> list[Path]:
    """Every page of the documentation."""
    return sorted(DOCS.rglob("*.md"))


def main(arguments: Sequence[str]) -> int:
    """Run the named pages, or all."""
    names = [argument for argument in arguments if argument != "--write"]
    failed = 0
    for path in [Path(name).resolve() for name in names] or pages():
        try:
            wrong = run_page(path)
        except Exception:  # noqa: BLE001 - whatever an example raises is shown with its place, and the next page runs
            failed += 1
            print(f"{path}: an example failed\n{traceback.format_exc(limit=-3)}")
            continue
        failed += bool(wrong)
        for one in wrong:
            print(one, end="\n\n")
        if wrong and "--write" in arguments:
            write(wrong)
    return 1 if failed else 0


def _commands(block: Block) -> Iterator[tuple[str, str, int, int]]:
    """Each command with the output shown for it, and where that stands in the page's text."""
    if block.indent:
        raise ValueError(f"line {block.line}: a console block stands at the left margin")
    starts = [match.start() for match in re.finditer(r"^\$ ", block.body, re.MULTILINE)]
    for start, end in zip(starts, [*starts[1:], len(block.body)], strict=True):
        lines = block.body[start:end].splitlines(keepends=True)
        count = 1
        while lines[count - 1].rstrip().endswith("\\"):
            count += 1
        command = "".join(lines[:count]).removeprefix("$ ").replace("\\\n", " ").strip()
        output = block.start + start + len("".join(lines[:count]))
        shown = "".join(lines[count:])
        blank = len(shown) - len(shown.rstrip("\n")) - 1 if shown.strip() else 0
        yield command, shown, output, block.start + end - max(0, blank)


def _split(command: str) -> tuple[dict[str, str], list[str]]:
    words = shlex.split(command)
    environment: dict[str, str] = {}
    while words and _ASSIGNMENT.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if any(word in ("|", ">", "<", "&&", ";") for word in words):
        return environment, ["sh"]
    return environment, words


def _script(path: str) -> None:
    """Run a file as `python` does, with its folder on the path, and forget what it imported from there."""
    folder = str(Path.cwd())
    known = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        runpy.run_path(path, run_name="__main__")
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(folder):
                del sys.modules[name]


def _printed(work: Callable[[], object]) -> tuple[str, str]:
    """What is written to standard output and to standard error meanwhile."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        work()
    return out.getvalue(), err.getvalue()


def _is_path(title: str) -> bool:
    return "/" in title or (" " not in title and "." in title)


def _require_valid(block: Block, page: Path) -> None:
    readers = {"json": json.loads, "yaml": yaml.safe_load, "toml": tomllib.loads}
    if block.language in readers:
        try:
            readers[block.language](block.body)
        except ValueError as error:
            raise ValueError(f"{page}:{block.line}: this is not {block.language}: {error}") from error


def _keys(address: str) -> dict[str, str]:
    """The variables by which the providers' clients know where to ask, and with which key."""
    openai = {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "none"}
    return {**openai, "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none"}


@contextmanager
def _folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SKILLS, Path(folder) / "skills")
        os.chdir(folder)
        try:
            with _environment({name: None for name in os.environ if name.startswith("SKILLWEAVE_")}):
                yield
        finally:
            os.chdir(before)


@contextmanager
def _environment(values: Mapping[str, str | None]) -> Iterator[None]:
    """The variables set, or taken away for None."""
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
