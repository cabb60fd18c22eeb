"""Fetch: read the artifacts and the entity context that are missing, concurrently, with a deadline (spec 5, 6.2)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from skillweave.conversation import Role, Turn
from skillweave.decisions import Decision, Outcome
from skillweave.diagnostics import Diagnostic, Location
from skillweave.disclose.block import Rung
from skillweave.disclose.render import Inlined
from skillweave.errors import SkillweaveError, StoreUnavailable
from skillweave.frontmatter.codes import Code
from skillweave.knowledge.assemble import outcomes
from skillweave.knowledge.codes import (
    CONTEXT_INCOMPLETE,
    ENTITY_AMBIGUOUS,
    ENTITY_OVERRULED,
    ENTITY_UNAVAILABLE,
    ENTITY_UNKNOWN,
)
from skillweave.knowledge.context import ContextSource, EntityContext, FindsEntities, FindsNames, Section
from skillweave.knowledge.entity import LONGEST_ALIAS, LONGEST_NAME, AmbiguousEntity, Entity
from skillweave.knowledge.findings import EntityRules
from skillweave.redaction import error_in_words
from skillweave.registry import Artifact
from skillweave.settings import Settings
from skillweave.skill import ArtifactRef, Skill
from skillweave.turn.admit import SkillInTurn

SHOWN = 100
"""So many characters of a name are told: it may be any text."""
_LARGEST = 10**LONGEST_NAME
MOST_INLINE_BYTES = 256 * 1024
"""So much of a skill's documents is read to stand in its block; the others are listed, and read on demand."""
MOST_INLINE_DOCUMENTS = 256
"""So many of a skill's documents are read to stand in its block, however small they are."""
MOST_READ_BYTES = 1024 * 1024
"""The largest artifact that is read as text for a model."""


@dataclass(frozen=True, slots=True)
class Named:
    """The name of an entity, and who names it; `before` says that only the conversation does, from earlier turns.

    `over` is what the memory names, where the message goes before it. `said` is what the user wrote, where no id was
    found in it: a name in there goes before `ref`, which may be empty then.
    """

    ref: str
    by: str
    before: bool = False
    over: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a name turned out to be: the entity, None where that cannot be told, and then what the finding is.

    `remembered` is what the conversation is about from now on, the empty text for nothing. There may be a finding with
    an entity too, as where the memory names another.
    """

    entity: str | None
    remembered: str
    problem: Diagnostic | None = None


ReadArtifact: TypeAlias = Callable[[str, str], Awaitable[Artifact]]
"""Reads one artifact, by the ids of its skill and of itself."""
_Key: TypeAlias = tuple[str, str]
_Found: TypeAlias = Inlined | EntityContext | Subject
_SUBJECT: _Key = ("", "entity")
NOT_READ = "(not read)"
"""What stands in the place of the sections that could not be read: the model is told that there are some."""
_OTHER_FOLDERS = ("scripts/", "assets/")


@dataclass(frozen=True, slots=True)
class Contents:
    """Artifacts by skill and id, entity context by skill, and a decision for each that could not be had in time.

    `subject` is the entity that was asked about, None where nobody asked. `entity` is what the conversation is about
    from now on, the empty text for nothing, None for the same as before. `incomplete` says what of its context is
    missing.
    """

    documents: Mapping[_Key, Inlined] = field(default_factory=dict)
    contexts: Mapping[str, EntityContext] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    subject: Subject | None = None
    entity: str | None = None
    incomplete: tuple[Diagnostic, ...] = ()


def documents_to_show(skill: Skill) -> tuple[ArtifactRef, ...]:
    """The artifacts whose text may stand in a block: documents, not scripts, assets or binary files.

    Of a folder skill only `references/` holds documents for the model; scripts are there to be run and assets to be
    copied, both are listed with their size.
    """
    return tuple(
        ref
        for ref in skill.artifacts
        if (ref.media_type.startswith("text/") or ref.media_type in ("application/json", "application/yaml"))
        and not ref.id.startswith(_OTHER_FOLDERS)
    )


async def fetch(
    wanted: Sequence[SkillInTurn],
    named: Named | None,
    read_artifact: ReadArtifact,
    context: ContextSource | None,
    seconds: float,
    context_seconds: float | None = None,
) -> Contents:
    """Read what is missing; what fails or is late becomes a decision `failed`, and the turn goes on without it.

    `named` is the entity that the turn is about, None for none. `context_seconds` is the time for what is known of it;
    None for the same as for documents.
    """
    work: dict[_Key, Awaitable[_Found]] = {}
    about: dict[_Key, Awaitable[_Found]] = {}
    too_large: list[Decision] = []
    for one in wanted:
        if one.skill.artifacts:
            refs, left_out = _artifacts_of(one)
            work.update({(one.skill.id, ref.id): _read(read_artifact, one.skill.id, ref) for ref in refs})
            too_large += left_out
    if context is not None and named is not None:
        about.update(_about(named, context, wanted))
    nothing = "" if context is not None and named is None else None
    if not work and not about:
        return Contents(decisions=tuple(too_large), entity=nothing)
    patience = seconds if context_seconds is None else context_seconds
    (read, unread), (known, unknown) = await asyncio.gather(_within(seconds, work), _within(patience, about))
    subject = known.get(_SUBJECT)
    if named is not None and _SUBJECT in unknown:
        subject = not_told(named, unknown.pop(_SUBJECT), patience)
    failures = [_failure(key, error, seconds) for key, error in unread.items()]
    untold = [_failure(key, error, patience) for key, error in unknown.items()]
    contexts = {key[0]: found for key, found in known.items() if isinstance(found, EntityContext)}
    subject = subject if isinstance(subject, Subject) else None
    return Contents(
        {key: found for key, found in read.items() if isinstance(found, Inlined)},
        contexts,
        (*failures, *untold, *(_omissions(contexts) if contexts else ()), *too_large),
        subject,
        subject.remembered if subject else nothing,
        _incomplete(contexts, untold) if subject and subject.entity else (),
    )


def _about(
    named: Named, context: ContextSource, wanted: Sequence[SkillInTurn]
) -> Iterator[tuple[_Key, Awaitable[_Found]]]:
    """Which entity is meant, and its context for each skill; those with the same tags share one."""
    tagged = [one.skill for one in wanted if one.skill.domain_tags and not one.held]
    if named.before and not tagged and not (named.said and isinstance(context, FindsNames)):
        return
    asked = asyncio.ensure_future(subject_of(named, context))
    yield _SUBJECT, asked
    shared: dict[tuple[str, ...], Awaitable[EntityContext]] = {}
    for skill in tagged:
        tags = skill.domain_tags
        if tags not in shared:
            shared[tags] = asyncio.ensure_future(_assembled(context, named, asked, tags))
        yield (skill.id, f"context of {named.ref[:SHOWN]}"), shared[tags]


async def _assembled(
    context: ContextSource, named: Named, asked: Awaitable[Subject], tags: tuple[str, ...]
) -> EntityContext:
    subject = await asked
    if subject.entity is None:
        return EntityContext(named.ref, (), (subject.problem.message,) if subject.problem else ())
    found = await context.assemble(subject.entity, tags)
    if not found.omitted:
        return found
    one = len(found.omitted) == 1
    told = (
        f"{len(found.omitted)} section{'' if one else 's'} could not be read; do not take what is missing for absent."
    )
    return replace(found, sections=(*found.sections, Section(NOT_READ, told)))


def _artifacts_of(wanted: SkillInTurn) -> tuple[list[ArtifactRef], list[Decision]]:
    """What the model asked to read and what may stand in the skill's block; a decision where that is too much."""
    asked = {read.artifact for read in wanted.reads}
    refs = [ref for ref in wanted.skill.artifacts if ref.id in asked]
    if wanted.held or wanted.in_sections or (wanted.present is not None and wanted.present >= Rung.FULL):
        return refs, []
    size = 0
    left: list[ArtifactRef] = []
    for place, ref in enumerate(documents_to_show(wanted.skill)):
        size += ref.size
        within = size <= MOST_INLINE_BYTES and place < MOST_INLINE_DOCUMENTS
        (refs if within else left).append(ref)
    refs = list(dict.fromkeys(refs))
    if not left or wanted.present is not None:
        return refs, []
    more = f" and {len(left) - 1} more are" if len(left) > 1 else " is"
    limit = f"a block may hold {MOST_INLINE_DOCUMENTS} documents and {MOST_INLINE_BYTES:,} bytes of them"
    reason = f"{left[0].id} ({left[0].size:,} bytes){more} only listed: {limit}"
    return refs, [Decision(wanted.skill.id, Outcome.OVER_BUDGET, "fetch", reason)]


async def _read(read_artifact: ReadArtifact, skill_id: str, ref: ArtifactRef) -> Inlined:
    _require_readable(ref)
    artifact = await read_artifact(skill_id, ref.id)
    _require_readable(artifact.ref)  # it may have grown since it was listed
    text = artifact.text
    if text is None:
        raise SkillweaveError("it is not UTF-8 text; it stays listed with its size")
    return Inlined(replace(ref, content_hash=artifact.ref.content_hash), text)


def _require_readable(ref: ArtifactRef) -> None:
    if ref.size > MOST_READ_BYTES:
        raise SkillweaveError(f"it has {ref.size:,} bytes, more than the {MOST_READ_BYTES:,} that are read as text")


async def _within(
    seconds: float, work: Mapping[_Key, Awaitable[_Found]]
) -> tuple[dict[_Key, _Found], dict[_Key, BaseException | None]]:
    """What came before the deadline, and the error of each piece that did not, None for one that was late."""
    if not work:
        return {}, {}
    tasks = {key: asyncio.ensure_future(awaitable) for key, awaitable in work.items()}
    try:
        await asyncio.wait(tasks.values(), timeout=seconds)
    finally:
        for task in tasks.values():
            task.cancel()
    return outcomes(tasks)


def _failure(key: _Key, error: BaseException | None, seconds: float) -> Decision:
    skill_id, what = key
    # Guests implement these ports: whatever they raise is told here, and costs their tier, never the turn.
    reason = f"it did not come within {seconds * 1000:.0f} ms" if error is None else error_in_words(error)
    return Decision(skill_id, Outcome.FAILED, "fetch", f"{what} is left out: {reason}")


def _omissions(contexts: Mapping[str, EntityContext]) -> tuple[Decision, ...]:
    return tuple(
        Decision(skill_id, Outcome.FAILED, "fetch", f"context of {context.entity[:SHOWN]}: {omitted}")
        for skill_id, context in contexts.items()
        for omitted in context.omitted
    )


def _incomplete(contexts: Mapping[str, EntityContext], failures: Sequence[Decision]) -> tuple[Diagnostic, ...]:
    """One finding for each context, however many skills share it, of which something did not come."""
    missing = {(one.entity, one.omitted): skill_id for skill_id, one in contexts.items() if one.omitted}
    found = [(skill_id, f"of {entity[:SHOWN]} is there: {_first(why)}") for (entity, why), skill_id in missing.items()]
    found += [(one.skill_id, f"is there: {one.reason}") for one in failures]
    fix = "the next turn asks again; if it lasts, look at the store, or raise `context_seconds`"
    return tuple(
        CONTEXT_INCOMPLETE.found(Location(skill_id), f"not all entity context {why}", fix) for skill_id, why in found
    )


def _first(reasons: Sequence[str]) -> str:
    return reasons[0] if len(reasons) == 1 else f"{reasons[0]}; and {len(reasons) - 1} more like it"


def name_in(turn: Turn, settings: Settings, found: EntityRules, before: str) -> Named | None:
    """The entity that is named: by an id in what the user wrote, by the turn's memory, or `before`; None by none.

    A key of the memory with nothing in it says that the work is about no entity any more. A name in what the user
    wrote, which only the context knows, goes before the memory, too.
    """
    keys = tuple(dict.fromkeys((*settings.entity_keys, *found.rules.entity_keys)))
    said = turn.message.text if turn.message.role is Role.USER else ""
    written = found.recogniser.find(said) if said and found.recogniser.size else None
    said = said if found.rules.sections else ""  # where nothing is shown of any entity, no name is looked for
    key, ref = next(((key, ref) for key in keys if (ref := _name_of(turn.memory.get(key)))), ("", ""))
    if written is not None:
        return Named(written.ref, "the message", over=ref)
    if ref:
        return Named(ref, f"`{key}` of the memory", said=said)
    if before and not _cleared(turn.memory, keys):
        return Named(before, "the conversation", before=True, said=said)
    return Named("", "the message", before=True, said=said) if said else None


def _name_of(value: object) -> str:
    """The name that a value of the memory is: a text, or a whole number, as hosts keep ids; empty for none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < _LARGEST else ""
    return value.strip() if isinstance(value, str) else ""


def _cleared(memory: Mapping[str, object], keys: tuple[str, ...]) -> bool:
    return any(key in memory and memory[key] in (None, "") for key in keys)


async def subject_of(named: Named, context: ContextSource) -> Subject:
    """The entity of that name, where the context can tell; a name that means nothing, or too much, is no entity.

    What is not known is not remembered either, so that no later turn is about what was named before it.
    """
    if not isinstance(context, FindsEntities):
        return Subject(named.ref or None, named.ref, _overruled(named, named.over) if named.over != named.ref else None)
    try:
        entity = await context.find_in(named.said) if named.said and isinstance(context, FindsNames) else None
        if entity is not None:
            over = "" if named.before else named.ref
            named = Named(entity.id, "the message", over=over)
        elif not named.ref:
            return Subject(None, "")
        else:
            entity = await context.find(named.ref)
    except AmbiguousEntity as error:
        return Subject(None, "", _problem(ENTITY_AMBIGUOUS, named, str(error), "name it by its id"))
    if entity is None:
        fix = "check the spelling, or add the entity to the graph; until then there is no context about it"
        return Subject(
            None, "", _problem(ENTITY_UNKNOWN, named, f"the graph knows no entity {named.ref[:SHOWN]!r}", fix)
        )
    return Subject(entity.id, entity.id, await _other(named, entity, context) if named.over else None)


async def _other(named: Named, entity: Entity, context: FindsEntities) -> Diagnostic | None:
    """The finding that the memory names another entity than this one, which the message names."""
    try:
        other = await context.find(named.over)
    except (AmbiguousEntity, StoreUnavailable):
        other = None
    return None if other is not None and other.id == entity.id else _overruled(named, entity.id)


def _overruled(named: Named, entity: str) -> Diagnostic:
    message = f"the message names {entity[:SHOWN]!r} and the memory {named.over[:SHOWN]!r}; the message counts"
    return _problem(ENTITY_OVERRULED, named, message, "give the memory the same entity, or none")


def not_told(named: Named, error: BaseException | None, seconds: float) -> Subject:
    """The subject where nobody answered; the name is kept, so that the next turn asks again.

    One that is longer than a name can be is not: it would stay in the State of the conversation.
    """
    if error is None:
        why = f"it did not come within {seconds * 1000:.0f} ms"
    else:
        why = str(error) if isinstance(error, StoreUnavailable) else error_in_words(error)
    kept = named.ref if len(named.ref) <= LONGEST_ALIAS else ""
    what = f"what is known of {named.ref[:SHOWN]!r}" if named.ref else "whether the message names an entity"
    message = f"{what} could not be read: {why}"
    return Subject(
        None, kept, _problem(ENTITY_UNAVAILABLE, named, message, "check the graph; the next turn asks again")
    )


def _problem(code: Code, named: Named, message: str, fix: str) -> Diagnostic:
    return code.found(Location(named.by), message, fix)
