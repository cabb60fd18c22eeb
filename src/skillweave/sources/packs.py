"""The Source that a pack's name stands for; packs are entry points, built-in ones like those of other packages."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from skillweave.errors import NOT_INSTALLED, SkillweaveError
from skillweave.formats.skill_md import Strictness
from skillweave.registry import Source
from skillweave.sources.named import source_of

PACKS = "skillweave.packs"
"""The entry point group of packs: the value is a function without arguments that gives a path, a skill or a Source."""


def packs_of(names: Sequence[str]) -> tuple[Source, ...]:
    """The Sources of several packs, each once; raises SkillweaveError like `pack_of`, and for one text."""
    if isinstance(names, str):
        raise SkillweaveError(f"packs are a list of names, not the one text {names[:100]!r}; write [{names[:100]!r}]")
    return tuple(pack_of(name) for name in dict.fromkeys(names))


def pack_of(name: str) -> Source:
    """The Source of the pack of that name; nothing is read yet.

    Raises SkillweaveError when no installed package brings such a pack, or when its package cannot be loaded.
    """
    entry = _entry(name)
    try:
        return source_of(entry.load()(), Strictness.LENIENT)
    except SkillweaveError:
        raise
    except Exception as error:
        # The code of a guest runs here, which can raise anything.
        package = entry.dist.name if entry.dist is not None else entry.value
        why = error if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"
        raise SkillweaveError(f"pack {name!r} cannot be loaded ({why}); reinstall the package {package}") from error


def pack_names() -> tuple[str, ...]:
    """The names of all packs that are installed, sorted."""
    return tuple(sorted(entry_points(group=PACKS).names))


def _entry(name: str) -> EntryPoint:
    known = entry_points(group=PACKS)
    if not known.names:
        raise SkillweaveError(f"pack {name[:100]!r} cannot be found: {NOT_INSTALLED}")
    if name not in known.names:
        raise SkillweaveError(
            f"no pack {name[:100]!r} is installed; choose from {', '.join(sorted(known.names))}, install the "
            "package that brings it, or name a pack file among the skills"
        )
    return known[name]
