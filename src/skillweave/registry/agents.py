"""An agent as it is configured: which skills it has, who must approve what, and what its runs may cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.skill import Checkpoint, is_skill_id

TOKENS_PER_EXECUTION = "tokens_per_execution"
"""The budget that skillweave keeps to: skill tokens in a run. Others, such as those per day, are only stored."""
_AGENT = Checked("Agent")


@dataclass(frozen=True, slots=True)
class Agent(Portable):
    """An agent with the ids of its skills, its own checkpoints, and its budgets by name. Raises InvalidValue."""

    id: str
    name: str = ""
    agent_type: str = ""
    model: str = ""
    skills: tuple[str, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    budgets: Mapping[str, float] = field(default=EMPTY)

    def __post_init__(self) -> None:
        for name in ("id", "name", "agent_type", "model"):
            _AGENT.text(name, getattr(self, name))
        if not is_skill_id(self.id):
            _AGENT.refuse("id", self.id, "1 to 100 ASCII letters, digits, `_` or `-`")
        keep = object.__setattr__
        keep(self, "skills", _AGENT.texts("skills", self.skills, "invoice-checking"))
        keep(self, "checkpoints", _AGENT.items("checkpoints", self.checkpoints, Checkpoint, "Checkpoint('sign-off')"))
        budgets = _AGENT.mapping("budgets", self.budgets)
        for name, value in budgets.items():
            if not isfinite(_AGENT.number(f"budgets[{name[:60]!r}]", value)):
                _AGENT.refuse(f"budgets[{name[:60]!r}]", value, "a finite number")
        keep(self, "budgets", FrozenDict(budgets))

    @property
    def most_tokens(self) -> int | None:
        """The most tokens of skills that stand in the context of one of its calls; None without such a budget."""
        most = self.budgets.get(TOKENS_PER_EXECUTION)
        return None if most is None else int(most)
