"""The composition root: from paths and names to a Weaver."""

import os
from collections.abc import Sequence
from pathlib import Path

from skillweave.cachefile import CacheFolder
from skillweave.events.event import Observer
from skillweave.formats.strictness import Strictness
from skillweave.graph.graph import SkillGraph
from skillweave.knowledge.context import ContextSource
from skillweave.registry import Precedence, Registry
from skillweave.select.matchers import Matcher
from skillweave.select.reranker import Reranker, with_reranker
from skillweave.select.selection import DEFAULT as DEFAULT_MATCHERS
from skillweave.settings import Settings
from skillweave.sources.named import Progress, SkillSource, packs_of, source_of
from skillweave.state.port import Store
from skillweave.stores import store_of
from skillweave.tokens.counter import TokenCounter
from skillweave.weaver import OnStoreFailure, Weaver


def open_weaver(
    *skills: SkillSource,
    packs: Sequence[str] = (),
    ledger: str | os.PathLike[str] | Store | None = None,
    settings: Settings | None = None,
    counter: TokenCounter | None = None,
    context: ContextSource | None = None,
    graph: SkillGraph | None = None,
    matchers: Sequence[str | Matcher] = DEFAULT_MATCHERS,
    reranker: Reranker | None = None,
    precedence: Precedence = Precedence.FIRST,
    strictness: Strictness = Strictness.LENIENT,
    on_store_failure: OnStoreFailure = OnStoreFailure.FAIL_OPEN,
    observers: Sequence[Observer] = (),
    tenant: str = "",
    progress: Progress | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Weaver:
    """A Weaver over folders, packs and skills in code: nothing to start, nothing read before the first turn.

    `packs` are names of installed packs, such as `coding`; they come after the other sources, so that one's own skill
    goes before a pack's of the same id. `ledger` is a file name or `sqlite:///path` to keep conversations in, a Store,
    or None for this process's memory. `graph` is the skill graph of its conversations, in place of one that a pack
    brings. `reranker` judges the best ranked skills once more, before any is given or offered. `observers` are told
    what happens. `tenant` keeps the conversations of several customers apart. `cache` is a folder to keep what was read
    and indexed in, so that the next process reads only what changed; None keeps nothing.

    Raises SkillweaveError for a pack or a ledger that nothing installed can open.
    """
    if reranker is not None:
        matchers = with_reranker(matchers, reranker)
    kept = None if cache is None else CacheFolder(Path(cache))
    sources = [*(source_of(one, strictness, progress, kept) for one in skills), *packs_of(packs)]
    return Weaver(
        Registry(sources, precedence=precedence),
        store_of(ledger),
        settings,
        counter=counter,
        context=context,
        graph=graph,
        matchers=matchers,
        on_store_failure=on_store_failure,
        observers=observers,
        tenant=tenant,
        cache=kept,
    )
