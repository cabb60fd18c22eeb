"""The client's history with what was put in: restored for each request, and what is put in now (spec 12.3)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillweave.adapters.messages.lists import left_of, take_out
from skillweave.disclose.block import TAKEN_OUT, digest_in
from skillweave.exchange.chain import Link, tagged
from skillweave.exchange.forms import Form
from skillweave.exchange.insertions import Entry, chain_key
from skillweave.injection import Drop

_SYSTEM = ("system", "developer")


@dataclass(frozen=True, slots=True)
class History:
    """Items as the model gets them, each with the digest of its place in the client's chain, if it has one.

    `lost` says that the original of a reply is not there any more, so that its reasoning was left out.
    """

    items: tuple[Any, ...]
    digests: tuple[str | None, ...]
    lost: bool = False

    def place(self, form: Form) -> int | None:
        """The index of the client's item that a text of ours goes to, and by which it is found again."""
        found = (n for n in reversed(range(len(self.items))) if self.digests[n] and form.place([self.items[n]]) == 0)
        return next(found, None)


def restored(form: Form, items: Sequence[Any], links: Sequence[Link], entries: Mapping[str, Entry]) -> History:
    """Returns the items with everything that was put in, byte for byte, and replies as the model really gave them."""
    at = {link.index: link.digest for link in links}
    known = {link.index: entries[key] for link in links if (key := chain_key(link.digest)) in entries}
    spans, unknown = _spans(links, known), _lost(links, known)
    out: list[Any] = []
    digests: list[str | None] = []
    held: Sequence[Any] = ()
    index = 0
    while index < len(items):
        if index in spans:
            end = spans[index]
            # A system message in the middle is the client's; what it thought is replaced by the original.
            kept = [one for one in items[index : end + 1] if one.get("role") in _SYSTEM]
            said = [*kept, *known[end].items]
            out, digests, held, index = [*out, *said], [*digests, *(None for _ in said)], known[end].held, end + 1
            continue
        entry = known.get(index)
        piece = form.put(items[index], entry.text) if entry is not None and entry.text else [items[index]]
        if index in unknown:
            piece = form.unthought(items[index])
        joined = form.joined(piece, held) if held else piece
        before = len(joined) - len(piece)
        placed = ([None] * before + [at.get(index)] + [None] * len(piece))[: len(joined)]
        out, digests, held, index = [*out, *joined], [*digests, *placed], (), index + 1
    out += form.joined([], held)
    return History(tuple(out), (*digests, *(None for _ in range(len(out) - len(digests)))), bool(unknown))


def _lost(links: Sequence[Link], known: Mapping[int, Entry]) -> set[int]:
    """The items of replies whose originals should be known and are not."""
    index_of = {link.digest: link.index for link in links}
    ends = ((begin, index_of.get(entry.said)) for begin, entry in known.items() if entry.said)
    gone = ((begin, end) for begin, end in ends if end is not None and not known.get(end, Entry()).items)
    return {index for begin, end in gone for index in range(begin + 1, end + 1)}


def _spans(links: Sequence[Link], known: Mapping[int, Entry]) -> dict[int, int]:
    """By the index of its first item, the last item of each reply that is to be replaced."""
    index_of = {"": -1, **{link.digest: link.index for link in links}}
    spans = {}
    for end, entry in known.items():
        begin = None if entry.start is None else index_of.get(entry.start)
        if begin is not None and entry.items:
            spans[begin + 1] = end
    return spans


def without_texts(entry: Entry, drops: Sequence[Drop]) -> Entry:
    """Returns the entry without the texts that leave the history; the same entry where none of them is in it."""
    if not (entry.text or entry.items or entry.held):
        return entry
    going = Counter(digest for drop in drops if (digest := digest_in(drop.message_id)))
    text = left_of([{"role": "user", "content": entry.text}], Counter(going))[0]["content"] if entry.text else ""
    after = replace(
        entry,
        text="" if text == TAKEN_OUT else text,
        items=tuple(take_out(entry.items, drops)),
        held=tuple(take_out(entry.held, drops)),
    )
    return entry if after == entry else after


def listed_by_agent(texts: Sequence[str]) -> frozenset[str]:
    """Returns the names of the skills that an agent lists itself, in a block of skills of its own (Codex)."""
    lines = (line for text in texts for block in tagged(text, "skills_instructions") for line in block.splitlines())
    names = (line.strip().removeprefix("- ").partition(":")[0] for line in lines if line.strip().startswith("- "))
    return frozenset(name.strip() for name in names)


def without_lines(text: str, skill_ids: frozenset[str]) -> str:
    """Returns a list of skills without the lines of these."""
    if not skill_ids or not text:
        return text
    lines = text.split("\n")
    kept = [line for line in lines if not line.startswith("- ") or line[2:].partition(":")[0] not in skill_ids]
    return text if len(kept) == len(lines) else "\n".join(kept) if any(one.startswith("- ") for one in kept) else ""
