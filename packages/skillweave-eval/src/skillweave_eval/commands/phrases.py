"""`skillweave phrases`: what people would type, written by a model and checked."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from skillweave import commands
from skillweave.commands import MISTAKE, Answer, Mistake
from skillweave_eval.commands.live import BY_SIGNAL, Asking, ended_by_ctrl_c
from skillweave_eval.commands.shared import EVALUATION, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillweave import Skill
    from skillweave_eval.phrases.writing import Lines

__all__ = ["EXAMPLES", "check", "write"]

EXAMPLES = {
    "write": """
skillweave phrases write --skills skills --model openai:gpt-5-mini --dry-run
skillweave phrases write --skills skills --model openai:gpt-5-mini --max-cost 2 --price-in 1 --price-out 5
skillweave phrases write --skills skills --model anthropic-messages:claude-haiku-4-5 --languages english,german
""",
    "check": """
skillweave phrases check --skills skills
skillweave phrases check --skills skills --json
""",
}
FILE_OF_ANSWER = 1_000
"""Tokens that the answer about one skill may have."""


async def write(
    *,
    loading: commands.Loading,
    asking: Asking,
    count: Annotated[
        int,
        commands.option(EVALUATION, "--count N", "Phrases in the first language.", parser=commands.whole_number),
    ] = 5,
    languages: Annotated[
        str, commands.option(EVALUATION, "--languages A,B", "The library's language first; two phrases in each other.")
    ] = "english",
    dry_run: Annotated[
        bool, commands.option(EVALUATION, "--dry-run", "Say what would be asked and what it takes; send nothing.")
    ] = False,
    concurrency: Annotated[
        int, commands.option(EVALUATION, "--concurrency N", "Calls at the same time.", parser=commands.whole_number)
    ] = 4,
) -> Answer:
    """Let a model write what people would type who need each skill.

    They are kept beside the library, in skillweave.phrases.jsonl, one line a skill, and found by every search from then
    on. Skills whose phrases are fresh are not asked about again, so that the same command goes on after Ctrl-C or a
    limit. A phrase that another skill would be given for is left out and named.
    """
    from skillweave.selection import Tiktoken
    from skillweave_eval.commands.phrases_output import dry_text, written_text
    from skillweave_eval.live.runs import Bench
    from skillweave_eval.phrases.checking import Fits
    from skillweave_eval.phrases.writing import DryReport, Writing, WrittenReport, sent_for

    skills, lines = await _library(loading)
    named = [one.strip() for one in languages.split(",") if one.strip()]
    if not named or not 1 <= count <= 8:
        raise Mistake("--count is from 1 to 8, and --languages names one at least, such as english,german")
    missing = [skill for skill in skills if not lines.is_current(skill)]
    models = asking.models(longest_answer=FILE_OF_ANSWER)
    counter = Tiktoken()
    if dry_run:
        sent = sum(sent_for(skill, count, named, counter) for skill in missing)
        most = len(missing) * FILE_OF_ANSWER
        cost = (sent * models.prices.input + most * models.prices.output) / 1_000_000
        dry = DryReport(str(lines.path), len(skills), len(missing), sent, most, round(cost, 4))
        return Answer(lambda: dry, partial(dry_text, dry))
    writing = Writing(
        Bench(models, counter), lines, count, named, datetime.now(UTC).date().isoformat(), await Fits.of(skills)
    )
    with progress("Writing") as tell, ended_by_ctrl_c():
        await writing.run(missing, concurrency, tell)
    report = WrittenReport(
        str(lines.path),
        skills=len(skills),
        known=len(skills) - len(missing),
        written=writing.written,
        phrases=writing.phrases,
        dropped=writing.dropped,
        failed=writing.failed,
        stolen=writing.stolen,
        usage=writing.usage,
        cost=models.prices.of(writing.usage),
        stopped=writing.stopped,
    )
    code = BY_SIGNAL if writing.interrupted else MISTAKE if report.failed or report.stopped else 0
    return Answer(lambda: report, partial(written_text, report), code=code)


async def check(*, loading: commands.Loading) -> Answer:
    """Say which skills have no phrases, which phrases are stale, and which belong to another skill.

    A phrase is stale when the text that it was written from has changed. It belongs to another skill when that one
    would be given for it by what the skills say of themselves; and a skill is greedy that is given for the phrases of
    others.
    """
    from skillweave_eval.commands.phrases_output import check_text
    from skillweave_eval.phrases.checking import check_phrases

    skills, lines = await _library(loading)
    report = await check_phrases(skills, lines.by_id)
    return Answer(lambda: report, partial(check_text, report), code=0 if report.sound else MISTAKE)


async def _library(loading: commands.Loading) -> "tuple[Sequence[Skill], Lines]":
    """The skills of one folder, and the file of phrases beside them."""
    from skillweave import Registry
    from skillweave_eval.phrases.writing import FILE, Lines

    folders = [Path(one) for one in loading.skills or ()] or [Path(commands.DEFAULT_FOLDER)]
    if len(folders) != 1 or not folders[0].is_dir():
        raise Mistake("phrases stand beside the skills of one folder; name it with --skills DIR")
    registry = Registry(loading.sources())
    await registry.refresh()
    return registry.snapshot.active(), Lines(folders[0] / FILE)
