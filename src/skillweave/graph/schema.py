"""The JSON Schema of a graph's data form, for editors and for whoever writes graphs by program (spec 3.1)."""

import json
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).with_name("schema.json")


def graph_schema() -> dict[str, Any]:
    """The schema, JSON Schema 2020-12, as plain data of the caller's own.

    It refuses the shapes that `read_graph` refuses, but for what a schema cannot say: expressions that do not compile,
    ids that stand twice or hold a rarer unprintable character, and trees and `all` that are nested too deeply.
    """
    schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema
