"""How many triggers a skill may have, and how large its patterns may be: what more there is is left out, and said."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.skill import Skill
from skillweave.text.search import BrokenPattern, ascii_only_escapes, compile_pattern, size_of

MOST_PHRASES = 1_000
"""Keywords of one skill that are looked for, and so many verbs and `never` phrases each."""
MOST_PATTERNS, MOST_PATTERNS_IN_ALL = 100, 10_000
"""Patterns of one skill, and of all."""
LARGEST_PATTERNS, LARGEST_PATTERNS_IN_ALL = 20_000, 500_000
"""Instructions that the patterns of one skill compile to, and those of all: what a character of a message costs."""


def too_many_phrases(skill: Skill) -> Iterator[Diagnostic]:
    """An error for each list of phrases that is longer than a thousand."""
    triggers = skill.triggers
    for name, phrases in (("keywords", triggers.keywords), ("verbs", triggers.verbs), ("never", triggers.never)):
        if len(phrases) > MOST_PHRASES:
            message = (
                f"skill {skill.id!r} has {len(phrases):,} phrases in `{name}`; only the first {MOST_PHRASES:,} count"
            )
            fix = "Keep those that people really say; a skill for everything is no skill."
            yield about(skill, "too-many-keywords", Severity.ERROR, message, fix)


@dataclass(slots=True)
class GatheredPatterns:
    """The patterns that count, each once, by whom they are, and how many instructions they compile to."""

    claims: dict[str, list[int]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    size: int = 0

    def add(self, position: int, skill: Skill) -> Iterator[Diagnostic]:
        """Enter a skill's patterns while there is room for them; say what is wrong with them.

        The codes are `broken-pattern`, `ascii-pattern` and `too-many-patterns`.
        """
        sources = tuple(dict.fromkeys(skill.triggers.patterns))
        own = 0
        for place, source in enumerate(sources):
            if source not in self.sizes:
                try:
                    self.sizes[source] = size_of(compile_pattern(source))
                except BrokenPattern as broken:
                    yield about(
                        skill, "broken-pattern", Severity.ERROR, f"pattern {_shown(source)}: {broken}", broken.fix
                    )
                    continue
            new = 0 if source in self.claims else self.sizes[source]
            own += self.sizes[source]
            limit = self._limit(place, own, new)
            if limit is not None:
                left_out = f"the last {len(sources) - place:,} of its {len(sources):,} patterns are left out"
                message = f"skill {skill.id!r}: {left_out}, because {limit}"
                fix = "Use keywords for plain words, smaller repetition counts, and fewer patterns."
                yield about(skill, "too-many-patterns", Severity.ERROR, message, fix)
                return
            self.size += new
            self.claims.setdefault(source, []).append(position)
            yield from _check_escapes(skill, source)

    def _limit(self, place: int, own: int, new: int) -> str | None:
        """The limit that is reached with one more pattern of a skill; None where there is none."""
        if place >= MOST_PATTERNS:
            return f"a skill may have {MOST_PATTERNS}"
        if own > LARGEST_PATTERNS:
            return f"those of one skill may compile to {LARGEST_PATTERNS:,} instructions"
        if new and len(self.claims) >= MOST_PATTERNS_IN_ALL:
            return f"all skills together may have {MOST_PATTERNS_IN_ALL:,}"
        if self.size + new > LARGEST_PATTERNS_IN_ALL:
            return f"those of all skills together may compile to {LARGEST_PATTERNS_IN_ALL:,} instructions"
        return None


def _check_escapes(skill: Skill, source: str) -> Iterator[Diagnostic]:
    if escapes := ascii_only_escapes(source):
        yield about(
            skill,
            "ascii-pattern",
            Severity.WARNING,
            f"pattern {_shown(source)}: {', '.join(escapes)} know ASCII letters only",
            "For words of other scripts use a keyword, which has boundaries in every script, or \\pL.",
        )


def about(skill: Skill, code: str, severity: Severity, message: str, fix: str) -> Diagnostic:
    """A finding about a skill's triggers, at its place."""
    location = Location(skill.origin.location) if skill.origin else None
    return Diagnostic(code, severity, message, fix, skill.id, location)


def _shown(source: str) -> str:
    return repr(source if len(source) <= 80 else source[:80] + "…")
