"""Rendered texts with their real token counts, each made once per skill and rung."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TypeVar

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.disclose.block import CHANGED, REPLACES, Escaped, Priced, Rung, SkillTools, text_digest
from skillweave.disclose.piecewise import NOTHING, Room, fit_pieces
from skillweave.disclose.render import (
    CONTEXT_HEADING,
    NOTHING_ELSE,
    Extras,
    Inlined,
    Rendered,
    context_header,
    inlined_text,
    render_contents,
    render_context,
    render_outline,
    render_reading,
    render_section,
    render_skill,
    sections_of_document,
    sections_of_skill,
)
from skillweave.disclose.sections import SECTION_TOKENS, Reading, Readout, Section
from skillweave.skill import Skill
from skillweave.tokens.counter import TokenCounter

REMEMBERED_TEXTS = 50_000
REMEMBERED_BLOCKS = 20_000
REMEMBERED_TREES = 500
K = TypeVar("K")
V = TypeVar("V")


class CountedOnce:
    """A counter around another one, that asks it once for each text and remembers texts by their digest (spec 5.2)."""

    def __init__(self, counter: TokenCounter, *, remember: int = REMEMBERED_TEXTS) -> None:
        self.encoding = counter.encoding
        self.exact = counter.exact
        self._counter = counter
        self._remember = remember
        self._counts: OrderedDict[bytes, int] = OrderedDict()

    def count(self, text: str) -> int:
        """Return the tokens of the text, counted at its first appearance only."""
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._counts.get(digest)
        if known is not None:
            return known
        return _kept(self._counts, digest, self._counter.count(text), self._remember)


class Pricing:
    """Renders and counts; remembers what holds nothing but the skill's own text, which repeats from turn to turn."""

    def __init__(self, counter: TokenCounter, *, remember: int = REMEMBERED_BLOCKS) -> None:
        self.counter = counter if isinstance(counter, CountedOnce) else CountedOnce(counter)
        self.count = self.counter.count
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
        return self._tree((skill, arguments), lambda: sections_of_skill(skill, self.count, arguments))

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
        return self._tree(key, lambda: sections_of_document(skill, ref, content, self.count))

    def _tree(self, key: Hashable, made: Callable[[], Section]) -> Section:
        return self._trees.get(key) or _kept(self._trees, key, made(), REMEMBERED_TREES)

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


def _kept(memory: OrderedDict[K, V], key: K, value: V, most: int) -> V:
    """The value, remembered in place of the oldest where there are more than `most`."""
    memory[key] = value
    if len(memory) > most:
        memory.popitem(last=False)
    return value


INSTRUCTIONS = "instructions"


@dataclass(frozen=True, slots=True)
class Budget(Portable):
    """Tokens that skills may take of the coming call. Raises InvalidValue.

    `total` bounds catalog, present and added blocks; the `catalog` takes a quarter of it at most; `shortlist` bounds
    lines of offered skills, `per_skill` one block, `context` that of entities; `reserve` is kept free for the provider.
    """

    total: int = 25_000
    catalog: int = 2000
    shortlist: int = 400
    per_skill: int = 8000
    reserve: int = 0
    context: int = 4000

    def __post_init__(self) -> None:
        checked = Checked("Budget")
        for name in ("total", "catalog", "shortlist", "per_skill", "reserve", "context"):
            checked.whole(name, getattr(self, name))

    @property
    def usable(self) -> int:
        """Tokens left of `total` after the reserve."""
        return max(0, self.total - self.reserve)

    @property
    def catalog_limit(self) -> int:
        """The most that the catalog may take."""
        return min(self.catalog, self.usable // 4)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of entity context to be added under the record `key`; `replaces` an older text that may be there."""

    key: str
    entity: str
    text: str
    digest: str
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Want:
    """A skill that should be in the context of the coming call.

    `present` is the rung that is there already, `highest` the one that is enough; `replaces`: outdated text may stand.
    `arguments` are the user's words that its text takes.
    """

    skill: Skill
    present: Rung | None = None
    replaces: bool = False
    artifacts: tuple[Inlined, ...] = ()
    passages: tuple[Passage, ...] = ()
    base_directory: str | None = None
    readings: tuple[Reading, ...] = ()
    highest: Rung = Rung.FULL
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that did not fit, and what it would have cost in tokens; `outline` is what its outline would have."""

    what: str
    tokens: int
    outline: int | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a wanted skill: up to `rung` (None: nothing), by the `block` to add now, if any."""

    want: Want
    rung: Rung | None
    block: Priced | None = None
    inlined: tuple[Inlined, ...] = ()
    within: tuple[Passage, ...] = ()
    context: Priced | None = None
    apart: tuple[Passage, ...] = ()
    readouts: tuple[Readout, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def added(self) -> int:
        """Tokens that this skill adds to the coming call."""
        blocks = (self.block, self.context, *(readout.block for readout in self.readouts))
        return sum(block.tokens for block in blocks if block is not None)

    @property
    def instructions_left_out(self) -> LeftOut | None:
        """The skill's own text, where that did not fit; a document may have the same name."""
        if not self.left_out or (self.rung is not None and self.rung >= Rung.INSTRUCTIONS):
            return None
        return self.left_out[0] if self.left_out[0].what == INSTRUCTIONS else None


@dataclass(slots=True)
class _Purse:
    """Tokens still left in this turn, those of them that entity context may take, and the bound on one skill."""

    left: int
    per_skill: int
    pricing: Pricing
    ladder: tuple[Rung, ...]
    catalog_shows: frozenset[str]
    context: int

    def pays(self, tokens: int) -> bool:
        if tokens > self.left:
            return False
        self.left -= tokens
        return True


def fit(
    groups: Sequence[Sequence[Want]],
    *,
    left: int,
    per_skill: int,
    pricing: Pricing,
    catalog_shows: frozenset[str] = frozenset(),
    tools: SkillTools = SkillTools.ABSENT,
    context: int | None = None,
) -> tuple[Shown, ...]:
    """Fills the budget group by group, best first; what is added never costs more than `left` tokens.

    Entity context takes at most `context`. A group steps down together: full, instructions, outline, catalog line,
    nothing; then come readings, artifacts while they fit, entity context. What is present is never shown again.
    """
    ladder = (Rung.FULL, Rung.INSTRUCTIONS, *([Rung.OUTLINE] if tools is SkillTools.OFFERED else []), Rung.CATALOG)
    most = max(0, left) if context is None else context
    purse = _Purse(max(0, left), per_skill, pricing, ladder, catalog_shows, most)
    return tuple(_completed(step, purse) for group in groups for step in _fit_group(group, purse))


def _fit_group(group: Sequence[Want], purse: _Purse) -> Sequence[Shown]:
    for rung in purse.ladder:
        steps = [_at(want, rung, purse) for want in group]
        costs = [step.added for step in steps]
        if max(costs, default=0) <= purse.per_skill and purse.pays(sum(costs)):
            return steps
    return [Shown(want, want.present) for want in group]


def _at(want: Want, rung: Rung, purse: _Purse) -> Shown:
    rung = min(rung, want.highest)
    if rung is Rung.OUTLINE and not purse.pricing.outlined(want.skill, _extras(want)):
        rung = Rung.INSTRUCTIONS  # a short skill has no outline
    enough = min(rung, Rung.FULL if want.artifacts else Rung.INSTRUCTIONS)
    if want.present is not None and want.present >= enough:
        return Shown(want, want.present)
    if rung is not Rung.CATALOG:
        inlined = want.artifacts if rung is Rung.FULL else ()
        return Shown(want, rung, purse.pricing.skill(want.skill, rung, _extras(want, inlined)), inlined)
    if want.present is not None or want.skill.id in purse.catalog_shows:
        return Shown(want, want.present or Rung.CATALOG)
    return Shown(want, rung, purse.pricing.skill(want.skill, rung, Extras(base_directory=want.base_directory)))


def _extras(want: Want, inlined: tuple[Inlined, ...] = (), within: tuple[Passage, ...] = ()) -> Extras:
    return Extras(
        inlined=inlined,
        context=(*_changed(within), *(passage.text for passage in within)) if within else (),
        base_directory=want.base_directory,
        replaces_earlier=REPLACES if want.replaces else "",
        arguments=want.arguments,
    )


def _changed(passages: Iterable[Passage]) -> tuple[str, ...]:
    """Our line above passages of which one has an older text in the context."""
    return (CHANGED,) if any(passage.replaces for passage in passages) else ()


def _completed(shown: Shown, purse: _Purse) -> Shown:
    want = shown.want
    if shown.rung is None or shown.rung < min(Rung.INSTRUCTIONS, want.highest):
        shown = replace(shown, left_out=(_own_text_left_out(want, purse),))
    if want.readings:
        shown = _with_readings(shown, purse)
    if shown.rung is Rung.INSTRUCTIONS and shown.block is not None:
        shown = _with_artifacts(shown, shown.block, purse)
    return _with_passages(shown, purse) if want.passages else shown


def _own_text_left_out(want: Want, purse: _Purse) -> LeftOut:
    pricing, extras, outline = purse.pricing, _extras(want), None
    if Rung.OUTLINE in purse.ladder and want.highest >= Rung.OUTLINE and pricing.outlined(want.skill, extras):
        outline = pricing.skill(want.skill, Rung.OUTLINE, extras).tokens
    return LeftOut(INSTRUCTIONS, pricing.skill(want.skill, Rung.INSTRUCTIONS, extras).tokens, outline)


def _with_artifacts(shown: Shown, block: Priced, purse: _Purse) -> Shown:
    want = shown.want

    def whole(places: Sequence[int]) -> Priced:
        extras = _extras(want, tuple(want.artifacts[place] for place in places))
        return purse.pricing.skill(want.skill, Rung.INSTRUCTIONS, extras)

    pieces = [inlined_text(artifact, Escaped(want.skill)) for artifact in want.artifacts]
    found = fit_pieces(block, pieces, Room(purse.per_skill, purse.left), purse.pricing.count, whole)
    purse.left -= found.text.tokens - block.tokens
    return replace(
        shown,
        rung=shown.rung if found.refused else Rung.FULL,
        block=found.text,
        inlined=tuple(want.artifacts[place] for place in found.places),
        left_out=(*shown.left_out, *(LeftOut(want.artifacts[at].ref.id, more) for at, more in found.refused.items())),
    )


def _with_readings(shown: Shown, purse: _Purse) -> Shown:
    readouts: list[Readout] = []
    given: set[str] = set()
    for reading in shown.want.readings:
        readout = _read_out(reading.beside(given), shown, purse)
        given |= readout.keys
        readouts.append(readout)
    return replace(shown, readouts=tuple(readouts))


def _read_out(reading: Reading, shown: Shown, purse: _Purse) -> Readout:
    rung = shown.rung or Rung.CATALOG
    if not reading.missing or (reading.artifact is None and rung >= Rung.INSTRUCTIONS):
        return Readout(reading)
    skill = shown.want.skill
    whole = purse.pricing.priced(render_reading(skill, reading, reading.missing))
    ruled = rung >= Rung.OUTLINE  # without the skill's own block its tool rules would not hold
    if ruled and whole.tokens <= purse.per_skill and purse.pays(whole.tokens):
        return Readout(reading, whole, reading.missing)
    refused = Readout(reading, cost=whole.tokens, too_long=whole.tokens > purse.per_skill)
    if reading.contents.there or not reading.section.parts:
        return refused
    contents = purse.pricing.priced(render_contents(skill, reading))
    given = ruled and contents.tokens <= purse.per_skill and purse.pays(contents.tokens)
    return replace(refused, block=contents if given else None, outline=contents.tokens)


def _with_passages(shown: Shown, purse: _Purse) -> Shown:
    if shown.rung is None or shown.rung < Rung.OUTLINE:
        lost = tuple(LeftOut(passage.key, purse.pricing.count(passage.text)) for passage in shown.want.passages)
        return replace(shown, left_out=(*shown.left_out, *lost))
    passages, rung = shown.want.passages, shown.rung
    base = shown.block or NOTHING
    escaped = Escaped(shown.want.skill)
    heading = CONTEXT_HEADING if shown.block is not None else context_header(passages[0].entity, escaped)
    head = "\n".join((heading, *_changed(passages)))
    pieces = [escaped.text(passage.text) for passage in passages]

    def whole(places: Sequence[int]) -> Priced:
        return _with(shown, rung, [passages[place] for place in places], purse.pricing)

    # Entity context may go beyond what one skill's block may have; it has a bound of its own.
    most = min(purse.left, purse.context)
    found = fit_pieces(base, pieces, Room(base.tokens + most, most), purse.pricing.count, whole, head)
    added = found.text.tokens - base.tokens
    purse.left, purse.context = purse.left - added, purse.context - added
    given = tuple(passages[place] for place in found.places)
    left_out = (*shown.left_out, *(LeftOut(passages[at].key, more) for at, more in found.refused.items()))
    if not given:
        return replace(shown, left_out=left_out)
    if shown.block is not None:
        return replace(shown, within=given, block=found.text, left_out=left_out)
    return replace(shown, apart=given, context=found.text, left_out=left_out)


def _with(shown: Shown, rung: Rung, passages: Sequence[Passage], pricing: Pricing) -> Priced:
    """The skill's block with entity context in it, or a block of entity context alone where the skill is there."""
    want = shown.want
    if shown.block is not None:
        return pricing.skill(want.skill, rung, _extras(want, shown.inlined, tuple(passages)))
    texts = [passage.text for passage in passages]
    return pricing.priced(render_context(passages[-1].entity, texts, want.skill, _changed(passages)))
