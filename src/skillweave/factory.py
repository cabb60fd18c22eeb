"""The composition root: from paths and names to a Weaver."""

import os
from collections.abc import Sequence
from pathlib import Path

from skillweave.cachefile import CacheFolder
from skillweave.checking import Checked
from skillweave.events.event import Observer
from skillweave.formats.strictness import Strictness
from skillweave.graph.graph import SkillGraph
from skillweave.knowledge.context import ContextSource
from skillweave.knowledge.entity import EntityGraph
from skillweave.registry import Precedence, Registry, Source
from skillweave.select.lexical import MATCHERS_OF_WORDS
from skillweave.select.matchers import Matcher
from skillweave.select.reranker import Reranker, with_reranker
from skillweave.select.selection import DEFAULT as DEFAULT_MATCHERS
from skillweave.settings import Settings
from skillweave.sources.named import Progress, SkillSource, packs_of, source_of
from skillweave.state.port import DecisionLog, Store
from skillweave.stores.named import entities_of, log_of, store_of
from skillweave.stores.split import SplitStore, with_log
from skillweave.text.embedding import Embedder
from skillweave.tokens.counter import TokenCounter
from skillweave.weaver import OnStoreFailure, Weaver, WhenUnknown


def open(  # noqa: A001 - read as `skillweave.open`
    *skills: SkillSource,
    packs: Sequence[str] = (),
    ledger: str | os.PathLike[str] | Store | None = None,
    decisions: str | os.PathLike[str] | DecisionLog | None = None,
    settings: Settings | None = None,
    counter: TokenCounter | None = None,
    context: ContextSource | None = None,
    entities: str | os.PathLike[str] | EntityGraph | None = None,
    graph: SkillGraph | None = None,
    matchers: Sequence[str | Matcher] = DEFAULT_MATCHERS,
    embedder: str | Embedder | None = None,
    reranker: Reranker | None = None,
    precedence: Precedence = Precedence.FIRST,
    strictness: Strictness = Strictness.LENIENT,
    on_store_failure: OnStoreFailure = OnStoreFailure.CONTINUE,
    when_unknown: WhenUnknown = WhenUnknown.DENY,
    observers: Sequence[Observer] = (),
    tenant: str = "",
    progress: Progress | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Weaver:
    """A Weaver over folders, packs and skills in code: nothing to start, nothing read before the first turn.

    `packs` are names of installed packs, such as `coding`; they come after the other sources, so that one's own skill
    goes before a pack's of the same id. `ledger` is a file name or `sqlite:///path` to keep conversations in, a Store,
    or None for this process's memory. `decisions` is another place for what `why` answers, named as a ledger is, or a
    DecisionLog; left out, decisions are kept in the ledger, or, where a ledger in memory such as Redis stands beside
    skills in a SQL database, in that database. `graph` is the skill graph of its conversations, in place of one that a
    pack brings. `context` says what is known about an entity; in its place `entities` is a graph of them, of
    which the packs' `context:` says what is shown: a file, `sqlite:///path`, `postgresql://...`, or an EntityGraph.
    `reranker` judges the best ranked skills once more, before any is given or offered. `on_store_failure` and
    `when_unknown` say what becomes of turns and of tool calls while the ledger does not answer. `observers` hear
    what happens. `tenant` keeps several customers apart: their conversations, and their skills in a store that is
    named by its URL. `cache` is a folder to keep what was read
    and indexed in, so that the next process reads only what changed; None keeps nothing.

    `embedder` makes the matcher `lexical` one that also knows what words mean: `multilingual`, which comes with
    skillweave-multilingual, `sentence-transformers:MODEL`, `openai:MODEL`, or an Embedder.

    Raises InvalidValue for an argument of another type than is wanted, and SkillweaveError for a pack, a ledger or an
    embedder that nothing installed can open. Enums are also taken as their texts.
    """
    checked = Checked("skillweave.open")
    strict = checked.member("strictness", strictness, Strictness)
    if progress is not None and not callable(progress):
        checked.refuse("progress", progress, "a function that is told how many files were looked at, of how many")
    if cache is not None and not isinstance(cache, str | os.PathLike):
        checked.refuse("cache", cache, "the path of a folder, or None")
    matchers = checked.listed("matchers", matchers, "names and matchers, such as ['triggers', 'lexical']")
    if embedder is not None:
        matchers = with_embedder(matchers, embedder)
    if reranker is not None:
        matchers = with_reranker(matchers, reranker)
    kept = None if cache is None else CacheFolder(Path(cache))
    named = (_of_tenant(one, source_of(one, strict, progress, kept), tenant) for one in skills)
    sources = [*named, *packs_of(packs)]
    store = store_of(ledger)
    store = with_log(store, sources) if decisions is None else SplitStore(store, log_of(decisions))
    return Weaver(
        Registry(sources, precedence=checked.member("precedence", precedence, Precedence)),
        store,
        settings,
        counter=counter,
        context=context,
        entities=None if entities is None else graph_of_entities(entities, tenant),
        graph=graph,
        matchers=matchers,
        on_store_failure=on_store_failure,
        when_unknown=when_unknown,
        observers=observers,
        tenant=tenant,
        cache=cache,
    )


def _of_tenant(given: SkillSource, source: Source, tenant: str) -> Source:
    """What a URL names are the skills of the tenant; a Source that was handed in says itself whose skills it has."""
    for_tenant = getattr(source, "for_tenant", None)
    return for_tenant(tenant) if isinstance(given, str) and callable(for_tenant) else source


def graph_of_entities(entities: str | os.PathLike[str] | EntityGraph, tenant: str = "") -> EntityGraph:
    """The entity graph that a name stands for: a JSON or CSV file, or a URL, whose entities are the tenant's.

    Raises InvalidValue for a file that is not there and for what is no graph, SkillweaveError for a scheme that nothing
    installed can open.
    """
    if isinstance(entities, str | os.PathLike) and "://" not in os.fspath(entities):
        # What reads files of entities takes long to import.
        from skillweave.sources.entity_files import FileGraph

        return FileGraph(entities)
    return entities_of(entities, tenant=tenant)


def with_embedder(matchers: Sequence[str | Matcher], embedder: str | Embedder) -> tuple[str | Matcher, ...]:
    """The matchers with `hybrid` in the place of `lexical`.

    Vectors of what an embedder given by name embeds are kept in the user's cache folder; an Embedder in code keeps
    them where it likes. Raises SkillweaveError for an embedder that nothing installed can open.
    """
    from skillweave.cachefile import CacheFolder, default_folder
    from skillweave.embedders import embedder_of
    from skillweave.embedders.on_disk import KeptOnDisk
    from skillweave.select.hybrid import HybridMatcher

    found = embedder_of(embedder)
    if isinstance(embedder, str):
        found = KeptOnDisk(found, CacheFolder(default_folder()))
    hybrid = HybridMatcher(found)
    return tuple(hybrid if isinstance(one, str) and one in MATCHERS_OF_WORDS else one for one in matchers)
