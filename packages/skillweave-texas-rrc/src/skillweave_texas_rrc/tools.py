"""All calculators of this pack, as tools."""

from skillweave.entities import EntityGraph
from skillweave.packs import Tool
from skillweave_texas_rrc import dates, fees, wells
from skillweave_texas_rrc.gas_tools import gas_tools


def calculators(graph: EntityGraph | None = None) -> tuple[Tool, ...]:
    """The tools of this pack, each with its own name.

    With a graph, those about wells also take a well's id or API number, those about gas and oil a lease, and read the
    rest from the graph.
    """
    return (*wells.tools(graph), *fees.TOOLS, *dates.TOOLS, *gas_tools(graph))
