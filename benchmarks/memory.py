"""How much memory this process holds, in two ways: what the system sees, and what Python has allocated."""

import gc
import sys
import tracemalloc
from pathlib import Path


def tracing() -> None:
    """Begin to count allocations; before this `traced` says nothing."""
    tracemalloc.start()


def traced() -> float:
    """Megabytes of live Python objects, numpy arrays among them; native libraries' own memory is not seen."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 1e6


def resident() -> float:
    """Megabytes of this process that are in memory; where the system does not tell, the most there ever were."""
    gc.collect()
    status = Path("/proc/self/status")
    if status.exists():
        lines = (line.split() for line in status.read_text(encoding="utf-8").splitlines())
        return next(int(words[1]) for words in lines if words[0] == "VmRSS:") / 1000
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
