"""`python -m skillweave_stores.seed`, the same as `skillweave seed`."""

import runpy
import sys

if __name__ == "__main__":
    sys.argv[1:1] = ["seed"]
    runpy.run_module("skillweave", run_name="__main__", alter_sys=True)
