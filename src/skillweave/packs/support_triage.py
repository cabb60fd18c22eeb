"""The built-in pack `support-triage`: a support desk as a skill graph, from the first message to the closed ticket."""

from pathlib import Path

from skillweave.sources.pack import Pack


def support_triage() -> Pack:
    """The pack: seven skills, one of them for everywhere, and the graph that leads from one to the next.

    Its file says which tools a host has to bring.
    """
    return Pack(Path(__file__).with_name("support_triage.yaml"), name="support-triage")
