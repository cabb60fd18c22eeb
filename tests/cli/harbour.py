"""A small graph of ships and berths, and the pack that says what a skill is told of them."""

import json
from pathlib import Path
from typing import Any

SHIPS = [
    {
        "id": "ship-aurora",
        "label": "Ship",
        "properties": {"name": "Aurora", "imo": "IMO 9321483", "length_m": 182.0, "draught_m": 9.8},
    },
    {
        "id": "ship-borealis",
        "label": "Ship",
        "properties": {"name": "Borealis", "imo": "IMO 9482214", "length_m": 96.5},
    },
]
BERTHS = [
    {
        "id": f"berth-{number}",
        "label": "Berth",
        "properties": {"name": f"Berth {number}", "depth_m": depth, "place": {"lat": 53.5413, "lon": longitude}},
    }
    for number, depth, longitude in ((7, 11.5, 9.9668), (8, 8.0, 9.9702), (9, 6.0, 9.9802))
]
OLD_BERTH = {
    "id": "berth-old",
    "label": "Berth",
    "properties": {"name": "Old Berth", "datum": "NAD27", "place": {"lat": 53.5413, "lon": 9.9669}},
}
EDGES = [
    {"source": "ship-aurora", "relation": "BOOKED_AT", "target": "berth-7", "properties": {"day": "2026-03-02"}},
    {"source": "ship-borealis", "relation": "BOOKED_AT", "target": "berth-7", "properties": {"day": "2026-03-04"}},
]
HARBOUR: dict[str, Any] = {
    "meta": {"datum": "WGS84"},
    "nodes": [*SHIPS, *BERTHS, OLD_BERTH],
    "edges": EDGES,
}
PACK = r"""
skills:
  - id: berth-planning
    name: Berth Planning
    description: Finds a berth for a ship.
    domain_tags: [mooring]
    triggers: {keywords: [berth]}
    text: {steps: [Compare draught and depth.]}
  - {id: crewing, description: Finds a crew., domain_tags: [crew]}
  - {id: customs-papers, description: Fills forms., domain_tags: [customs]}
  - {id: greeting, name: Greeting, description: Greets., triggers: {keywords: [ahoy]}, text: {details: Say ahoy.}}
context:
  entity_keys: [ship]
  aliases: {Ship: [imo, name], Berth: [name]}
  locations: {Berth: [place]}
  recognise:
    - {pattern: '\bIMO ?(\d{7})\b', as: 'IMO {1}'}
  sections:
    ship:
      - {of: [Ship], render: 'Ship: {name} ({imo}), draught {draught_m} m'}
    bookings:
      - of: [Ship]
        title: 'Booked berths:'
        path: [{via: BOOKED_AT}]
        render: '- {name}, depth {depth_m} m, {edge.day}'
  tags:
    mooring: [ship, bookings]
    crew: [ship]
  otherwise: [ship]
"""


def write_harbour(folder: Path) -> None:
    """Write harbour.json, the graph, and harbour.yaml, the pack."""
    (folder / "harbour.json").write_text(json.dumps(HARBOUR), encoding="utf-8")
    (folder / "harbour.yaml").write_text(PACK, encoding="utf-8")
