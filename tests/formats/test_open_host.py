"""An allowing entry that ends inside an address's host is refused where the skill is read (spec 4.3)."""

import pytest

from skillweave.formats.fields import Fields, Findings
from skillweave.formats.native import with_whole_hosts

OPEN = ["f(https://docs.example*)", "f(url=https://*.example/*)", "f(https://a*/x)", "f(https://docs.example:*/x)"]
WHOLE = [
    "f(https://docs.example/*)",
    "f(https://docs.example:*)",
    "f(https://docs.example *)",
    "f(https://*)",
    "f(docs/*)",
]


@pytest.mark.parametrize("entry", OPEN)
def test_it_is_left_out_with_an_error_that_names_entry_rule_and_fix(entry: str) -> None:
    findings = Findings("SKILL.md")
    assert with_whole_hosts(Fields({}, findings, ("tools",)), "allowed", (entry, "read")) == ("read",)
    found = findings.found[0]
    assert (found.code, found.severity.value) == ("open-host", "error")
    assert entry in found.message
    assert "allowed" in found.message
    assert "https://docs.example/*" in (found.fix or "")


@pytest.mark.parametrize("entry", WHOLE)
def test_a_whole_host_stays(entry: str) -> None:
    findings = Findings("SKILL.md")
    assert with_whole_hosts(Fields({}, findings), "allowed", (entry,)) == (entry,)
    assert not findings.found
