"""Rendered texts with their real token counts, each made once per skill and rung."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping

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
        if extras.inlined or extras.context or extras.arguments:
            return self._rendered(skill, rung, extras)
        key = (skill, rung, extras.base_directory, extras.replaces_earlier)
        known = self._plain.get(key)
        if known is None:
            known = self._plain[key] = self._rendered(skill, rung, extras)
            if len(self._plain) > self._remember:
                self._plain.popitem(last=False)
        return known

    def sections(self, skill: Skill, arguments: str = "") -> Section:
        """The skill's text as a tree of sections with their prices."""
        return self._tree((skill, arguments), lambda: sections_of_skill(skill, self.count, arguments))

    def shown_sections(self, skill: Skill, arguments: str = "") -> Mapping[str, Section]:
        """The skill's sections by the digest of the block that shows each of them whole."""
        key = (skill, arguments)
        known = self._shown.get(key)
        if known is None:
            sections = tuple(self.sections(skill, arguments).walk())
            known = self._shown[key] = {text_digest(render_section(skill, one).text): one for one in sections}
            if len(self._shown) > REMEMBERED_TREES:
                self._shown.popitem(last=False)
        return known

    def document(self, skill: Skill, document: Inlined) -> Section:
        """The same for one of its documents."""
        ref, content = document.ref, document.content
        return self._tree(
            (skill.id, ref, text_digest(content)), lambda: sections_of_document(skill, ref, content, self.count)
        )

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

    def _tree(self, key: Hashable, make: Callable[[], Section]) -> Section:
        known = self._trees.get(key)
        if known is None:
            known = self._trees[key] = make()
            if len(self._trees) > REMEMBERED_TREES:
                self._trees.popitem(last=False)
        return known

    def _rendered(self, skill: Skill, rung: Rung, extras: Extras) -> Priced:
        if rung is Rung.OUTLINE:
            return self.priced(render_outline(skill, self.sections(skill, extras.arguments), extras))
        return self.priced(render_skill(skill, rung, extras))

    def count(self, text: str) -> int:
        """Tokens of any text."""
        return self.counter.count(text)
