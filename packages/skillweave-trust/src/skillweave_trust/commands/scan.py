"""`skillweave scan`: what looks like an attack in skills, as lines for people or as SARIF."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from skillweave.commands import MISTAKE, OUTPUT, Answer, Mistake, option

EXAMPLES = {
    "scan": """
skillweave scan .claude/skills
skillweave scan .claude/skills --sarif findings.sarif
skillweave scan .claude/skills --read other-scanner.sarif --json
"""
}


def scan(
    folders: Annotated[list[str], typer.Argument(metavar="FOLDER...", help="Folders of skills.")],
    sarif: Annotated[str | None, option(OUTPUT, "--sarif FILE", "Write the findings there, as SARIF 2.1.0.")] = None,
    read: Annotated[
        list[str] | None, option(OUTPUT, "--read FILE", "Add the findings of another scanner's SARIF. Repeatable.")
    ] = None,
) -> Answer:
    """Look for attacks in skills.

    That is hidden characters, orders to the agent, downloads that run, encoded payloads. A finding is a reason to look.
    No finding is no reason to trust: published scanners miss nine attacks in ten, and so may this one. The exit code is
    1 where a finding would hold a skill back.
    """
    from skillweave_trust.commands.shown import Scanned, scanned_text
    from skillweave_trust.scanning import findings_from_sarif, scan_folder, to_sarif

    findings = [found for folder in folders for found in scan_folder(Path(folder))]
    findings += [found for file in read or () for found in findings_from_sarif(Path(file))]
    shown = Scanned(tuple(findings), any(one.severity == "error" for one in findings))
    if sarif is not None:
        try:
            Path(sarif).write_text(to_sarif(findings), "utf-8")
        except OSError as error:
            raise Mistake(f"{sarif} cannot be written: {error.strerror}; name another file") from None
    return Answer(lambda: shown, partial(scanned_text, shown), code=MISTAKE if shown.would_hold_back else 0)
