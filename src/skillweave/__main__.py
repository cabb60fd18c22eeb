"""`python -m skillweave`, the same as `skillweave`."""

from skillweave.cli import main

main()
