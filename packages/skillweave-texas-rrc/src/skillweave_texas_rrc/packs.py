"""The packs of this distribution, as the entry points name them."""

from pathlib import Path

from skillweave.sources import Pack


def pack() -> Pack:
    """Returns the pack `texas-rrc`: 43 skills with their documents, events, checkpoints and agents."""
    return Pack(Path(__file__).with_name("pack.yaml"), name="texas-rrc")


def rule37_filing() -> Pack:
    """Returns the pack `texas-rrc-rule37`: the skill graph of a Rule 37 filing, for use beside the pack `texas-rrc`.

    It has no skills of its own, so by itself each skill that it wires is unknown. Its file says which tools a host may
    bring.
    """
    return Pack(Path(__file__).with_name("rule37_filing.yaml"), name="texas-rrc-rule37")
