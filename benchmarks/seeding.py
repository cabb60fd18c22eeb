"""Seeding a store with skills and their documents: how long it takes, what a second run takes, the most memory."""

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

DOCUMENTS = 2
"""Documents of each skill, of which one is text and one is not."""
_WORDS = b"the quick account of a slow order that waits for its invoice "


@dataclass(frozen=True, slots=True)
class Seeding:
    """What two runs of one process took: seconds, the most megabytes that were in memory, and what each changed."""

    first_seconds: float
    again_seconds: float
    peak_megabytes: float
    inserted: int
    unchanged: int


def measured(url: str, skills: int, *, document_bytes: int = 2_000) -> Seeding:
    """Fill the empty store of that URL with so many skills, then do it again, in a fresh process."""
    with TemporaryDirectory() as folder:
        write_skills(Path(folder), skills, document_bytes)
        command = [sys.executable, __file__, url, folder]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return Seeding(**json.loads(answer.stdout))


def write_skills(folder: Path, skills: int, document_bytes: int) -> None:
    """So many folders of skills, each with a text of 2 KB and documents that no other skill has."""
    for number in range(skills):
        for document, name in zip(range(DOCUMENTS), ("references/notes.md", "assets/table.bin"), strict=True):
            path = folder / f"skill-{number:06}" / name
            path.parent.mkdir(parents=True)
            path.write_bytes((f"{number} {document} ".encode() + _WORDS * (document_bytes // 60 + 1))[:document_bytes])
        text = (
            f"---\nname: skill-{number:06}\ndescription: Does thing {number} for whoever asks about {number}.\n---\n\n"
        )
        (folder / f"skill-{number:06}" / "SKILL.md").write_text(
            f"{text}# Thing {number}\n\n{_WORDS.decode() * 32}", encoding="utf-8"
        )


async def _seeded(url: str, folder: str) -> Seeding:
    from skillweave.sources import source_of
    from skillweave_stores.seed import seed

    async with source_of(url) as store:  # type: ignore[attr-defined]
        begin = time.perf_counter()
        first = await seed(store, folder)
        between = time.perf_counter()
        again = await seed(store, folder)
        end = time.perf_counter()
    return Seeding(between - begin, end - between, _peak(), len(first.inserted), len(again.unchanged))


def _peak() -> float:
    """The most megabytes of this program that were in memory; what started it does not count where that is known."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = (line.split() for line in status.read_text(encoding="utf-8").splitlines())
        return next(int(words[1]) for words in lines if words[0] == "VmHWM:") / 1000
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(_seeded(sys.argv[1], sys.argv[2])))))
