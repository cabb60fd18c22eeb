"""Something that is wrong with a schema or with a value, before it has a name."""

from dataclasses import dataclass, replace

from skillweave.contracts.plain import fragment
from skillweave.diagnostics import Diagnostic, Location
from skillweave.frontmatter.codes import Code


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong and what to do about it; `keys` lead to the place."""

    code: Code
    keys: tuple[str | int, ...]
    message: str
    fix: str

    def found(self, place: str, skill: str | None) -> Diagnostic:
        """The diagnostic about a document of that name."""
        return replace(self.code.found(Location(fragment(place, self.keys)), self.message, self.fix), skill=skill)
