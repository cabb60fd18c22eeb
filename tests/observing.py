"""Short ways to make a Weaver that is watched."""

from collections.abc import Sequence

from skillweave import MemoryStore, Registry, Skill, Weaver
from skillweave.sources import InCode
from skillweave_testing import Recorder, WordCounter


def weaver_of(*skills: Skill, observers: Sequence[object] = (), **options: object) -> Weaver:
    """A Weaver over these skills, on a store in memory unless one is given."""
    store = options.pop("store", None) or MemoryStore()
    registry = Registry([InCode(*skills)])
    return Weaver(registry, store, counter=WordCounter(), observers=observers, **options)  # type: ignore[arg-type]


def watched(*skills: Skill, **options: object) -> tuple[Weaver, Recorder]:
    """The same with one observer that keeps everything."""
    recorder = Recorder()
    return weaver_of(*skills, observers=[recorder], **options), recorder
