"""Ready sets of skills for a domain; each is an entry point, found by name like those of other packages."""

from pathlib import Path

from skillweave.packs.demonstration import Demonstration, Scene, ToolUse
from skillweave.packs.tool import JsonObject, Tool, ToolRefused, require_fit
from skillweave.sources.pack import Pack

__all__ = [
    "Demonstration",
    "JsonObject",
    "Scene",
    "Tool",
    "ToolRefused",
    "ToolUse",
    "coding",
    "coding_pipeline",
    "require_fit",
    "support_triage",
]


def coding() -> Pack:
    """The pack: `specification-engine`, `opencode-implementer` and the rule that gives both for a coding task."""
    return Pack(Path(__file__).with_name("coding.yaml"))


def coding_pipeline() -> Pack:
    """The pack: six skills with tools of their own, and the graph between them. The host brings the tools."""
    return Pack(Path(__file__).with_name("coding_pipeline.yaml"), name="coding-pipeline")


def support_triage() -> Pack:
    """The pack: seven skills, one of them for everywhere, and the graph between them. The host brings the tools."""
    return Pack(Path(__file__).with_name("support_triage.yaml"), name="support-triage")
