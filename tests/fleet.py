"""A small entity graph of ships, ports and their owners, and the rules by which it is shown."""

from skillweave.frozen import freeze_mapping
from skillweave.knowledge.entity import Edge, Entity
from skillweave.knowledge.memory import MemoryGraph
from skillweave.knowledge.rules import ContextRules, Hop, IdPattern, SectionPart, SectionRule
from skillweave.skill import Json


def entity(entity_id: str, label: str, *aliases: str, **properties: Json) -> Entity:
    return Entity(entity_id, label, freeze_mapping(properties), aliases)


def edge(source: str, relation: str, target: str, **properties: Json) -> Edge:
    return Edge(source, relation, target, freeze_mapping(properties))


def fleet() -> MemoryGraph:
    """Two ships of one owner, three ports, and a ship of which little is known."""
    return MemoryGraph(
        [
            entity(
                "s-aurora",
                "Ship",
                "IMO-9074729",
                name="Aurora",
                imo="IMO-9074729",
                status="in service",
                type="bulk carrier",
                voyages=[{"month": "March", "miles": 1200.0}, {"month": "April", "miles": 800}, {"month": "May"}],
            ),
            entity(
                "s-borealis", "Ship", "IMO-9074731", "Northern", name="Borealis", imo="IMO-9074731", status="laid up"
            ),
            entity("s-corona", "Ship", "Northern", name="Corona"),
            entity("o-fjord", "Owner", name="Fjord Lines", country="NO"),
            entity("p-bergen", "Port", name="Bergen", depth_m=11.0),
            entity("p-oslo", "Port", name="Oslo", depth_m=9.5),
            entity("p-turku", "Port", name="Turku"),
        ],
        [
            edge("s-aurora", "OWNED_BY", "o-fjord"),
            edge("s-borealis", "OWNED_BY", "o-fjord"),
            edge("s-aurora", "CALLS_AT", "p-bergen", days=3),
            edge("s-aurora", "CALLS_AT", "p-oslo", days=1.0),
            edge("s-aurora", "CALLS_AT", "p-turku", days=7),
            edge("s-borealis", "CALLS_AT", "p-oslo", days=2),
            edge("p-oslo", "CALLS_AT", "p-oslo", days=0),
        ],
    )


OWNER = SectionRule("owner", (SectionPart(("Owner: {name}, {country}",), path=(Hop("OWNED_BY"),)),))
PORTS = SectionRule(
    "ports",
    (
        SectionPart(
            ("- {name}: {edge.days} days, {depth_m} m",),
            title="Ports:",
            path=(Hop("CALLS_AT", labels=("Port",)),),
            order="edge.days",
        ),
    ),
)
RULES = ContextRules(
    sections=(
        SectionRule(
            "entity",
            (
                SectionPart(("Ship: {name} ({imo})", "Status: {status}, Type: {type}"), of=("Ship",)),
                SectionPart(("Owner: {name}",), of=("Owner",)),
            ),
        ),
        OWNER,
        PORTS,
    ),
    tags={"mooring": ("entity", "ports"), "law": ("owner", "entity")},
    otherwise=("entity",),
    entity_keys=("ship",),
    recognise=(IdPattern(r"\bIMO[- ]?(\d{7})\b", "IMO-{1}"),),
)
AURORA = "Ship: Aurora (IMO-9074729)\nStatus: in service, Type: bulk carrier"
PORTS_OF_AURORA = "Ports:\n- Oslo: 1 days, 9.5 m\n- Bergen: 3 days, 11 m\n- Turku: 7 days"
