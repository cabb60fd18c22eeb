"""What the commands for skills of strangers print."""

from dataclasses import dataclass

from skillweave.commands import Ink, Page, counted, printable
from skillweave.values import Portable
from skillweave_trust.scanning import Finding


@dataclass(frozen=True, slots=True)
class Yes(Portable):
    """A yes to a skill or to one run: `change` is approved, one-run, revoked or not-approved."""

    skill: str
    digest: str
    change: str
    run: str | None
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signed(Portable):
    """A signature over a folder; `key` is the public one that it was verified with, None where it was just made."""

    folder: str
    signature: str
    key: str | None


@dataclass(frozen=True, slots=True)
class Scanned(Portable):
    """The findings of a scan, and whether one of them would hold a skill back."""

    findings: tuple[Finding, ...]
    would_hold_back: bool


def yes_text(shown: Yes, page: Page) -> str:
    """One line: what was said of which files."""
    what = " ".join((shown.run, *shown.arguments)) if shown.run else "the whole skill"
    ink = Ink.WARN if shown.change == "not-approved" else Ink.GOOD
    return page.entry(shown.change, f"{printable(shown.skill)}: {printable(what)}, files {shown.digest[:12]}", ink)


def signed_text(shown: Signed, page: Page) -> str:
    """One line: where the signature stands, or whose it is."""
    if shown.key is None:
        return page.entry("signed", f"{printable(shown.folder)}, in {printable(shown.signature)}", Ink.GOOD)
    return page.entry("verified", f"{printable(shown.folder)} is signed by {printable(shown.key)}", Ink.GOOD)


def scanned_text(shown: Scanned, page: Page) -> str:
    """A line for each finding, then how to read them."""
    inks = {"error": Ink.BAD, "warning": Ink.WARN}
    lines = [
        page.entry(
            one.severity,
            f"{printable(one.path)}:{one.line} {one.code}: {printable(one.reason)}",
            inks.get(one.severity, Ink.FAINT),
        )
        for one in shown.findings
    ]
    lines.append(f"{counted(len(shown.findings), 'finding')}. No finding is no reason to trust a skill.")
    return "\n".join(lines)
