import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from skillweave import Severity
from skillweave.contracts.check import check_event_types
from skillweave.events import EventType
from skillweave.frozen import freeze_mapping
from skillweave.registry import Snapshot
from skillweave.skills import Origin
from skillweave.values import Location
from tests.skills import make_skill

PLACE = Location("pack.yaml", 4)


def snapshot(*types: EventType, emits: tuple[str, ...] = ()) -> Snapshot:
    skill = replace(make_skill("table"), emits=emits, origin=Origin("pack", "pack.yaml"))
    return Snapshot(
        MappingProxyType({"table": skill}), 1, events=MappingProxyType({event.name: event for event in types})
    )


def declared(schema: dict[str, object], name: str = "A") -> EventType:
    return EventType(name, "", freeze_mapping(schema), PLACE)  # type: ignore[arg-type]


def test_a_schema_in_order_has_no_finding() -> None:
    assert check_event_types(snapshot(declared({"type": "object"}), EventType("B"), emits=("A", "UNDECLARED"))) == ()


@pytest.mark.parametrize(
    ("schema", "code", "where"),
    [
        ({"properties": {"a": {"type": "objet"}}}, "schema-invalid", "at #/properties/a/type"),
        (
            {"$ref": "https://example.com/schema"},
            "schema-reference",
            'wrong, no payload passes it: `$ref: "https://example.com',
        ),
        ({"$schema": "https://example.com/draft"}, "schema-draft", "$schema"),
    ],
)
def test_a_mistake_in_a_schema_is_found_at_its_declaration(schema: dict[str, object], code: str, where: str) -> None:
    (finding,) = check_event_types(snapshot(declared(schema)))
    assert (finding.code, finding.severity, finding.location) == (code, Severity.ERROR, PLACE)
    assert finding.message.startswith("the schema of event 'A' is wrong")
    assert where in finding.message


def test_a_declaration_that_was_found_broken_at_load_is_not_found_again() -> None:
    assert check_event_types(snapshot(EventType("A", schema=False))) == ()


@pytest.mark.parametrize("name", ["turn.decided", "two words"])
def test_a_name_that_can_never_be_announced_is_found_at_its_skill(name: str) -> None:
    (finding,) = check_event_types(snapshot(emits=("FINE", name)))
    assert (finding.code, finding.severity, finding.skill) == ("bad-event", Severity.WARNING, "table")
    assert finding.location == Location("pack.yaml")
    assert repr(name) in finding.message


def test_without_the_package_one_note_says_what_was_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(
        "skills:\n  - {id: a, description: b, emits: [A]}\nevents:\n  A: {type: objet}\n  B: {type: object}\n"
    )
    script = f"""
import sys
sys.modules["jsonschema"] = None
from skillweave.cli import main
sys.argv = ["skillweave", "check", "--skills", {str(tmp_path / "pack.yaml")!r}]
main()
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    (line,) = [line for line in answer.stdout.splitlines() if "event-schema-unchecked" in line]
    assert "the schemas of 2 events were not looked at" in line
    assert "pip install 'skillweave[schema]'" in line
