"""Skills that a program brings along itself."""

from collections.abc import Mapping
from types import MappingProxyType

from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import ArtifactNotFound, InvalidSkill
from skillweave.registry.definitions import Contents, Defined, Definition, define
from skillweave.registry.source import Loaded
from skillweave.skill import Skill
from skillweave.sources import codes

_NONE: Mapping[str, Contents] = MappingProxyType({})


class InCode:
    """Skills as values or mappings; `artifacts` has contents by skill and id. `load` reports bad definitions."""

    def __init__(self, *definitions: Definition, name: str = "code", artifacts: Mapping[str, Contents] = _NONE) -> None:
        self._name = name
        defined, findings = _defined(definitions, artifacts, name)
        self._defined = {(one.skill.id, one.skill.digest): one for one in reversed(defined)}
        self._loaded = Loaded(tuple(one.skill for one in defined), tuple(findings))

    @property
    def name(self) -> str:
        """What origins call this source."""
        return self._name

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """The skills in the order in which they were given."""
        return self._loaded

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The content that was given; raises ArtifactNotFound."""
        defined = self._defined.get((skill.id, skill.digest))
        if defined is None:
            raise ArtifactNotFound(skill.id, artifact, f"the skill is not one of '{self._name}'")
        return await defined.read(skill, artifact)


def _defined(
    definitions: tuple[Definition, ...], artifacts: Mapping[str, Contents], source: str
) -> tuple[list[Defined], list[Diagnostic]]:
    defined: list[Defined] = []
    findings: list[Diagnostic] = []
    for position, definition in enumerate(definitions, start=1):
        try:
            one = define(definition, source)
            one = one.with_contents(artifacts.get(one.skill.id, {}))
        except InvalidSkill as error:
            fix = "correct the definition"
            message = f"definition {position} is no skill: {error}"
            findings.append(codes.NOT_A_DEFINITION.found(Location(source), message, fix))
        else:
            defined.append(one)
            findings += one.diagnostics
    for skill_id in sorted(artifacts.keys() - {one.skill.id for one in defined}):
        message = f"artifacts are given for {skill_id!r}, which is no skill here"
        findings.append(codes.ARTIFACT_LEFT_OUT.found(Location(source), message, "give them under the skill's id"))
    return defined, findings
