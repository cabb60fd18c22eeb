"""One budget of real tokens over catalog, skills, artifacts and entity context (spec 5.2)."""

from dataclasses import dataclass

from skillweave.codec import Portable
from skillweave.errors import SkillweaveError


@dataclass(frozen=True, slots=True)
class Budget(Portable):
    """Tokens that skills may take of the coming call.

    `total` bounds catalog, blocks present and blocks added together; `catalog` bounds the catalog, which never takes
    more than a quarter of `total`; `per_skill` bounds one skill's block; `reserve` is kept free inside `total` for the
    framing that a provider adds around messages.
    """

    total: int = 8000
    catalog: int = 2000
    per_skill: int = 6000
    reserve: int = 0

    def __post_init__(self) -> None:
        for name in ("total", "catalog", "per_skill", "reserve"):
            if getattr(self, name) < 0:
                raise SkillweaveError(
                    f"Budget({name}={getattr(self, name)}) is below zero; give a number of tokens, 0 for none"
                )

    @property
    def usable(self) -> int:
        """Tokens left of `total` after the reserve."""
        return max(0, self.total - self.reserve)

    @property
    def catalog_limit(self) -> int:
        """The most that the catalog may take."""
        return min(self.catalog, self.usable // 4)
