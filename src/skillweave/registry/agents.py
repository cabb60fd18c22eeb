"""An agent as it is configured: which skills it has, who must approve what, and what its runs may cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillweave.codec import Portable
from skillweave.frozen import FrozenDict
from skillweave.skill import Checkpoint

TOKENS_PER_EXECUTION = "tokens_per_execution"
"""The budget that skillweave keeps to: skill tokens in a run. Others, such as those per day, are only stored."""


@dataclass(frozen=True, slots=True)
class Agent(Portable):
    """An agent by its id, with the ids of its skills, its own checkpoints, and its budgets by name.

    `agent_type` and `model` are for the host; skillweave only stores them.
    """

    id: str
    name: str = ""
    agent_type: str = ""
    model: str = ""
    skills: tuple[str, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    budgets: Mapping[str, float] = field(default_factory=FrozenDict)
