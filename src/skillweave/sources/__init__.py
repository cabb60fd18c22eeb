"""Where skills come from: folders, packs and code; one source per file."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.sources.code import InCode
    from skillweave.sources.codes import NOT_A_DEFINITION
    from skillweave.sources.named import SOURCES, Progress, SkillSource, packs_of, source_of
    from skillweave.sources.pack import Pack


__all__ = [
    "NOT_A_DEFINITION",
    "SOURCES",
    "InCode",
    "Pack",
    "Progress",
    "SkillSource",
    "packs_of",
    "source_of",
]

__getattr__ = door(
    __name__,
    """
code: InCode
codes: NOT_A_DEFINITION
files: Mark Refused read_inside read_plain
folder: Folder UnitReader
named: Progress SOURCES SkillSource pack_names pack_of packs_of source_of
names: is_plain quoted shown
pack: Pack PackMemory
roots: ROOTS Scope default_roots existing_roots
tree: Found Nested Search Tree
""",
)
