"""The table of codes."""

import re

from skillweave.formats.codes import CODES, FIELD_CODES
from skillweave.frontmatter.codes import TEXT_CODES


def test_no_two_codes_have_the_same_name() -> None:
    assert TEXT_CODES
    assert FIELD_CODES
    assert len(CODES) == len(TEXT_CODES) + len(FIELD_CODES)


def test_every_code_is_lower_case_with_hyphens_and_means_something() -> None:
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and code.meaning for name, code in CODES.items())
