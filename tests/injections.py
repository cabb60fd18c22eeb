"""Injections made by hand, for tests of what adapters do with them."""

from collections.abc import Sequence

from skillweave import Block, Injection, Message, Placement, Role, ToolPolicy
from skillweave.disclose.block import carrier_of, text_digest
from skillweave.turns import CacheReport, Drop, Rung, TokenReport


def make_injection(
    *texts: str,
    placement: Placement = Placement.HISTORY,
    catalog: str = "",
    tail: str = "",
    drop: Sequence[Drop] = (),
    rejected: Sequence[Drop] = (),
    tools: ToolPolicy | None = None,
) -> Injection:
    """An injection that gives these texts, each as a block of its own; `drop` and `rejected` are to leave."""
    blocks = tuple(
        Block(carrier_of(text_digest(text), "t1"), f"s{n}", Rung.FULL, (), text, 1) for n, text in enumerate(texts)
    )
    in_history = placement is Placement.HISTORY
    in_call: Sequence[str] = () if in_history else texts
    return Injection(
        turn_id="t1",
        conversation="c1",
        placement=placement,
        generation=1,
        messages=tuple(Message(Role.SYSTEM, block.text, block.id) for block in blocks) if in_history else (),
        instructions="\n\n".join(part for part in (catalog, *in_call) if part),
        catalog=catalog,
        fallback=None,
        blocks=blocks,
        drop=tuple(drop),
        tools=tools or ToolPolicy(),
        checkpoints=(),
        decisions=(),
        tokens=TokenReport(0, 0, {}, {}, 0, "words", False, lambda: 0),
        cache=CacheReport(0, 0),
        rejected=tuple(rejected),
        tail=tail,
    )
