"""`skillweave eval learn`: which skill was right, from what happened in conversations."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from skillweave import commands
from skillweave.commands import MISTAKE, Answer, Ink, Mistake, Page, counted
from skillweave_eval.commands.shared import EVALUATION, Resampled, embedder_id

if TYPE_CHECKING:
    from skillweave import Weaver
    from skillweave_eval.learning.learned import Learned
    from skillweave_eval.learning.proof import LearnReport, RolledBack

FOLDER = ".skillweave/learned"


async def learn(
    *,
    loading: commands.Loading,
    ledger: Annotated[
        str | None, commands.option(EVALUATION, "--ledger URL-or-FILE", "Where the conversations are kept.")
    ] = None,
    tenant: Annotated[str, commands.option(EVALUATION, "--tenant NAME", "Whose conversations they are.")] = "",
    kept: Annotated[
        str | None, commands.option(EVALUATION, "--kept FILE", "What a Keeper kept of them: without it, no phrases.")
    ] = None,
    into: Annotated[
        str, commands.option(EVALUATION, "--into FOLDER", "The versions of what was learned of this tenant.")
    ] = FOLDER,
    promote: Annotated[
        bool, commands.option(EVALUATION, "--promote", "Let it count where later messages prove it.")
    ] = False,
    rollback: Annotated[
        bool, commands.option(EVALUATION, "--rollback", "Let the version before count again, and learn nothing.")
    ] = False,
    selecting: commands.Selecting,
    resampled: Resampled,
) -> Answer:
    """Learn which skill is right from what happened, and prove it on later messages.

    A skill was right that the model opened, or that was given and used; wrong that was taken back. Earlier messages
    teach from which probability on to give, and phrases that led to opening; later ones judge. Nothing counts without
    --promote, and nothing is promoted that is worse. Skills that were never shown cannot be credited.
    """
    from skillweave_eval.learning.proof import RolledBack, Versions

    versions = Versions(Path(into), tenant)
    if rollback:
        left = None if versions.current is None else versions.current.version
        back = versions.roll_back()
        done = RolledBack(into, left, None if back is None else back.version)
        return Answer(lambda: done, partial(_rolled_back_text, done))
    if selecting.fitted is not None:
        raise Mistake(f"it is learned on top of what counts in {into}; leave --fitted out")
    report = await _learned(loading, _file(kept), ledger, versions.current, tenant, selecting, resampled)
    if promote and report.proven:
        from dataclasses import replace

        report = replace(report, promoted=str(versions.promote(report.learned)))
    code = MISTAKE if promote and not report.proven else 0
    return Answer(lambda: report, partial(_text, report), code=code)


def _file(kept: str | None) -> Path | None:
    if kept is not None and not Path(kept).is_file():
        raise Mistake(f"there is no file {kept!r}; name the one that a Keeper of this tenant writes")
    return None if kept is None else Path(kept)


async def _learned(
    loading: commands.Loading,
    kept: Path | None,
    ledger: str | None,
    current: "Learned | None",
    tenant: str,
    selecting: commands.Selecting,
    resampled: Resampled,
) -> "LearnReport":
    from skillweave import MemoryStore, Registry
    from skillweave.selection import build_index, shipped_fit
    from skillweave_eval.learning.keeping import read_kept
    from skillweave_eval.learning.labels import heard_in
    from skillweave_eval.learning.learned import Learned, WithLearned
    from skillweave_eval.learning.proof import learn as learn_from
    from skillweave_eval.learning.proof import replay_with
    from skillweave_eval.metrics import Resampling

    sources = loading.sources()
    async with commands.opened(commands.existing(ledger, "c1"), sources) as store:
        heard = await heard_in(store, tenant, () if kept is None else read_kept(kept, tenant))
    registry = Registry(sources)
    await registry.refresh()
    shipped = shipped_fit(build_index(registry.snapshot), embedder_id(selecting))

    def weaver_of(learned: Learned) -> "Weaver":
        return selecting.weaver([WithLearned(one, learned) for one in sources], MemoryStore(), None)

    base = current or Learned.nothing(shipped, tenant)
    today, resampling = datetime.now(UTC).date(), Resampling(resampled.seed, resampled.resamples)
    return await learn_from(heard, base, replay_with(weaver_of), resampling, today)


def _text(report: "LearnReport", page: Page) -> str:
    """What was heard, what was learned, what it changes, and what became of it."""
    from skillweave_eval.commands.output import table
    from skillweave_eval.tables import differences

    learned = report.learned
    phrases = sum(map(len, learned.phrases.values()))
    said = (
        f"{report.labelled} of {counted(report.messages, 'message')} say what was right, {report.with_words} have words"
    )
    head = [
        page.entry("heard", said),
        page.entry("never shown", f"{counted(report.found, 'skill')} opened all the same; no replay can credit others"),
        page.entry("learned", f"{counted(phrases, 'phrase')} of {counted(len(learned.phrases), 'skill')}"),
        page.entry("give at", f"{learned.give_at:.4f}", Ink.STRONG),
    ]
    changed = table(differences(report.differences, "on later messages", "before", "learned"), page)
    return "\n\n".join("\n".join(lines) for lines in (head, changed, [_verdict(report, page)]) if lines)


def _verdict(report: "LearnReport", page: Page) -> str:
    if report.worse:
        return page.entry("refused", f"worse on later messages: {', '.join(report.worse)}", Ink.BAD)
    if not report.better:
        return page.entry("refused", "nothing is better on later messages", Ink.WARN)
    if report.promoted is None:
        return page.entry("proven", "and not promoted; add --promote", Ink.GOOD)
    return page.entry("promoted", f"{report.promoted}; --rollback takes it back", Ink.GOOD)


def _rolled_back_text(done: "RolledBack", page: Page) -> str:
    now = "nothing that was learned counts" if done.now is None else f"version {done.now} counts"
    return page.entry("rolled back", f"version {done.left} in {done.folder}: {now}", Ink.GOOD)
