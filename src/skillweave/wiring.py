"""The composition root: from paths and names to a Weaver."""

import os

from skillweave.formats.skill_md import Strictness
from skillweave.knowledge.context import ContextSource
from skillweave.ledger.port import Store
from skillweave.plan import Settings
from skillweave.registry import Precedence, Registry
from skillweave.select.select import DEFAULT as DEFAULT_MATCHERS
from skillweave.sources.named import Progress, SkillSource, source_of
from skillweave.stores.named import store_of
from skillweave.tokens.counter import TokenCounter
from skillweave.weaver import OnStoreFailure, Weaver


def open_weaver(
    *skills: SkillSource,
    ledger: str | os.PathLike[str] | Store | None = None,
    settings: Settings | None = None,
    counter: TokenCounter | None = None,
    context: ContextSource | None = None,
    matchers: tuple[str, ...] = DEFAULT_MATCHERS,
    precedence: Precedence = Precedence.FIRST,
    strictness: Strictness = Strictness.LENIENT,
    on_store_failure: OnStoreFailure = OnStoreFailure.FAIL_OPEN,
    progress: Progress | None = None,
) -> Weaver:
    """A Weaver over folders, packs and skills in code: nothing to start, nothing read before the first turn.

    `ledger` is a file name or `sqlite:///path` to keep conversations in, a Store, or None for this process's memory.
    Raises SkillweaveError for a ledger that nothing installed can open.
    """
    return Weaver(
        Registry([source_of(one, strictness, progress) for one in skills], precedence=precedence),
        store_of(ledger),
        settings,
        counter=counter,
        context=context,
        matchers=matchers,
        on_store_failure=on_store_failure,
    )
