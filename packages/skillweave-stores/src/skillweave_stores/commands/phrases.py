"""Which of the skills that are put into a store nobody has written phrases for (spec 2.7)."""

from collections.abc import Iterable, Iterator

from skillweave.registry import Loaded, Source, WrappedSource


class Counted(WrappedSource):
    """A source that counts its skills, and those without phrases, as they go through."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.skills = self.without = 0

    def changed(self, loaded: Loaded) -> Loaded:
        """The same."""
        self.skills += len(loaded.skills)
        self.without += sum(not (skill.phrases or skill.triggers.examples) for skill in loaded.skills)
        return loaded


def without_phrases(sources: Iterable[Counted]) -> Iterator[str]:
    """A line for the user where phrases are missing."""
    counted = [(one.skills, one.without) for one in sources]
    skills, without = (sum(each) for each in zip(*counted, strict=True)) if counted else (0, 0)
    if without:
        how = "`skillweave phrases write` lets a model write them, and they are found more often"
        yield f"without phrases that people would type: {without:,} of {skills:,} skills; {how}"
