"""`python -m skillweave_stores.seed`, the same as `skillweave seed`."""

import sys

from skillweave.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["seed"]
    main()
