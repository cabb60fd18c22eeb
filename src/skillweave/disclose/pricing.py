"""Rendered texts with their real token counts, each made once per skill and rung."""

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import TypeVar

from skillweave.disclose.block import Priced, Rung, text_digest
from skillweave.disclose.render import (
    NOTHING_ELSE,
    Extras,
    Inlined,
    Rendered,
    render_outline,
    render_section,
    render_skill,
    sections_of_document,
    sections_of_skill,
)
from skillweave.disclose.sections import SECTION_TOKENS, Section
from skillweave.skill import Skill
from skillweave.tokens.counter import TokenCounter

REMEMBERED_BLOCKS = 20_000
REMEMBERED_TREES = 500
K = TypeVar("K")
V = TypeVar("V")


class Pricing:
    """Renders and counts; remembers what holds nothing but the skill's own text, which repeats from turn to turn."""

    def __init__(self, counter: TokenCounter, *, remember: int = REMEMBERED_BLOCKS) -> None:
        self.counter = counter
        self._remember = remember
        self._plain: OrderedDict[tuple[Skill, Rung, str | None, str], Priced] = OrderedDict()
        self._trees: OrderedDict[Hashable, Section] = OrderedDict()
        self._shown: OrderedDict[Hashable, Mapping[str, Section]] = OrderedDict()

    def skill(self, skill: Skill, rung: Rung, extras: Extras = NOTHING_ELSE) -> Priced:
        """The skill's block at that rung and what it costs."""
        plain = not (extras.inlined or extras.context or extras.arguments)
        key = (skill, rung, extras.base_directory, extras.replaces_earlier)
        known = self._plain.get(key) if plain else None
        if known is not None:
            return known
        if rung is Rung.OUTLINE:
            priced = self.priced(render_outline(skill, self.sections(skill, extras.arguments), extras))
        else:
            priced = self.priced(render_skill(skill, rung, extras))
        return _kept(self._plain, key, priced, self._remember) if plain else priced

    def sections(self, skill: Skill, arguments: str = "") -> Section:
        """The skill's text as a tree of sections with their prices."""
        key = (skill, arguments)
        known = self._trees.get(key)
        if known is not None:
            return known
        return _kept(self._trees, key, sections_of_skill(skill, self.count, arguments), REMEMBERED_TREES)

    def shown_sections(self, skill: Skill, arguments: str = "") -> Mapping[str, Section]:
        """The skill's sections by the digest of the block that shows each of them whole."""
        key = (skill, arguments)
        known = self._shown.get(key)
        if known is not None:
            return known
        sections = tuple(self.sections(skill, arguments).walk())
        shown = {text_digest(render_section(skill, one).text): one for one in sections}
        return _kept(self._shown, key, shown, REMEMBERED_TREES)

    def document(self, skill: Skill, document: Inlined) -> Section:
        """One of the skill's documents as a tree of sections with their prices."""
        ref, content = document.ref, document.content
        key = (skill.id, ref, text_digest(content))
        known = self._trees.get(key)
        if known is not None:
            return known
        return _kept(self._trees, key, sections_of_document(skill, ref, content, self.count), REMEMBERED_TREES)

    def outlined(self, skill: Skill, extras: Extras = NOTHING_ELSE) -> bool:
        """Whether the skill has sections to be read, and an outline takes less than its instructions do."""
        whole = self.skill(skill, Rung.INSTRUCTIONS, extras).tokens
        if whole <= SECTION_TOKENS or not self.sections(skill, extras.arguments).parts:
            return False
        return self.skill(skill, Rung.OUTLINE, extras).tokens < whole

    def priced(self, rendered: Rendered) -> Priced:
        """A rendered text with its count."""
        return Priced(
            rendered.text, self.counter.count(rendered.text), text_digest(rendered.text), rendered.diagnostics
        )

    def count(self, text: str) -> int:
        """Tokens of any text."""
        return self.counter.count(text)


def _kept(memory: OrderedDict[K, V], key: K, value: V, most: int) -> V:
    """The value, remembered in place of the oldest where there are more than `most`."""
    memory[key] = value
    if len(memory) > most:
        memory.popitem(last=False)
    return value
