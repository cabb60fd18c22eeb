"""All benchmarks in one run: a table, and JSON in benchmarks/results/latest.json. `make bench` calls this."""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TypeAlias

import compose
import entities
import exchange
import graph
import growth
import hosts
import judging
import listing
import loading
import scale
import service
import startup
import stores
import tokens
import triggers
import turn
from results import RESULTS, Effort, Row, load, machine, record, record_some, tables, write

Benchmark: TypeAlias = Callable[[Effort], AsyncIterator[Row]]

BENCHMARKS: Mapping[str, Benchmark] = {
    "triggers": triggers.measure,
    "loading": loading.measure,
    "turn": turn.measure,
    "stores": stores.measure,
    "entities": entities.measure,
    "service": service.measure,
    "exchange": exchange.measure,
    "judging": judging.measure,
    "compose": compose.measure,
    "graph": graph.measure,
    "hosts": hosts.measure,
    "startup": startup.measure,
    "growth": growth.measure,
    "scale": scale.measure,
    "tokens": tokens.measure,
    "listing": listing.measure,
}


QUIET = 0.5
"""The load below which the times can be trusted."""


async def measured(names: list[str], effort: Effort) -> list[Row]:
    """The rows of the named benchmarks, one after the other."""
    rows: list[Row] = []
    for name in names:
        begin = time.monotonic()
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += [row async for row in BENCHMARKS[name](effort)]
        print(f"  {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    return rows


def main() -> int:
    """Measure, print, write; 0 also when a target is missed, which the table says."""
    parser = argparse.ArgumentParser(description=__doc__)
    names_help = f"one or more of {', '.join(BENCHMARKS)}; all by default"
    parser.add_argument("benchmark", nargs="*", metavar="benchmark", help=names_help)
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds: a look, not a record")
    parser.add_argument("--record", action="store_true", help="put the tables into benchmarks/last_run.txt")
    arguments = parser.parse_args()
    names: list[str] = arguments.benchmark or list(BENCHMARKS)
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"no benchmark {unknown[0]!r}; choose from {', '.join(BENCHMARKS)}")
    if arguments.record and arguments.quick:
        parser.error("--record is for the record; leave out --quick")
    effort = Effort.QUICK if arguments.quick else Effort.FULL
    facts = machine()
    if (busy := load()) and busy > QUIET:
        print(f"this machine is busy (load {busy}): times will be too long", file=sys.stderr)
    rows = asyncio.run(measured(names, effort))
    print(tables(rows))
    print(f"\nmedians (fastest-slowest); {facts['processor']}, {facts['cores']} cores, Python {facts['python']}")
    write(rows, effort, facts)
    if arguments.record:
        (record_some if arguments.benchmark else record)(rows, facts)
    print(f"written to benchmarks/results/{RESULTS.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
