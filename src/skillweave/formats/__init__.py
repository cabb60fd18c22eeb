"""The four spellings of a skill, in and out; whatever one of them has no place for goes under `x-skillweave`."""
