"""Finding the folders that are skills below a source's folder (spec 1.2)."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from skillweave.diagnostics import Diagnostic, Location
from skillweave.frontmatter.codes import Code
from skillweave.sources import codes
from skillweave.sources.reading import Refused, resolved_inside
from skillweave.sources.tree import SKILL_FILES, Listing, Tree

DEPTH = 6
ARTIFACT_FOLDERS = ("assets", "references", "scripts")


class Nested(StrEnum):
    """Whether a skill inside another skill's folder belongs to that skill, or is one of its own."""

    PARENT = "parent"
    SEPARATE = "separate"


@dataclass(frozen=True, slots=True)
class Found:
    """A folder with a skill file: its path below the source (`""` for the source itself), in full, and its listing."""

    relative: str
    path: str
    listing: Listing


@dataclass(slots=True)
class Search:
    """One pass over the folders below `root`, which is a real path; `show` tells people where something is."""

    tree: Tree
    root: str
    nested: Nested
    show: Callable[[str], str]
    depth: int = DEPTH
    found: list[Found] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    _pending: list[tuple[str, int, str | None]] = field(default_factory=list)
    _links: list[tuple[str, int, str | None]] = field(default_factory=list)
    _entered: set[str] = field(default_factory=set)
    _inner: dict[str, list[str]] = field(default_factory=dict)
    _too_deep: int = 0

    def run(self) -> None:
        """Fill `found`, sorted, and `findings`; what links reach is looked at last, once, under its real path."""
        self._pending.append(("", 0, None))
        while self._pending or self._links:
            if self._pending:
                self._enter(*self._pending.pop())
            else:
                self._follow(*self._links.pop())
        self.found.sort(key=lambda found: found.relative)
        self._sum_up()

    def _enter(self, relative: str, depth: int, owner: str | None) -> None:
        if relative in self._entered:
            return
        self._entered.add(relative)
        path = f"{self.root}{os.sep}{relative}" if relative else self.root
        try:
            listing = self.tree.listing(path)
        except Refused as refused:
            self._refuse(relative, refused)
            return
        skipped: tuple[str, ...] = ()
        if listing.skill is not None and owner is not None:
            self._inner.setdefault(owner, []).append(relative)
        elif listing.skill is not None:
            self.found.append(Found(relative, path, listing))
            if self.nested is Nested.PARENT:
                owner, skipped = relative, ARTIFACT_FOLDERS
        elif listing.misnamed is not None and owner is None:
            self._misnamed(relative, listing.misnamed)
        self._go_on(relative, depth, owner, listing, skipped)

    def _go_on(self, relative: str, depth: int, owner: str | None, listing: Listing, skipped: tuple[str, ...]) -> None:
        if depth >= self.depth:
            self._too_deep += sum(name not in skipped for name in listing.folders) if self.depth else 0
            return
        above = f"{relative}/" if relative else ""
        for name in listing.folders:
            if name not in skipped and name not in SKILL_FILES:
                self._pending.append((above + name, depth + 1, owner))
        if owner is None:
            self._links.extend((above + name, depth + 1, owner) for name in listing.links if name not in SKILL_FILES)

    def _follow(self, relative: str, depth: int, owner: str | None) -> None:
        try:
            target = resolved_inside(self.root, relative)
        except Refused as refused:
            path = os.path.join(self.root, relative)  # noqa: PTH118
            if any(os.path.isfile(os.path.join(path, name)) for name in SKILL_FILES):  # noqa: PTH113, PTH118
                self._refuse(relative, refused)
            return
        if target != self.root and os.path.isdir(target):  # noqa: PTH112
            inside = os.path.relpath(target, self.root).replace(os.sep, "/")
            self._pending.append((inside, depth, owner))

    def _refuse(self, relative: str, refused: Refused) -> None:
        fix = refused.fix
        if refused.code is codes.LINK_OUTSIDE:
            fix = "copy the skill's folder there, or name the link's target as a source of its own"
        self._report(refused.code, f"folder '{self.show(relative)}' is not searched: {refused.why}", fix, relative)

    def _misnamed(self, relative: str, name: str) -> None:
        where = f"{relative}/{name}" if relative else name
        message = f"'{self.show(where)}' is no skill: the name of a skill file is SKILL.md"
        self._report(codes.MISNAMED, message, f"rename {name} to SKILL.md", where)

    def _sum_up(self) -> None:
        for owner, inner in sorted(self._inner.items()):
            first = ", ".join(f"'{self.show(relative)}'" for relative in sorted(inner)[:3])
            more = f" and {len(inner) - 3} more" if len(inner) > 3 else ""
            message = f"{first}{more} stand inside the skill '{self.show(owner)}' and belong to it"
            self._report(codes.NESTED, message, "ask for nested=separate to load them too", owner)
        if self._too_deep:
            message = f"{self._too_deep} folders more than {self.depth} levels down were not searched"
            self._report(codes.TOO_DEEP, message, "name a folder nearer to the skills", "")
        self.findings.sort(key=lambda finding: (str(finding.location), finding.code))

    def _report(self, code: Code, message: str, fix: str, relative: str) -> None:
        self.findings.append(code.found(Location(self.show(relative)), message, fix))
