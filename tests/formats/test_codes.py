"""The table of codes."""

import re

from skillweave.formats import codes as field_codes
from skillweave.formats.codes import CODES, FIELD_CODES
from skillweave.frontmatter import TEXT_CODES, Code
from skillweave.frontmatter import codes as text_codes


def test_every_code_is_in_the_table_once() -> None:
    written = {
        value for module in (text_codes, field_codes) for value in vars(module).values() if isinstance(value, Code)
    }

    assert set(CODES.values()) == written
    assert len(CODES) == len(TEXT_CODES) + len(FIELD_CODES)


def test_every_code_is_lower_case_with_hyphens_and_means_something() -> None:
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and code.meaning for name, code in CODES.items())
