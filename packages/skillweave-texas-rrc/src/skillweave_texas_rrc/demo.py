"""The pack's demo: a landman asks about the spacing of a horizontal well, and has the filing put together."""

from pathlib import Path

from skillweave import Role
from skillweave.packs import Demonstration, Scene, ToolUse
from skillweave.values import FrozenDict
from skillweave_texas_rrc.tools import calculators

WELL = "42-329-12345"
"""The API number of Mitchell Ranch 1H, a well of the sample graph."""

_SCENES = (
    Scene(
        "How far is Mitchell Ranch 1H from the lease lines and from the other wells?",
        "Only a pick by the model gives a skill here (--matcher explicit), so nothing is given yet. The catalog tells "
        "the model which skills there are.",
    ),
    Scene(
        "SKILL_SELECT:spacing-calculation",
        "The model picks a skill. Its text goes into the history, with what is known of the well that the host's "
        f"memory names (well_api={WELL}), and the model may call what it allows.",
        Role.ASSISTANT,
        (ToolUse("well_spacing", FrozenDict({"well": WELL})),),
    ),
    Scene(
        "It is too close to both. Put the Rule 37 filing together.",
        "The spacing skill still applies, and its text stands in the history: nothing is sent twice.",
    ),
    Scene(
        "SKILL_SELECT:rule37-filing-assembly",
        "A skill that files stops at its checkpoint: it drafts, and a qualified person approves and files. What both "
        "skills show of the well is sent once.",
        Role.ASSISTANT,
    ),
    Scene(
        "SKILL_SELECT:spacing-calculation",
        "The model picks the first skill again, and gets nothing: it has the text already.",
        Role.ASSISTANT,
    ),
)


def demonstration() -> Demonstration:
    """The demo `texas-rrc`, over the pack's sample graph, whose wells, leases and people are invented."""
    return Demonstration(
        about="A landman works on the spacing of Mitchell Ranch 1H, a horizontal well of an invented sample graph.",
        packs=("texas-rrc",),
        entities=Path(__file__).with_name("sample_graph.json"),
        tools=calculators,
        scenes=_SCENES,
        memory=FrozenDict({"well_api": WELL}),
    )
