"""A source of strangers' skills, of which an agent gets only what showed what the policy asks for."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skillweave import Diagnostic, Severity, Skill, Status
from skillweave.errors import ArtifactNotFound
from skillweave.manifest import Manifest, ManifestFile, sha256_of
from skillweave.registry import Loaded, Package, Packaged, Source, WrappedSource, stream_of
from skillweave.skills import HELD_BACK
from skillweave.values import Code, FrozenDict, Location
from skillweave_trust.approvals import Approvals
from skillweave_trust.policy import ASKING, Need, Policy, Rule
from skillweave_trust.scanning import scan_files
from skillweave_trust.signing import SIGNATURE, NotSigned, require_signed

__all__ = ["QUARANTINED", "Trusted", "definition_manifest"]

QUARANTINED = Code("quarantined", Severity.WARNING, "a skill that its policy holds back; an approval lets it in")


@dataclass(frozen=True, slots=True)
class _Judged:
    """A skill as it is handed on, its manifest, and why it is held back; None where it is let in."""

    skill: Skill
    manifest: Manifest | None
    why: str | None


class Trusted(WrappedSource):
    """Any source behind a policy: what is held back is there by its id alone, quarantined, with what lets it in.

    `origin` says what the source is, such as `git:https://example.org/skills` or `folder:skills`; `origins` says it of
    single skills, as a lock does, and wins. `locked` are the manifests that a lock names. Approvals are the user's own.
    """

    def __init__(
        self,
        source: Source,
        policy: Policy = ASKING,
        *,
        origin: str,
        origins: Mapping[str, str] | None = None,
        locked: Mapping[str, Mapping[str, str]] | None = None,
        approvals: Approvals | None = None,
    ) -> None:
        super().__init__(source)
        self._policy = policy
        self._origin = origin
        self._origins = dict(origins or {})
        self._locked = {name: dict(files) for name, files in (locked or {}).items()}
        self.approvals = approvals or Approvals.of_user()
        self._let_in: dict[str, Manifest] = {}

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """What the wrapped source loads, judged anew each time: a yes may have been given or taken back."""
        before = previous.memory if previous is not None and isinstance(previous.memory, Loaded) else None
        inner = await self.source.load(before)
        return replace(await self._judge(inner), memory=inner)

    async def version(self) -> str | None:
        """None: an approval changes what is held without the wrapped source knowing."""
        return None

    async def stream(self) -> AsyncIterator[Loaded]:
        """The wrapped source's stream, each part judged."""
        async for part in stream_of(self.source):
            yield await self._judge(part)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The content of an artifact, which has to be what was let in; raises ArtifactNotFound."""
        data = await self.source.read(self._require_let_in(skill, artifact), artifact)
        return self._as_let_in(skill, artifact, data)

    async def packages(self, skills: Sequence[Skill], known: Mapping[str, Package]) -> Mapping[str, Package]:
        """The files of those skills that were let in."""
        return await super().packages([one for one in skills if one.status is not Status.QUARANTINED], known)

    async def read_file(self, skill: Skill, path: str) -> bytes:
        """Any file of a skill that was let in, as it was then; raises ArtifactNotFound."""
        data = await super().read_file(self._require_let_in(skill, path), path)
        return self._as_let_in(skill, path, data)

    async def manifest_of_skill(self, skill: Skill) -> Manifest | None:
        """Returns what an approval of this skill would be bound to, held back or not; None where it is not whole."""
        if not isinstance(self.source, Packaged):
            return definition_manifest(skill)
        found = (await self.source.packages([skill], {})).get(skill.id)
        return definition_manifest(skill) if found is None else found.manifest

    def _require_let_in(self, skill: Skill, path: str) -> Skill:
        if skill.status is Status.QUARANTINED:
            raise ArtifactNotFound(skill.id, path, f"the skill is {skill.extra.get(HELD_BACK)}")
        return skill

    def _as_let_in(self, skill: Skill, path: str, data: bytes) -> bytes:
        manifest = self._let_in.get(skill.id)
        known = manifest.file(path) if manifest is not None else None
        if known is not None and known.sha256 != sha256_of(data):
            raise ArtifactNotFound(skill.id, path, "it was changed since the skill was let in; load the skills anew")
        return data

    async def _judge(self, loaded: Loaded) -> Loaded:
        judged = [await self._judged(skill) for skill in loaded.skills]
        self._let_in.update((one.skill.id, one.manifest) for one in judged if one.why is None and one.manifest)
        held = tuple(one for one in judged if one.why is not None)
        changed = replace(
            loaded,
            skills=tuple(one.skill for one in judged),
            diagnostics=(*loaded.diagnostics, *(_finding(one) for one in held)),
        )
        # Rules, routes and agents of strangers act on every skill: they wait until all of theirs are let in.
        bare = Loaded(changed.skills, changed.diagnostics)
        return bare if held else changed

    async def _judged(self, skill: Skill) -> _Judged:
        origin = self._origins.get(skill.id, self._origin)
        rule = self._policy.rule_for(origin)
        if rule.needs is Need.NOTHING and not rule.scan:
            return _Judged(skill, None, None)
        manifest = await self.manifest_of_skill(skill)
        why = await self._why_not(skill, manifest, rule)
        if why is None:
            return _Judged(skill, manifest, None)
        return _Judged(_held_back(skill, f"{why} (it is from {origin})"), manifest, why)

    async def _why_not(self, skill: Skill, manifest: Manifest | None, rule: Rule) -> str | None:
        if manifest is None:
            return "not all of its files can be read, so that nothing can be said of it; repair its folder"
        root = [one.sha256 for one in manifest.files if one.path in {"SKILL.md", "skill.md", "definition"}]
        if skill.digest not in root:
            return "it changed while it was read; load the skills anew"
        if await asyncio.to_thread(self.approvals.is_approved, skill.id, manifest):
            return None
        lift = f"look at it, then `skillweave approve {skill.id}`"
        why = await self._what_it_lacks(skill, manifest, rule, lift)
        return why if why or not rule.scan else await self._why_suspect(skill, manifest, lift)

    async def _what_it_lacks(self, skill: Skill, manifest: Manifest, rule: Rule, lift: str) -> str | None:
        if rule.needs is Need.NOTHING:
            return None
        if rule.needs is Need.LOCKED:
            files = {one.path: one.sha256 for one in manifest.files}
            known = self._locked.get(skill.id)
            if known == files:
                return None
            other = sorted(path for path in {*files, *(known or {})} if files.get(path) != (known or {}).get(path))
            what = "the lock does not name it" if known is None else f"{other[0]!r} differs from the lock"
            return f"{what}; {lift}"
        if rule.needs is Need.SIGNED:
            return await self._why_not_signed(skill, manifest, rule, lift)
        return f"nobody approved it as it is now; {lift}"

    async def _why_suspect(self, skill: Skill, manifest: Manifest, lift: str) -> str | None:
        if not isinstance(self.source, Packaged) or manifest.file("definition") is not None:
            return f"it is no folder of files that could be scanned; {lift}"
        files = {one.path: await self.source.read_file(skill, one.path) for one in manifest.files}
        found = await asyncio.to_thread(scan_files, files)
        worst = next((one for one in found if one.severity == "error"), None)
        return f"{worst.path}:{worst.line}: {worst.reason} [{worst.code}]; {lift}" if worst else None

    async def _why_not_signed(self, skill: Skill, manifest: Manifest, rule: Rule, lift: str) -> str | None:
        if manifest.file(SIGNATURE) is None or not isinstance(self.source, Packaged):
            return f"it has no {SIGNATURE}; {lift}"
        files = {one.path: await self.source.read_file(skill, one.path) for one in manifest.files}
        try:
            await asyncio.to_thread(require_signed, files, manifest, rule.keys)
        except NotSigned as error:
            return f"{error}; {lift}"
        return None


def definition_manifest(skill: Skill) -> Manifest:
    """Returns the manifest of a skill that is no folder of files: its definition alone, by its digest."""
    return Manifest((ManifestFile("definition", skill.digest, 0),))


def _held_back(skill: Skill, why: str) -> Skill:
    """The skill without a word of its author: nothing of it can be shown, matched, read or required."""
    return Skill(
        skill.id,
        skill.id,
        "",
        status=Status.QUARANTINED,
        extra=FrozenDict({HELD_BACK: why}),
        origin=skill.origin,
        digest=skill.digest,
    )


def _finding(judged: _Judged) -> Diagnostic:
    skill = judged.skill
    place = Location(skill.origin.location) if skill.origin else Location(skill.id)
    found = QUARANTINED.found(place, f"'{skill.id}' is held back: {skill.extra[HELD_BACK]}", "approve it, or remove it")
    return replace(found, skill=skill.id)
