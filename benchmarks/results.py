"""What was measured, as rows of one table and as JSON."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from timing import Timing

RESULTS = Path(__file__).parent / "results" / "latest.json"
TABLES = Path(__file__).parent / "last_run.txt"
MARK = "## Last full run"
PACKAGES = (
    "skillweave",
    "deepagents",
    "agent-framework-core",
    "langchain",
    "langgraph",
    "openai-agents",
    "pydantic-ai-slim",
    "agentskills-fs",
    "skills-ref",
    "ahocorasick-rs",
    "numpy",
    "pyyaml",
    "tiktoken",
)


_DIGITS = {"%": 1, "a turn": 2}
"""Decimals shown, by unit; none for others."""


class Effort(Enum):
    """How much is measured: sizes and rounds for a look, or for the record."""

    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity, such as `s`, `MB`, `B`, `tokens` or `%`; the lowest is the `fastest` whatever it is."""

    median: float
    fastest: float
    slowest: float
    unit: str = "s"

    def __str__(self) -> str:
        if self.unit == "s":
            return f"{_seconds(self.median)} ({_seconds(self.fastest)}-{_seconds(self.slowest)})"
        low, middle, high = (
            f"{value:,.{_DIGITS.get(self.unit, 0)}f}" for value in (self.fastest, self.median, self.slowest)
        )
        return f"{middle} {self.unit}" if low == high else f"{middle} {self.unit} ({low}-{high})"


@dataclass(frozen=True, slots=True)
class Target:
    """What the specification asks for, and whether it holds."""

    says: str
    met: bool


@dataclass(frozen=True, slots=True)
class Row:
    """skillweave beside one rival on the same work; `rival` is empty where there is none."""

    job: str
    case: str
    ours: Figure
    rival: str = ""
    theirs: Figure | None = None
    target: Target | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the rival's figure is ours; above 1 skillweave is better."""
        return self.theirs.median / self.ours.median if self.theirs and self.ours.median else None

    def cells(self) -> tuple[str, ...]:
        """The row as text, without the job."""
        return (
            self.case,
            str(self.ours),
            self.rival,
            str(self.theirs or ""),
            _times(self.ratio),
            self.target.says if self.target else "",
            "" if self.target is None else "yes" if self.target.met else "NO",
        )


HEAD = ("case", "skillweave", "against", "its figure", "ratio", "target", "met")


def figure(timing: Timing, per: int = 1, unit: str = "s") -> Figure:
    """The seconds (or what `unit` says) for one of `per` pieces of work that were measured together."""
    return Figure(timing.median / per, timing.fastest / per, timing.slowest / per, unit)


def single(value: float, unit: str) -> Figure:
    """A quantity that was measured once."""
    return Figure(value, value, value, unit)


def tables(rows: Sequence[Row]) -> str:
    """A Markdown table for each job, aligned for reading as plain text; times are medians (fastest-slowest)."""
    jobs = dict.fromkeys(row.job for row in rows)
    return "\n\n".join(f"### {job}\n\n{_table([row for row in rows if row.job == job])}" for job in jobs)


def _table(rows: Sequence[Row]) -> str:
    cells = [HEAD, *(row.cells() for row in rows)]
    filled = [place for place in range(len(HEAD)) if any(line[place] for line in cells[1:])]
    widths = [max(len(line[place]) for line in cells) for place in filled]
    lines = [
        " | ".join(line[place].ljust(width) for place, width in zip(filled, widths, strict=True)) for line in cells
    ]
    lines.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" for line in lines)


def write(rows: Sequence[Row], effort: Effort, facts: Mapping[str, object], path: Path = RESULTS) -> None:
    """All rows with the facts of the machine that they depend on; no host name and no path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "effort": effort.value,
        "machine": facts,
        "rows": [{**asdict(row), "ratio": row.ratio} for row in rows],
    }
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def record(rows: Sequence[Row], facts: Mapping[str, object], path: Path = TABLES) -> None:
    """Put the tables into `last_run.txt` in place of the last ones, with the date and the class of machine."""
    kept, mark, _ = path.read_text(encoding="utf-8").partition(MARK)
    path.write_text(f"{kept}{mark}\n\n{_when(facts)}; medians (fastest-slowest).\n\n{tables(rows)}\n", encoding="utf-8")


def record_some(rows: Sequence[Row], facts: Mapping[str, object], path: Path = TABLES) -> None:
    """Put these tables into `last_run.txt` in place of the last ones of their jobs, each with its own date."""
    before, *kept = path.read_text(encoding="utf-8").split("\n### ")
    sections = {section.partition("\n")[0]: section for section in kept}
    for job in dict.fromkeys(row.job for row in rows):
        table = _table([row for row in rows if row.job == job])
        sections[job] = f"{job}\n\nMeasured by itself: {_when(facts)}.\n\n{table}\n"
    path.write_text(
        "\n### ".join([before, *(section.rstrip() + "\n" for section in sections.values())]), encoding="utf-8"
    )


def _when(facts: Mapping[str, object]) -> str:
    return (
        f"{datetime.now(UTC):%d %B %Y}, {facts['cores']} cores, Python {facts['python']}, load before: {facts['load']}"
    )


def machine() -> dict[str, object]:
    """Processor, cores, Python and the versions of what was compared."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": load(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def load() -> float | None:
    """How many processes wanted a core in the last minute, where the system tells."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in _lines(info) if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _times(ratio: float | None) -> str:
    if not ratio:
        return ""
    return f"{ratio:,.0f}x" if ratio >= 100 else f"{ratio:.2g}x" if ratio < 10 else f"{ratio:.0f}x"


def _seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}" if value / size < 100 else f"{value / size:.0f} {unit}"
    return f"{value / 1e-9:.0f} ns"
