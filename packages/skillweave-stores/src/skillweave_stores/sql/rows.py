"""A skill as the columns of its row, and back: what was stored comes back equal; rows may be written by hand."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from skillweave import Diagnostic, Severity, Skill, Status
from skillweave.errors import InvalidData, InvalidSkill
from skillweave.registry import NO_SKILLS, UNKNOWN, Defined, content_hash_of, media_type_of
from skillweave.skills import (
    ARTIFACT_REFS,
    DEFINITION,
    EXTENSION,
    MANIFEST,
    Origin,
    digest_of,
    read_any,
    to_dict,
    to_tiers,
)
from skillweave.values import DEFAULT_TENANT, Code, Json, Location
from skillweave_stores.sql.documents import definition_hash_of, storable
from skillweave_stores.sql.tables import LONGEST_NAME, LONGEST_TAG

DAMAGED_ROW = Code("damaged-row", Severity.ERROR, "a row of a database that is no skill or no agent; left out")
NO_CONTENT = Code("artifact-without-content", Severity.WARNING, "a listed artifact of which the database has no row")
LONGEST_ARTIFACT_ID = 1024
"""Bytes of an artifact's id: it is a part of a key, which an index has to hold."""
_LARGEST = 2**63 - 1
_SHA_256 = re.compile(r"[0-9a-f]{64}")


class SkillColumns(NamedTuple):
    """What a row of `skills` or of `skill_versions` says, its documents as text; None where it says nothing."""

    id: str
    name: str
    tier1_manifest: str
    tier2_definition: str
    tier3_artifact_refs: str | None
    status: str | None
    version: str | None
    content_hash: str | None
    digest: str | None
    definition_hash: str | None
    origin: str | None


class ArtifactColumns(NamedTuple):
    """What a row of `skill_artifacts` says, but for its content."""

    skill_id: str
    id: str
    name: str
    media_type: str | None
    size: int
    content_hash: str
    token_estimate: int | None
    is_blob: bool

    def as_reference(self) -> dict[str, Json]:
        """The row in the form of an entry of `tier3_artifact_refs`."""
        reference: dict[str, Json] = {
            "id": self.id,
            "name": self.name,
            "media_type": self.media_type or self._media_type(),
            "size": self.size,
            "content_hash": self.content_hash,
        }
        return reference if self.token_estimate is None else {**reference, "token_estimate": self.token_estimate}

    def _media_type(self) -> str:
        guessed = next((kind for kind in map(media_type_of, (self.name, self.id)) if kind != UNKNOWN), UNKNOWN)
        return "text/plain" if guessed == UNKNOWN and not self.is_blob else guessed


@dataclass(frozen=True, slots=True)
class Stored:
    """A skill that a row holds; `by_hand` where it was not published as it is now.

    `rows` are the artifacts that the database has, `missing` the ids of those that are only listed.
    """

    skill: Skill
    content_hash: str
    rows: tuple[ArtifactColumns, ...] = ()
    missing: frozenset[str] = frozenset()
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A skill ready to be stored: the value that will come back, its documents, and the content of its artifacts.

    `origin` is where it came from, None where the database is its origin.
    """

    skill: Skill
    documents: Mapping[str, Any]
    definition_hash: str
    contents: Mapping[str, bytes]
    origin: Origin | None

    @property
    def content_hash(self) -> str:
        """What tells this version from others."""
        return content_hash_of(self.skill)

    def with_digest_of_its_own(self) -> "Prepared":
        """The same for a skill that has the digest of another definition."""
        return replace(self, skill=replace(self.skill, digest=digest_of(to_dict(self.skill))))

    def columns(self) -> dict[str, Any]:
        """What rows of both tables hold."""
        return {
            **self.documents,
            "version": self.skill.version,
            "content_hash": self.content_hash,
            "digest": self.skill.digest,
            "definition_hash": self.definition_hash,
            "origin": None if self.origin is None else self.origin.to_dict(),
        }

    def columns_in_use(self) -> dict[str, Any]:
        """What a row of `skills` holds."""
        return {
            **self.columns(),
            "id": self.skill.id,
            "name": self.skill.name[:LONGEST_NAME],
            "domain_tags": [tag[:LONGEST_TAG] for tag in self.skill.domain_tags],
            "status": self.skill.status.value,
        }


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads the rows of a tenant in the database at that place; `source` is the name that skills have it from."""

    source: str
    place: str
    tenant: str

    def path(self, table: str, row_id: object) -> str:
        """How findings, and skills that were written by hand, name a row."""
        whose = "" if self.tenant == DEFAULT_TENANT else f" of tenant {self.tenant!r}"
        return f"{self.place}, {table} {row_id!r:.110}{whose}"

    def origin(self, skill_id: str) -> Origin:
        """Where a skill is from that came from nowhere else."""
        return Origin(self.source, self.path("skills", skill_id))

    def nothing(self) -> Diagnostic:
        """The finding that the tenant has neither skills nor agents."""
        fix = "store some with `skillweave store put FOLDER --store URL`, or name another database or tenant"
        whose = "" if self.tenant == DEFAULT_TENANT else f" of tenant {self.tenant!r}"
        return NO_SKILLS.found(Location(self.place), f"{self.place} holds no skill{whose}", fix)

    def missing(self) -> Diagnostic:
        """The finding that the file of the database is not there."""
        fix = "correct the path, or make it with `skillweave store put FOLDER --store URL`"
        return NO_SKILLS.found(Location(self.place), f"{self.place} does not exist", fix)

    def skill(
        self, columns: SkillColumns, artifacts: Iterable[ArtifactColumns] = (), table: str = "skills"
    ) -> tuple[Stored | None, tuple[Diagnostic, ...]]:
        """The skill that the rows hold, None where they hold none, and all that is to be said about them."""
        path = self.path(table, columns.id)
        try:
            return _read(columns, tuple(artifacts), self.origin(columns.id), path)
        except (InvalidSkill, InvalidData) as error:
            return None, (damaged(path, str(error)),)

    def version(self, columns: SkillColumns) -> Prepared:
        """A version that was published, ready to be put in use again. Raises InvalidSkill for a damaged row."""
        stored, findings = self.skill(columns, table="skill_versions")
        if stored is None:
            raise InvalidSkill("; ".join(map(str, findings)))
        documents = {name: parsed(name, getattr(columns, name)) for name in (MANIFEST, DEFINITION, ARTIFACT_REFS)}
        origin = None if stored.skill.origin == self.origin(columns.id) else stored.skill.origin
        return Prepared(stored.skill, documents, columns.definition_hash or "", {}, origin)


def prepare(defined: Defined, reader: RowReader) -> Prepared:
    """The definition ready to be stored. Raises InvalidSkill for one that would not come back equal.

    What has no origin of its own, as it was made for this store, gets its row as its origin.
    """
    skill = defined.skill
    try:
        if skill.origin == Origin(reader.source, reader.source):
            skill = replace(skill, origin=reader.origin(skill.id))
        return _prepared(skill, defined.contents, reader)
    except InvalidSkill as error:
        raise InvalidSkill(f"skill {skill.id!r} cannot be stored: {error}") from None


def damaged(path: str, what: str) -> Diagnostic:
    """The finding that a row cannot be read."""
    fix = "correct the row or delete it, then `UPDATE generation SET number = number + 1`"
    return DAMAGED_ROW.found(Location(path), what, fix)


def parsed(name: str, document: object) -> Any:  # noqa: ANN401 - JSON data of any shape
    """The JSON data in a column, None for NULL. Raises InvalidSkill for what is no JSON."""
    if document is None:
        return None
    if not isinstance(document, str):
        raise InvalidSkill(f"`{name}` is of type {type(document).__name__}, not JSON")
    try:
        return json.loads(document)
    except (ValueError, RecursionError) as error:
        raise InvalidSkill(f"`{name}` is not JSON: {error}") from None


def _read(
    columns: SkillColumns, artifacts: tuple[ArtifactColumns, ...], default: Origin, path: str
) -> tuple[Stored | None, tuple[Diagnostic, ...]]:
    manifest = parsed(MANIFEST, columns.tier1_manifest)
    definition = parsed(DEFINITION, columns.tier2_definition)
    references = parsed(ARTIFACT_REFS, columns.tier3_artifact_refs)
    origin = parsed("origin", columns.origin)
    if not isinstance(columns.id, str):
        raise InvalidSkill(f"`id` is of type {type(columns.id).__name__}, not text")
    if not isinstance(manifest, dict) or not isinstance(definition, dict):
        raise InvalidSkill("`tier1_manifest` and `tier2_definition` are not both JSON objects")
    stated = definition.get("status", Status.ACTIVE.value)
    status = columns.status if columns.status is not None else stated
    if status not in tuple(Status):
        raise InvalidSkill(f"`status` is {status!r:.60}, none of {', '.join(Status)}")
    known = {one.id: one for one in artifacts}
    listed, missing = _listed(references, known)
    tiers = {
        MANIFEST: {"skill_id": columns.id, "name": columns.name, **manifest},
        DEFINITION: _with_columns(definition, status, columns.version),
        ARTIFACT_REFS: listed,
    }
    read = read_any(tiers, path=path, source=default.source)
    if read.skill is None:
        return None, read.diagnostics
    if read.skill.id != columns.id:
        raise InvalidSkill(
            f"`id` is {columns.id!r:.110}, and `tier1_manifest.skill_id` makes {read.skill.id!r}; make them equal, "
            "of letters, digits, `-` and `_`"
        )
    as_published = (
        columns.definition_hash == definition_hash_of(manifest, definition)
        and status == stated
        and tiers[DEFINITION] == {**definition, "status": status}
        and listed == (references or [])
    )
    found = tuple(
        replace(
            NO_CONTENT.found(
                Location(path),
                f"artifact {artifact!r:.200} is listed, and `skill_artifacts` has no row of it",
                "publish the skill with its content, or take the entry out of `tier3_artifact_refs`",
            ),
            skill=columns.id,
        )
        for artifact in missing
    )
    digest = columns.digest if as_published and columns.digest else digest_of(to_dict(read.skill))
    skill = replace(read.skill, digest=digest, origin=default if origin is None else Origin.from_dict(origin))
    content_hash = columns.content_hash if as_published and columns.content_hash else content_hash_of(skill)
    rows = tuple(known.values())
    return Stored(skill, content_hash, rows, frozenset(missing), not as_published), (*read.diagnostics, *found)


def _prepared(skill: Skill, contents: Mapping[str, bytes], reader: RowReader) -> Prepared:
    if not _SHA_256.fullmatch(skill.digest):
        raise InvalidSkill(f"`digest` is {skill.digest!r:.80}, no SHA-256 in lower case; leave it empty")
    documents = {name: storable(part, (name,)) for name, part in to_tiers(skill).items()}
    if skill.origin is not None:
        storable(skill.origin.to_dict(), ("origin",))
    _require_artifacts(skill)
    read = read_any(documents, path="", source="").skill
    if read is None:
        raise InvalidSkill("it has no id or no description; give it both")
    kept = replace(read, origin=skill.origin, digest=skill.digest)
    for part in fields(Skill):
        if getattr(kept, part.name) != getattr(skill, part.name):
            raise InvalidSkill(
                f"`{part.name}` would come back as another value; correct it to what a definition allows"
            )
    definition_hash = definition_hash_of(documents[MANIFEST], documents[DEFINITION])
    origin = None if skill.origin == reader.origin(skill.id) else skill.origin
    return Prepared(kept, documents, definition_hash, contents, origin)


def _require_artifacts(skill: Skill) -> None:
    seen: set[str] = set()
    for ref in skill.artifacts:
        if len(ref.id.encode()) > LONGEST_ARTIFACT_ID:
            raise InvalidSkill(f"the id of artifact {ref.id[:40]!r}… has over {LONGEST_ARTIFACT_ID} bytes; shorten it")
        if ref.id in seen:
            raise InvalidSkill(f"artifact {ref.id!r} is listed twice; list it once")
        if max(ref.size, ref.token_estimate or 0) > _LARGEST:
            raise InvalidSkill(f"the size or token estimate of artifact {ref.id!r} is over {_LARGEST}; correct it")
        seen.add(ref.id)


def _with_columns(definition: Mapping[str, Any], status: str, version: str | None) -> dict[str, Any]:
    """The definition with what its columns say, which count."""
    extension = definition.get(EXTENSION, {})
    if version is None or not isinstance(extension, dict):
        return {**definition, "status": status}
    return {**definition, "status": status, EXTENSION: {**extension, "version": version}}


def _listed(references: object, known: Mapping[str, ArtifactColumns]) -> tuple[list[Any], list[str]]:
    """The entries for all artifacts in order, as their rows say them, and the ids of those that have no row."""
    if references is not None and not isinstance(references, list):
        raise InvalidSkill("`tier3_artifact_refs` is not a JSON list")
    entries, missing = [], []
    rest = dict(known)
    for entry in references or ():
        artifact = entry.get("id") if isinstance(entry, dict) else entry
        row = rest.pop(artifact, None) if isinstance(artifact, str) else None
        if row is None and isinstance(artifact, str):
            missing.append(artifact)
        entries.append(entry if row is None else row.as_reference())
    return [*entries, *(row.as_reference() for row in rest.values())], missing
