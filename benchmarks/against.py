"""This checkout beside another one, such as the commit before: the same benchmarks in turn, A B A B, and the ratios.

    git worktree add ../before HEAD~1 && make -C ../before demo
    python benchmarks/against.py ../before turn triggers --rounds 5

Each runs in its own environment: `.venv-bench`, or `.venv` where there is none. Of each row the rounds' ratios are
compared: their median, and the interval from the lowest to the highest.
"""

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent.parent
LIMIT = 1.05
"""A row whose whole interval of ratios lies above this is named at the end."""


def main() -> int:
    """Run, print a table, and name the rows past the limit; 1 where there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("benchmark", nargs="+", help="benchmarks that both have, such as turn")
    parser.add_argument("--rounds", type=int, default=3, help="how often each of the two is run")
    arguments = parser.parse_args()
    ours: dict[str, list[float]] = defaultdict(list)
    theirs: dict[str, list[float]] = defaultdict(list)
    for number in range(arguments.rounds):
        print(f"round {number + 1} of {arguments.rounds} ...", file=sys.stderr, flush=True)
        for checkout, found in ((HERE, ours), (arguments.other, theirs)):
            for case, seconds in _measured(checkout.resolve(), arguments.benchmark):
                found[case].append(seconds)
    slower = []
    print(f"| {'case':70} | now | before | now/before | interval |\n|-|-|-|-|-|")
    for case in sorted(ours.keys() & theirs.keys()):
        now, before = median(ours[case]), median(theirs[case])
        ratios = sorted(mine / other for mine, other in zip(ours[case], theirs[case], strict=True))
        interval = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
        row = f"{now * 1e6:,.1f} µs | {before * 1e6:,.1f} µs | {median(ratios):.2f} | {interval}"
        print(f"| {case:70} | {row} |")
        slower += [case] if ratios[0] > LIMIT else []
    print(f"\n{len(slower)} rows have an interval above {LIMIT}", *slower, sep="\n  ")
    return 1 if slower else 0


def _measured(checkout: Path, names: list[str]) -> list[tuple[str, float]]:
    found = [checkout / folder / "bin" / "python" for folder in (".venv-bench", ".venv")]
    python = next((str(one) for one in found if one.exists()), sys.executable)
    subprocess.run(
        [python, "benchmarks/run.py", "--quick", *names], cwd=checkout, check=True, stdout=subprocess.DEVNULL
    )
    rows = json.loads((checkout / "benchmarks/results/latest.json").read_text(encoding="utf-8"))["rows"]
    seconds = [row for row in rows if row["ours"]["unit"] == "s"]
    return list({f"{row['job']}: {row['case']}": row["ours"]["median"] for row in seconds}.items())


if __name__ == "__main__":
    raise SystemExit(main())
