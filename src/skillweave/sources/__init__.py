"""Where skills come from: folders, packs and code; one source per file."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
code: InCode
files: Mark Refused read_inside read_plain
folder: Folder UnitReader
named: SOURCES pack_names pack_of packs_of source_of
names: is_plain quoted shown
pack: Pack PackMemory
roots: ROOTS Scope default_roots existing_roots
tree: Found Nested Search Tree
""",
)
