"""Rendered texts with their real token counts, each made once per skill and rung."""

from collections import OrderedDict

from skillweave.disclose.block import Priced
from skillweave.disclose.render import NOTHING_ELSE, Extras, Rendered, render_skill
from skillweave.disclose.rung import Rung
from skillweave.skill import Skill
from skillweave.tokens.counter import TokenCounter

REMEMBERED_BLOCKS = 20_000


class Pricing:
    """Renders and counts; remembers what holds nothing but the skill's own text, which repeats from turn to turn."""

    def __init__(self, counter: TokenCounter, *, remember: int = REMEMBERED_BLOCKS) -> None:
        self.counter = counter
        self._remember = remember
        self._plain: OrderedDict[tuple[Skill, Rung, str | None], Priced] = OrderedDict()

    def skill(self, skill: Skill, rung: Rung, extras: Extras = NOTHING_ELSE) -> Priced:
        """The skill's block at that rung and what it costs."""
        if extras.inlined or extras.context or extras.replaces_earlier:
            return self.priced(render_skill(skill, rung, extras))
        key = (skill, rung, extras.base_directory)
        known = self._plain.get(key)
        if known is None:
            known = self._plain[key] = self.priced(render_skill(skill, rung, extras))
            if len(self._plain) > self._remember:
                self._plain.popitem(last=False)
        return known

    def priced(self, rendered: Rendered) -> Priced:
        """A rendered text with its count."""
        return Priced(rendered.text, self.counter.count(rendered.text), rendered.diagnostics)

    def count(self, text: str) -> int:
        """Tokens of any text."""
        return self.counter.count(text)
