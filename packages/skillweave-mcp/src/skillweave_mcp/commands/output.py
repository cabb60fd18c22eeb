"""What the command prints as it begins to serve over HTTP."""

from dataclasses import dataclass

from skillweave.commands import Portable


@dataclass(frozen=True, slots=True)
class McpListening(Portable):
    """A server that has begun to listen: its address, and how many skills it has and serves as such."""

    address: str
    skills: int
    served: int
