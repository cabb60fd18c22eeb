"""The built-in pack `coding-pipeline`: from a wish to a release as a skill graph, a person before the last step."""

from pathlib import Path

from skillweave.sources.pack import Pack


def coding_pipeline() -> Pack:
    """The pack: six skills, each a step with its own tools, and the graph that leads from one to the next.

    Its file says which tools a host has to bring.
    """
    return Pack(Path(__file__).with_name("coding_pipeline.yaml"), name="coding-pipeline")
