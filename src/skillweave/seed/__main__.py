"""`python -m skillweave.seed`, the same as `skillweave seed`."""

import sys

from skillweave.cli import main

sys.argv[1:1] = ["seed"]
main()
