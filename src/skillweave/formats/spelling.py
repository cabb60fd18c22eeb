"""Which of the spellings a mapping is written in, and the skill in it: how packs are read."""

from collections.abc import Mapping
from enum import Enum

from skillweave.errors import InvalidSkill
from skillweave.formats import codes
from skillweave.formats.definition import DEFINITION_KEYS, read_definition
from skillweave.formats.digest import digest_of
from skillweave.formats.fields import Fields
from skillweave.formats.findings import Findings, SkillRead
from skillweave.formats.native import read_native
from skillweave.formats.skill_md import read_front_fields
from skillweave.formats.tiers import MANIFEST, read_tiers
from skillweave.frontmatter import Keys


class Spelling(Enum):
    """The four spellings of a skill (spec 1.1)."""

    TIERS = "tiers"
    DEFINITION = "definition"
    NATIVE = "native"
    FRONT_MATTER = "front-matter"


_READERS = {
    Spelling.TIERS: read_tiers,
    Spelling.DEFINITION: read_definition,
    Spelling.NATIVE: read_native,
    Spelling.FRONT_MATTER: read_front_fields,
}


def spelling_of(mapping: Mapping[str, object]) -> Spelling:
    """The spelling by its telling keys; a mapping with none of them is read as front matter."""
    if MANIFEST in mapping or "skill_id" in mapping:
        return Spelling.TIERS
    if "id" in mapping:
        return Spelling.NATIVE
    if any(key in mapping for key in DEFINITION_KEYS):
        return Spelling.DEFINITION
    return Spelling.FRONT_MATTER


def read_any(
    mapping: Mapping[str, object],
    *,
    path: str,
    source: str,
    lines: Mapping[Keys, int] | None = None,
    at: Keys = (),
) -> SkillRead:
    """The skill in a mapping of any spelling, and what is wrong with it; never raises.

    `lines` and `at` tell where the mapping stands in its file, as `read_yaml` reported it.
    """
    findings = Findings(path, lines or {})
    fields = Fields(mapping, findings, at)
    try:
        digest = digest_of(mapping)
    except InvalidSkill as error:
        findings.report(codes.BAD_VALUE, at, str(error), "write JSON data only")
        return findings.outcome(None)
    return _READERS[spelling_of(mapping)](fields, source=source, digest=digest)
