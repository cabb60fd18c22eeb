"""`python -m skillweave_stores.seed`, the same as `skillweave store put`."""

import runpy
import sys

if __name__ == "__main__":
    sys.argv[1:1] = ["store", "put"]
    runpy.run_module("skillweave", run_name="__main__", alter_sys=True)
