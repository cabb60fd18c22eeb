"""Reading folders of SKILL.md files: cold with a new source object, and again when nothing changed (spec 11).

The files are in the page cache in every case: this is the time of the software, not of the disk.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from made import Made, made_skills, write_skill_folders
from memory import resident, traced, tracing
from results import Effort, Figure, Row, Target, figure, single
from timing import Batch, awaited, interleaved

if TYPE_CHECKING:
    from skillweave.registry import Registry

Loader: TypeAlias = Callable[[Path], Awaitable[object]]
"""Reads all skills below a folder with nothing remembered from before, and gives whatever holds them."""

SMALL, LARGE = 1_200, 5_500
"""Bytes of body: with their front matter, files of about 1.7 and 6 KB."""
SIZES = {
    Effort.QUICK: ((200, SMALL), (1_000, SMALL)),
    Effort.FULL: ((1_000, SMALL), (1_000, LARGE), (10_000, SMALL)),
}
LONGEST_LOAD = 25.0
"""Seconds; who would need more for one load of a folder is not measured on it."""


async def with_skillweave(root: Path) -> object:
    from skillweave.registry import Registry
    from skillweave.sources.folder import Folder

    registry = Registry([Folder(root)])
    await registry.refresh()
    return registry


async def with_deepagents(root: Path) -> object:
    from deepagents.backends.filesystem import FilesystemBackend
    from deepagents.middleware.skills import SkillsMiddleware

    backend = FilesystemBackend(root_dir=str(root.parent), virtual_mode=False)
    middleware: Any = SkillsMiddleware(backend=backend, sources=[str(root)])
    return middleware.before_agent({}, None, {})


async def with_agent_framework(root: Path) -> object:
    from agent_framework import FileSkillsSource, SkillsSourceContext

    nobody: Any = None
    return await FileSkillsSource(root).get_skills(SkillsSourceContext(agent=nobody))


async def with_agentskills_fs(root: Path) -> object:
    from agentskills_core import SkillRegistry
    from agentskills_fs import LocalFileSystemSkillProvider

    registry = SkillRegistry()
    await registry.register_all(LocalFileSystemSkillProvider(root))
    return registry


async def with_skills_ref(root: Path) -> object:
    from skills_ref import read_properties

    return [read_properties(folder) for folder in _folders(root)]


LOADERS: Mapping[str, tuple[str, Loader]] = {
    "skillweave": ("skillweave", with_skillweave),
    "deepagents": ("deepagents", with_deepagents),
    "agent-framework": ("agent_framework", with_agent_framework),
    "agentskills-fs": ("agentskills_fs", with_agentskills_fs),
    "skills-ref": ("skills_ref", with_skills_ref),
}
"""By package: what is imported, and its loader."""


def installed() -> dict[str, Loader]:
    """The loaders whose package is here; agentskills-fs needs Python 3.12."""
    return {name: loader for name, (module, loader) in LOADERS.items() if find_spec(module)}


def _folders(root: Path) -> list[Path]:
    return list(root.iterdir())


def _kilobytes(root: Path) -> float:
    files = list(root.glob("*/SKILL.md"))
    return sum(file.stat().st_size for file in files) / len(files) / 1000


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Cold and warm loads at growing sizes, then the memory that the loaded skills take."""
    loaders = installed()
    for missing in LOADERS.keys() - loaders.keys():
        print(f"  {missing} is not installed for this Python and is left out", file=sys.stderr)
    await check(loaders)
    sizes = SIZES[effort]
    per_file: dict[str, float] = {}
    for count, body in sizes:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "skills")
            write_skill_folders(root, made_skills(count, body_bytes=body))
            files = f"{count:,} files of {_kilobytes(root):.1f} KB"
            running = {
                name: loader for name, loader in loaders.items() if per_file.get(name, 0.0) * count < LONGEST_LOAD
            }
            async for row in _timed(running, root, files, count, 3 if effort is Effort.QUICK else 7):
                yield row
                if row.theirs is not None:
                    per_file[row.rival] = row.theirs.median
            if (count, body) == sizes[-1]:
                for row in _memory(running, root, files):
                    yield row


async def _timed(loaders: Mapping[str, Loader], root: Path, files: str, count: int, samples: int) -> AsyncIterator[Row]:
    from skillweave.registry import Registry
    from skillweave.sources.folder import Folder

    await asyncio.sleep(0.1)  # files that are younger than the clock's tick would be read again
    registry = Registry([Folder(root)])
    await registry.refresh()
    batches: dict[str, Batch] = {name: awaited(_cold(loader, root)) for name, loader in loaders.items()}
    batches["refresh"] = awaited(registry.refresh)
    batches["edit"] = _edits(registry, _folders(root)[0] / "SKILL.md")
    times = await interleaved(batches, samples=samples, seconds=12.0)
    ours, refreshed = figure(times.pop("skillweave"), count), figure(times.pop("refresh"), count)
    yield Row("load again, one file edited", f"all {files}", figure(times.pop("edit")))
    for name, timing in times.items():
        theirs = figure(timing, count)
        faster = Target("faster", theirs.median > ours.median)
        yield Row("load, cold", f"per file, {files}", ours, name, theirs, faster)
    for name, timing in times.items():
        theirs = figure(timing, count)
        again = Target("20x", theirs.median >= 20 * refreshed.median)
        yield Row("load again, unchanged", f"per file, {files}", refreshed, name, theirs, again)


def _edits(registry: "Registry", file: Path) -> Batch:
    """Refreshes of a registry, one line more in one file before each; the writing is not timed."""

    async def batch(times: int) -> float:
        seconds = 0.0
        for _ in range(times):
            with file.open("a", encoding="utf-8") as written:
                written.write("One more line.\n")
            begin = time.perf_counter()
            changes = await registry.refresh()
            seconds += time.perf_counter() - begin
            if changes.changed != (file.parent.name,):
                raise SystemExit(f"refresh does not see the edit of {file.parent.name}: {changes}")
        return seconds

    return batch


def _cold(loader: Loader, root: Path) -> Callable[[], Awaitable[object]]:
    return lambda: loader(root)


async def check(loaders: Mapping[str, Loader]) -> None:
    """That every loader finds every skill of a small folder with its description, and ours notices a change."""
    skills = made_skills(20, body_bytes=SMALL)
    expected = {skill.name: skill.description for skill in skills}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "skills")
        write_skill_folders(root, skills)
        for name, loader in loaders.items():
            found = await _descriptions(name, await loader(root))
            if found != expected:
                raise SystemExit(f"{name} did not load what was written: {len(found)} of {len(expected)} skills")
        await _check_refresh(root, skills[0])


async def _check_refresh(root: Path, skill: Made) -> None:
    from skillweave.registry import Registry
    from skillweave.sources.folder import Folder

    registry = Registry([Folder(root)])
    await registry.refresh()
    if await registry.refresh():
        raise SystemExit("refresh reports a change where there is none")
    file = root / skill.name / "SKILL.md"
    file.write_text(file.read_text(encoding="utf-8") + "One more line.\n", encoding="utf-8")
    if (await registry.refresh()).changed != (skill.name,):
        raise SystemExit("refresh does not see a changed file")


async def _descriptions(name: str, loaded: Any) -> dict[str, str]:  # noqa: ANN401 - five packages, five shapes
    if name == "skillweave":
        return {skill.id: skill.description for skill in loaded.snapshot.values()}
    if name == "deepagents":
        return {skill["name"]: skill["description"] for skill in loaded["skills_metadata"]}
    if name == "agent-framework":
        return {skill.frontmatter.name: skill.frontmatter.description for skill in loaded}
    if name == "agentskills-fs":
        metadata = [await skill.get_metadata() for skill in loaded.list_skills()]
        return {entry["name"]: entry["description"] for entry in metadata}
    return {skill.name: skill.description for skill in loaded}


def _memory(loaders: Mapping[str, Loader], root: Path, files: str) -> list[Row]:
    grown = {name: _grown(name, root) for name in loaders}
    ours = grown.pop("skillweave")
    rows = [Row("memory", f"{files}, loaded", ours, name, theirs) for name, theirs in grown.items()]
    return [*rows, Row("memory", f"{files}, ready to select (resident)", _grown("index", root))]


def _grown(name: str, root: Path) -> Figure:
    """How much a fresh process holds after loading that folder, its imports and a first small load not counted."""
    command = [sys.executable, __file__, name, str(root)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return single(json.loads(answer.stdout), "MB")


async def _growth(name: str, root: Path) -> float:
    """Megabytes of live Python objects; for the index, which is half native, what the process grew by."""
    loader, held = (_ready, resident) if name == "index" else (LOADERS[name][1], traced)
    with tempfile.TemporaryDirectory() as folder:
        write_skill_folders(Path(folder, "skills"), made_skills(20, body_bytes=SMALL))
        await loader(Path(folder, "skills"))
    if held is traced:
        tracing()
    before = held()
    kept = await loader(root)
    grown = held() - before
    del kept
    return grown


async def _ready(root: Path) -> object:
    from skillweave.registry import Registry
    from skillweave.select.index import build_index
    from skillweave.sources.folder import Folder

    registry = Registry([Folder(root)])
    await registry.refresh()
    index = build_index(registry.snapshot)
    index.lexical()
    return registry, index


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_growth(sys.argv[1], Path(sys.argv[2])))))
