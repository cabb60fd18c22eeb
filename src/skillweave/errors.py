"""Every exception that skillweave raises: a caller's mistake and a world that does not answer are different classes."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from heapq import nlargest
from os.path import commonprefix

_COMPARED = 16


class SkillweaveError(Exception):
    """The root of all errors raised on purpose; its text is one line that names the thing and the remedy."""


class SkillNotFound(SkillweaveError, LookupError):
    """A skill id that is not known; `known` are all ids, `nearest` the likely ones.

    `store` is the database that was asked, empty for the registry of a weaver.
    """

    def __init__(self, name: str, known: Iterable[str], *, store: str = "") -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.nearest = nearest_names(name, self.known)
        if self.nearest:
            remedy = f"did you mean {' or '.join(repr(near) for near in self.nearest)}?"
        elif self.known:
            command = "skillweave show --skills URL" if store else "skillweave show"
            number = len(self.known)
            there = "is 1 skill; list it" if number == 1 else f"are {number} skills; list them"
            remedy = f"there {there} with `{command}`"
        elif store:
            remedy = "there is none; store some with `skillweave store put FOLDER --store URL`, or name another tenant"
        else:
            remedy = "no skill is loaded; check the skill sources"
        super().__init__(f"skill {_shown(name)} is not in {store or 'the registry'}; {remedy}")


class ArtifactNotFound(SkillweaveError, LookupError):
    """An artifact that its skill does not list, or whose file has gone since the skill was loaded."""

    def __init__(self, skill: str, artifact: str, why: str) -> None:
        self.skill, self.artifact = skill, artifact
        super().__init__(f"artifact {_shown(artifact)} of skill {skill!r} cannot be read: {why}")


class VersionNotFound(SkillweaveError, LookupError):
    """A version of a skill that was never published; `known` are the content hashes of those that were."""

    def __init__(self, skill: str, content_hash: str, known: Iterable[str]) -> None:
        self.skill, self.content_hash, self.known = skill, content_hash, tuple(known)
        there = ", ".join(one[:12] for one in self.known[-10:])
        super().__init__(f"skill {_shown(skill)} has no version {_shown(content_hash)}; there are {there}")


class AgentNotFound(SkillweaveError, LookupError):
    """An agent that no source describes; `known` are the ids of those that are described."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        nearest = nearest_names(name, self.known)
        if nearest:
            remedy = f"did you mean {' or '.join(map(repr, nearest))}?"
        elif self.known:
            remedy = f"there are {', '.join(map(_shown, self.known[:10]))}"
        else:
            remedy = "there is none; describe agents under `agents:` in a pack, for a store with `skillweave store put`"
        super().__init__(f"agent {_shown(name)} is not known; {remedy}")


class CheckpointNotFound(SkillweaveError, LookupError):
    """A checkpoint that its skill does not have; `known` are the names of those it has."""

    def __init__(self, skill: str, name: str, known: Iterable[str]) -> None:
        self.skill, self.name, self.known = skill, name, tuple(known)
        there = f"it has {', '.join(map(_shown, self.known[:10]))}" if self.known else "it has none"
        super().__init__(f"skill {_shown(skill)} has no checkpoint {_shown(name)}; {there}")


class InvalidVerdict(SkillweaveError, ValueError):
    """A verdict that cannot be kept: without a name, about a text that has changed, or with nothing to decide."""


class InvalidSkill(SkillweaveError, ValueError):
    """A definition that cannot become a Skill: a bad id, a missing required field, a value of the wrong type."""


class InvalidValue(SkillweaveError, ValueError):
    """A setting, or an argument of ours, that is not what it must be; the message names it and says what to give."""


class InvalidContext(InvalidValue):
    """A rule about entity context that makes no sense: which `key` of it, what is wrong there, and what to write."""

    def __init__(self, key: str, what: str, fix: str) -> None:
        self.key, self.what, self.fix = key, what, fix
        super().__init__(f"`{key}` {what}; {fix}")


class InvalidTurn(InvalidValue):
    """A turn that cannot be run: no conversation id, no turn id, or one that is too long to be kept."""


class InvalidData(SkillweaveError, ValueError):
    """JSON data that the value cannot be read from; `place` is where, as `tokens.left`, empty for all of it."""

    def __init__(self, message: str, *, place: str = "") -> None:
        self.place = place
        super().__init__(message)


class InvalidSpawn(SkillweaveError, ValueError):
    """A request for a sub-agent that cannot be read: no task, no list of skill ids, or an id that is not valid."""


class InvalidGraph(SkillweaveError, ValueError):
    """A skill graph that cannot be read or built: a value of the wrong shape, parts that exclude each other.

    `place` is where in the data form, as `routes[3].guard`, and `fix` what to do, with which the text ends; both are
    empty where they are not known. `mistakes` are the errors that the text tells together, none where it tells one.
    """

    def __init__(
        self, message: str, *, place: str = "", fix: str = "", mistakes: Sequence["InvalidGraph"] = ()
    ) -> None:
        self.place, self.fix, self.mistakes = place, fix, tuple(mistakes)
        super().__init__(message)


class GraphRefused(InvalidGraph):
    """A skill graph whose checkup finds errors; the text is the whole report, `problems` are the errors in it."""

    def __init__(self, report: str, problems: Sequence[object]) -> None:
        self.problems = tuple(problems)
        super().__init__(f"the skill graph has {len(self.problems)} error(s):\n{report}")


class InvalidScores(SkillweaveError, ValueError):
    """An answer of a scorer that cannot be ranked: an id is missing or unknown, or a score is not a number."""

    def __init__(self, scorer: str, expected: str, found: str) -> None:
        self.scorer, self.expected, self.found = scorer, expected, found
        super().__init__(
            f"scorer {_shown(scorer)} has to answer with {expected}, not with {found}; "
            "`score` gives one number for each candidate that it was asked about, by id"
        )


class InvalidVectors(SkillweaveError, ValueError):
    """An answer of an embedder that cannot be used: other rows than texts, another dimension, no table of numbers."""

    def __init__(self, embedder: str, expected: str, found: str) -> None:
        self.embedder, self.expected, self.found = embedder, expected, found
        super().__init__(
            f"embedder {_shown(embedder)} has to answer with {expected}, not with {found}; "
            "`embed` gives one row for each text, all of the same dimension as long as `id` is the same"
        )


class NoEmbedder(SkillweaveError):
    """Texts are to be compared by meaning, and nothing is there that could embed them."""

    def __init__(self) -> None:
        super().__init__(
            "the scorer 'embedding' has no embedder, which data cannot carry; "
            "load the graph with SkillGraph.from_dict(data, embedder=...), or let it pick by keyword or lexical"
        )


class DuplicateSkill(SkillweaveError, ValueError):
    """Two sources bring the same id, of a skill or of an agent, and the precedence is `error`."""


class UnknownMatcher(SkillweaveError, ValueError):
    """A name that no matcher has; `known` are all names."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(f"there is no matcher {_shown(name)}; choose from {', '.join(self.known)}")


class ApprovalNeeded(SkillweaveError):
    """A skill waits for a person before the model may act on it, in a host that cannot pause by itself.

    `pending` are the checkpoints; the run is repeated after `weaver.approvals.decide`.
    """

    def __init__(self, conversation: str, pending: Sequence[tuple[str, str]]) -> None:
        self.conversation, self.pending = conversation, tuple(pending)
        named = ", ".join(f"{checkpoint} of {skill}" for skill, checkpoint in self.pending)
        skill, checkpoint = self.pending[0]
        verdict = f"{_shown(conversation)}, {skill!r}, {checkpoint!r}, 'approved', by='NAME'"
        super().__init__(
            f"conversation {_shown(conversation)} waits for a person's approval: {named}; ask somebody, keep what they "
            f"say with weaver.approvals.decide({verdict}), or 'rejected', then run again"
        )


class MissingExtra(SkillweaveError, ImportError):
    """A package that only some need and that is not installed; `extra` is the extra of skillweave that brings it."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{what} needs the package {package}, which is not installed: pip install 'skillweave[{extra}]'"
        )


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Wraps imports of packages that an extra brings; raises MissingExtra, which names `what` needs it."""
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if not package or package.startswith("skillweave"):
            raise
        raise MissingExtra(what, package, extra) from error


class UnsupportedVersion(SkillweaveError, ImportError):
    """An installed framework that the adapter does not support: skills or rules could be lost silently.

    `package` and `found` name it, `supported` is the range of versions.
    """

    def __init__(self, package: str, found: str, supported: str) -> None:
        self.package, self.found, self.supported = package, found, supported
        super().__init__(
            f"{package} {found} is installed, and this adapter supports {supported}: pip install '{package}{supported}'"
        )


class UnguardedAgent(SkillweaveError, ValueError):
    """An agent or a tool that skillweave does not guard, so that no rule of a skill would hold there.

    `name` is that of the agent or tool, `where` is how it is reached, `way_out` is what to do about it.
    """

    def __init__(self, name: str, where: str, way_out: str) -> None:
        self.name, self.where, self.way_out = name, where, way_out
        super().__init__(f"{name!r} ({where}) is not guarded: no rule of a skill would hold there; {way_out}")


class CannotWatch(SkillweaveError):
    """Nothing can be followed: no source is in the file system, or the system allows no more watches."""


class SourceUnavailable(SkillweaveError):
    """A source that cannot be read at all: a missing folder, a file where a folder should be."""


class StoreUnavailable(SourceUnavailable):
    """A store that does not answer; `retry_after` is in seconds, None when waiting will not help.

    A store of skills is a source too: a registry keeps what it read from there before.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class StoreSilent(StoreUnavailable):
    """A store that used up the time limit of a call; after several in a row calls are not tried for half a second."""


class UnreadableState(StoreUnavailable):
    """A stored conversation that this version cannot read; clearing it is still possible, at its `revision`."""

    def __init__(self, message: str, revision: int) -> None:
        self.revision = revision
        super().__init__(message)


class Contended(SkillweaveError):
    """Other turns of the same conversation won every compare-and-swap; the turn can be tried again."""

    def __init__(self, conversation: str, attempts: int) -> None:
        self.conversation, self.attempts = conversation, attempts
        super().__init__(
            f"conversation {_shown(conversation)} was changed by others {attempts} times while this turn ran; "
            "run the turn again, or send turns of one conversation one after the other"
        )


def first_of(texts: Sequence[str], most: int) -> str:
    """The first texts with commas between them, and how many more there are."""
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")


def nearest_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Up to three known names that look like a misspelling's target, best first; 1 ms for 1,000 names."""
    wanted = name[:200]
    return tuple(get_close_matches(wanted, _likely(wanted, list(known)), n=3, cutoff=0.6))


def _likely(wanted: str, known: Sequence[str]) -> Sequence[str]:
    # A full comparison of every known name takes 5 ms for 1,000; one slip leaves both ends of a name as they were.
    if len(known) <= _COMPARED:
        return known
    first, last = wanted[:1].lower(), wanted[-1:].lower()
    alike = [other for other in known if other[:1].lower() == first or other[-1:].lower() == last]
    return nlargest(_COMPARED, alike, key=lambda other: _shared_ends(wanted, other))


def _shared_ends(*names: str) -> float:
    ends = names, [name[::-1] for name in names]
    return sum(len(commonprefix(some)) for some in ends) / max(1, *map(len, names))  # noqa: RUF071 - letters, no path


def _shown(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:100] + "…")
