"""Large libraries: `match` as a process, building the index of words, and what one changed skill costs after that."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from made import made_skills, write_skill_folders
from memory import resident
from results import Effort, Figure, Row, Target, single

from skillweave.formats.identity import digest_of_bytes
from skillweave.skill import Skill, SkillText

SIZES = {Effort.QUICK: (200, 1_000), Effort.FULL: (200, 1_000, 5_000, 17_000)}
LARGEST = 17_000
BODY_BYTES = 4_000
EXAMPLES = Path(__file__).parents[1] / "examples" / "skills"
SAMPLE = "SKILLWEAVE_SKILLS_SAMPLE"
MESSAGE = "please check this invoice before we pay it"
ROUNDS = {Effort.QUICK: 5, Effort.FULL: 11}


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Processes first, each beside the same one that keeps nothing; then the index in processes of their own."""
    for row in _processes(effort):
        yield row
    for size in SIZES[effort]:
        built, refreshed, loaded, grown = _index_alone(size)
        large = size == LARGEST
        case = f"{size:,} skills"
        anew, job = single(built, "s"), "index of words, processor time"
        yield Row(job, f"{case}, built", anew, target=_below(built, 4, "s", asked=large))
        yield Row(job, f"{case}, one skill changed", single(refreshed, "s"), "built anew", anew)
        yield Row(job, f"{case}, read from disk", single(loaded, "s"), "built anew", anew)
        target = _below(grown, 150, "MB", asked=large)
        yield Row("index of words, memory", f"{case}, resident", single(grown, "MB"), target=target)


def _index_alone(size: int) -> tuple[float, float, float, float]:
    """What `_index` says in a process of its own."""
    answer = subprocess.run([sys.executable, __file__, str(size)], capture_output=True, text=True, check=True)
    built, refreshed, loaded, grown = map(float, answer.stdout.split())
    return built, refreshed, loaded, grown


def _below(value: float, limit: float, unit: str, *, asked: bool) -> Target | None:
    return Target(f"<{limit:g} {unit}", value < limit) if asked else None


def _processes(effort: Effort) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as home:
        folders = {"22 example skills": (EXAMPLES, 0.200)}
        if sample := os.environ.get(SAMPLE):
            folders["the public skills of the sample"] = (Path(sample), 0.400)
        else:
            print(f"{SAMPLE} is not set: `match` over public skills is left out", file=sys.stderr)
        for size in SIZES[effort]:
            folder = Path(home) / f"made{size}"
            write_skill_folders(folder, made_skills(size, body_bytes=BODY_BYTES))
            folders[f"{size:,} made skills"] = (folder, 0.0)
        for number, (case, (folder, limit)) in enumerate(folders.items()):
            command = [sys.executable, "-m", "skillweave", "match", MESSAGE, "--skills", str(folder)]
            kept = [*command, "--cache", str(Path(home) / f"cache{number}")]
            first = _processor_time(kept)
            times: dict[str, list[float]] = {"kept": [], "anew": []}
            for _ in range(ROUNDS[effort]):
                times["anew"].append(_processor_time([*command, "--no-cache"]))
                times["kept"].append(_processor_time(kept))
            ours, anew = (_figure(times[name]) for name in ("kept", "anew"))
            target = Target(f"<{limit * 1000:.0f} ms", ours.median < limit) if limit else None
            job = "match as a process, processor time"
            yield Row(job, f"{case}, unchanged", ours, "--no-cache", anew, target)
            yield Row(job, f"{case}, first time", single(first, "s"), "--no-cache", anew)


def _figure(times: Sequence[float]) -> Figure:
    return Figure(median(times), min(times), max(times))


def _processor_time(command: Sequence[str]) -> float:
    """User and system time of one run."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[1:])} failed: {done.stderr.strip()[-300:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _timed(call: Callable[[], object]) -> tuple[float, object]:
    begin = time.process_time()
    made = call()
    return time.process_time() - begin, made


def _index(size: int) -> tuple[float, float, float, float]:
    """Seconds to build, to index again after one change, and to read from disk; megabytes that the process grew by."""
    from skillweave.cachefile import CacheFolder, key_of
    from skillweave.select.lexical_index import LexicalIndex, build_lexical_index
    from skillweave.select.near_words import NearWords
    from skillweave.select.numbered import TermStore

    skills = [
        Skill(one.name, one.name, one.description, text=SkillText(instructions=one.body), digest=_digest(one.body))
        for one in made_skills(size, body_bytes=BODY_BYTES)
    ]
    build_lexical_index(skills[:50])
    before = resident()
    built, index = _timed(lambda: build_lexical_index(skills))
    grown = resident() - before
    del index
    store = TermStore()
    store.numbered(skills)
    skills[size // 2] = replace(skills[size // 2], description="Something else entirely.", digest=_digest("else"))
    refreshed, _ = _timed(lambda: build_lexical_index(skills, store))
    with tempfile.TemporaryDirectory() as home:
        cache, key = CacheFolder(Path(home), limit=1 << 40), key_of("index")

        def kept() -> LexicalIndex:
            return cache.kept("words", key, LexicalIndex, (NearWords,), lambda: build_lexical_index(skills))

        kept()
        loaded, _ = _timed(kept)
    return built, refreshed, loaded, grown


def _digest(text: str) -> str:
    return digest_of_bytes(text.encode())


if __name__ == "__main__":
    print(*_index(int(sys.argv[1])))
