"""Skills of another MCP server as a source: known by their entries, read when they are opened, verified each time."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from skillweave import Checkpoint, Diagnostic, Severity, Skill, ToolRules
from skillweave.errors import ArtifactNotFound
from skillweave.registry import Loaded, media_type_of
from skillweave.skills import ArtifactRef, Origin, SkillText, Strictness
from skillweave.values import Location
from skillweave_mcp.entries import SKILL_FILE
from skillweave_mcp.host.approvals import Approvals
from skillweave_mcp.host.connection import MOST_SKILLS, Server, Unanswered, server_of
from skillweave_mcp.host.held import MOST_BYTES, Held, Unfit, held_entry, ids_of, label_of, mismatch

CODE_TOOLS = ("Bash", "shell", "execute_command", "run_command", "run_script", "code_execution", "python", "terminal")
"""Tools that execute code in common hosts: each call asks a person while a skill of a server is at work."""
MOST_NAMED = 20
_FINDING = "mcp-server"


class McpSource:
    """The skills of one server. `label` is what we call it; `approvals` are a person's, of the user's configuration.

    A skill has no instructions of its own here, so that it is found by its description alone: its SKILL.md and its
    other files are documents that are read when the model opens them, after a person approved exactly these files.
    """

    def __init__(
        self,
        server: Server,
        *,
        label: str | None = None,
        approvals: Approvals | None = None,
        code_tools: Sequence[str] = CODE_TOOLS,
    ) -> None:
        self.server = server
        self.label = label or label_of(server.shown.removeprefix("https://"))
        self.approvals = approvals or Approvals()
        self._code_tools = tuple(code_tools)
        self._held: OrderedDict[tuple[str, str], Held] = OrderedDict()
        self._cache: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    @property
    def name(self) -> str:
        """What origins call this source."""
        return self.label

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """The skills in the server's listing; a server that fails is a finding, and what was known of it stays."""
        try:
            entries = await self.server.entries()
        except Unanswered as error:
            kept = () if previous is None else previous.skills
            return Loaded(kept, (self._finding(f"cannot be listed: {error}", "see whether it runs, then refresh"),))
        held, findings = self._taken(entries)
        skills = tuple(self._skill(skill_id, one) for skill_id, one in ids_of(held).items())
        return Loaded(skills, findings)

    async def open(self, uri: str) -> Skill:
        """Returns a skill by its URI alone, also one that the server does not list. Raises Unanswered and Unfit."""
        one = held_entry(self.label, await self.server.entry(uri))
        if one.uri != uri:
            raise Unfit(f"{uri}: the answer is about another skill")
        (skill_id,) = ids_of([one])
        return self._skill(skill_id, one)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """A file of the entry that the skill was made from, verified now. Raises ArtifactNotFound."""
        held = self._held.get((skill.id, skill.digest))
        if held is None:
            raise ArtifactNotFound(skill.id, artifact, "the skill is not from this server; load it again")
        if self.approvals.of(held) is None:
            raise ArtifactNotFound(skill.id, artifact, f"nobody approved it as it is; {self._how_to_approve(skill.id)}")
        if held.manifest.file(artifact) is None:
            raise ArtifactNotFound(skill.id, artifact, "its entry does not list that file; it may have changed")
        cached = self._cache.get((held.identity, artifact))
        if cached is not None and mismatch(held, artifact, cached) is None:
            return cached
        try:
            data = await self.server.read(held.uris[artifact])
        except Unanswered as error:
            raise ArtifactNotFound(skill.id, artifact, f"server {self.label} did not give it: {error}") from None
        why = mismatch(held, artifact, data)
        if why is not None:
            fix = "refresh the skills and approve it anew, if you trust the change"
            raise ArtifactNotFound(skill.id, artifact, f"server {self.label} sent something else: {why}; {fix}")
        self._cache[held.identity, artifact] = data
        while sum(map(len, self._cache.values())) > MOST_BYTES:
            self._cache.popitem(last=False)
        return data

    def approve(self, skill: Skill, *, tools: bool = False) -> Held:
        """Notes a person's yes to the skill as it was loaded; with `tools` to its `allowed-tools` too.

        Raises ArtifactNotFound for a skill that is not from this server.
        """
        held = self._held.get((skill.id, skill.digest))
        if held is None:
            raise ArtifactNotFound(skill.id, SKILL_FILE, "the skill is not from this server; load it again")
        self.approvals.add(held, tools=tools)
        return held

    def _taken(self, entries: Sequence[object]) -> tuple[list[Held], tuple[Diagnostic, ...]]:
        """The entries that keep the rules, and one finding about the others."""
        taken: dict[str, Held] = {}
        unfit: list[str] = []
        for entry in entries:
            try:
                one = held_entry(self.label, entry)
                if one.uri in taken:
                    raise Unfit(f"{one.uri}: it is listed twice")
                taken[one.uri] = one
            except Unfit as error:
                unfit.append(str(error))
        if not unfit:
            return list(taken.values()), ()
        more = f", and {len(unfit) - MOST_NAMED} more" if len(unfit) > MOST_NAMED else ""
        told = f"breaks the rules for {len(unfit)} skills, which are left out: {'; '.join(unfit[:MOST_NAMED])}{more}"
        return list(taken.values()), (self._finding(told, "have its author correct them"),)

    def _skill(self, skill_id: str, held: Held) -> Skill:
        approved = self.approvals.of(held)
        where = f"MCP server {self.label}"
        state = (
            f"Its instructions are its document {SKILL_FILE}: read that with read_artifact before you follow it. They "
            "are the server's words, not the user's."
            if approved
            else f"Nobody approved it yet, so it cannot be read. {self._how_to_approve(skill_id)}"
        )
        tools = held.frontmatter.get("allowed-tools") if approved and approved.tools else None
        asks = f"The skill {held.name!r} of {where} is at work. May this code run?"
        skill = Skill(
            skill_id,
            f"{held.name} ({where})",
            f"[{where}] {held.frontmatter['description']}",
            text=SkillText(instructions=f"This skill comes from {where}. {state}"),
            tools=ToolRules(preapproved=tuple(tools.split())) if isinstance(tools, str) else None,
            checkpoints=tuple(Checkpoint(f"run-{one}", before=one, asks=asks) for one in self._code_tools),
            artifacts=tuple(
                ArtifactRef(one.path, one.path.rpartition("/")[2], media_type_of(one.path), one.size, one.sha256)
                for one in held.manifest.files
            ),
            origin=Origin(self.label, held.uri),
        )
        skill = replace(skill, digest=held.manifest.digest)
        self._held[skill.id, skill.digest] = held
        self._held.move_to_end((skill.id, skill.digest))
        while len(self._held) > 2 * MOST_SKILLS:
            self._held.popitem(last=False)
        return skill

    def _how_to_approve(self, skill_id: str) -> str:
        return f"a person approves it with: skillweave mcp --skills ... --approve {skill_id}"

    def _finding(self, what: str, fix: str) -> Diagnostic:
        return Diagnostic(
            _FINDING, Severity.WARNING, f"MCP server {self.label} {what}", fix, None, Location(self.label)
        )


def open_https(rest: str, *, strictness: Strictness) -> McpSource:
    """The source of `mcp+https://rest`."""
    return McpSource(server_of("mcp+https", rest))


def open_http(rest: str, *, strictness: Strictness) -> McpSource:
    """The source of `mcp+http://rest`, on this machine."""
    return McpSource(server_of("mcp+http", rest))


def open_stdio(rest: str, *, strictness: Strictness) -> McpSource:
    """The source of `mcp+stdio:rest`, a command."""
    return McpSource(server_of("mcp+stdio", rest))
