"""What `skillweave phrases` prints for people."""

from collections.abc import Iterator

from skillweave.commands import Ink, Page, counted, listed
from skillweave_eval.phrases.checking import CheckReport
from skillweave_eval.phrases.writing import DryReport, WrittenReport

LISTED = 10


def dry_text(report: DryReport, page: Page) -> str:
    """What writing would take."""
    what = f"{counted(report.calls, 'call')} for {counted(report.skills, 'skill')}, into {report.file}"
    tokens = f"{report.sent:,} sent, at most {report.answered_at_most:,} answered"
    lines = [page.entry("calls", what), page.entry("tokens", tokens)]
    if report.cost_at_most:
        lines.append(page.entry("cost", f"at most {report.cost_at_most:.4f}"))
    return "\n".join(lines)


def written_text(report: WrittenReport, page: Page) -> str:
    """What was written, and what was not."""
    lines = [page.entry("failed", f"{one}: {why}", Ink.BAD) for one, why in list(report.failed.items())[:LISTED]]
    for one, phrases in list(report.stolen.items())[:LISTED]:
        lines.append(page.entry("left out", f"{one}: {'; '.join(phrases)}", Ink.WARN))
    lines += [page.entry("dropped", f"{counted(times, 'phrase')}: {why}") for why, times in report.dropped.items()]
    if report.stopped:
        lines.append(page.entry("stopped", f"{report.stopped}; the same command goes on from there", Ink.WARN))
    taken = f"{report.usage.input:,} tokens sent, {report.usage.output:,} answered"
    if report.cost:
        taken += f", cost {report.cost:.4f}"
    done = f"{counted(report.phrases, 'phrase')} of {counted(report.written, 'skill')} in {report.file}"
    fresh = f"; {report.known:,} of {report.skills:,} were fresh" if report.known else ""
    return "\n".join([*lines, page.entry("written", f"{done}{fresh}; {taken}", Ink.GOOD)])


def check_text(report: CheckReport, page: Page) -> str:
    """What is wrong with the phrases."""
    return "\n".join(_check_lines(report, page))


def _check_lines(report: CheckReport, page: Page) -> Iterator[str]:
    for one in report.stolen[:LISTED]:
        yield page.entry("stolen", f"{one.skill_id}: {one.phrase!r} fits {one.fits}", Ink.WARN)
    if len(report.stolen) > LISTED:
        yield page.entry("", f"and {len(report.stolen) - LISTED} more")
    for label, ids in (("missing", report.missing), ("stale", report.stale), ("unknown", report.unknown)):
        if ids:
            more = f" and {len(ids) - LISTED} more" if len(ids) > LISTED else ""
            yield page.entry(label, f"{counted(len(ids), 'skill')}: {listed(ids[:LISTED])}{more}", Ink.WARN)
    greedy = [f"{one} ({times})" for one, times in report.greedy.items() if times > 1][:LISTED]
    if greedy:
        yield page.entry("greedy", f"given for phrases of others: {', '.join(greedy)}", Ink.WARN)
    label, ink = ("good", Ink.GOOD) if report.sound else ("not good", Ink.BAD)
    yield page.entry(label, f"{report.with_phrases:,} of {counted(report.skills, 'skill')} have phrases", ink)
