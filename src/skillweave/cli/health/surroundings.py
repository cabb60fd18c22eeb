"""What stands around the program: its configuration, the skills, the ledger and the terminal."""

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from typer import BadParameter

from skillweave.cli.arguments.entities import existing_graph
from skillweave.cli.arguments.ledger import DEFAULT_LEDGER, Kept, databases_in, opened
from skillweave.cli.arguments.skills import DEFAULT_FOLDER, load, skills_beside_packs, sources_of
from skillweave.cli.completion import installed_scripts
from skillweave.cli.configuration.configuration import (
    Chosen,
    Configuration,
    Origin,
    Program,
    Setting,
    configuration_of,
    problems_of,
    strange_variables,
)
from skillweave.cli.configuration.file import OWN, ConfigFile, InvalidConfiguration
from skillweave.cli.configuration.keys import Key, WrongType, shared_names
from skillweave.cli.failure import Mistake
from skillweave.cli.health import Configured, Finding, Level, Value
from skillweave.cli.health.server import Looked, look_at_server
from skillweave.closing import close_all
from skillweave.errors import Contended, SkillweaveError, StoreUnavailable
from skillweave.frozen import freeze
from skillweave.redaction import without_secrets

if TYPE_CHECKING:
    from skillweave.cli.output.notes import Tally
    from skillweave.registry import Source
    from skillweave.state.port import Store


SKILLS = "skills"

LEDGER = "ledger"
ENTITIES = "entities"
SERVICE = "service"
_NOBODY = "skillweave doctor"
_NEVER = 1 << 40
TERMINAL = "terminal"


async def look_at_skills(
    names: Sequence[str] | None, packs: Sequence[str] | None, *, strict: bool
) -> AsyncIterator[Finding]:
    """A finding for each folder, file and pack that is named, or for the default folder."""
    try:
        taken = skills_beside_packs(names, packs)
    except Mistake as error:
        yield Finding(SKILLS, DEFAULT_FOLDER, Level.MISSING, str(error), "or begin one: skillweave init my-skill")
        return
    for name in taken:
        async for finding in _looked_into(name, strict=strict):
            yield finding
    for name in packs or ():
        yield await _loaded(f"pack {name}", partial(_pack, name), strict=False)


async def _looked_into(name: str, *, strict: bool) -> AsyncIterator[Finding]:
    """The server of a source, where it has one, and its skills, unless the first look would make tables there."""
    if "://" in name and (missing := _not_yet(name)) is not None:
        fix = f"fill one: skillweave store put --store {quote(name)}"
        yield replace(missing, section=SKILLS, fix=fix if missing.level is Level.MISSING else "name another file")
        return
    sources: Sequence[Source] = ()
    try:
        sources = sources_of([name], strict=strict)
        looked = [await look_at_server(SKILLS, source) for source in sources]
    except StoreUnavailable as error:
        looked = [Looked((_silent(SKILLS, name, error),), ready=False)]
    except SkillweaveError as error:
        looked = [Looked((Finding(SKILLS, name, Level.PROBLEM, f"cannot be loaded: {error}"),), ready=False)]
    if all(one.ready for one in looked):
        yield await _loaded(name, lambda: sources, strict=strict)
    for one in looked:
        for finding in one.findings:
            yield finding
    await close_all(sources)


def _silent(section: str, name: str, error: Exception) -> Finding:
    return Finding(section, name, Level.PROBLEM, f"does not answer: {error}", unreachable=True)


async def look_at_roots(
    project: Path, home: Path, names: Sequence[str] | None, packs: Sequence[str] | None
) -> AsyncIterator[Finding]:
    """A finding for each other folder in which clients keep skills and that is there; none is used unless named."""
    from skillweave.sources.roots import existing_roots

    used = _real_folders(names, packs)
    others = (one for one in existing_roots(project, home) if _real(one[1]) not in used)
    for root, path in others:
        name = str(path.relative_to(project)) if path.is_relative_to(project) else str(path)
        subject = f"{name} ({root.scope.value}, {root.client})"
        try:
            tally = await _tally(partial(sources_of, [str(path)], strict=False))
        except SkillweaveError as error:
            yield Finding(SKILLS, subject, Level.MISSING, f"cannot be loaded: {error}")
        else:
            yield Finding(SKILLS, subject, Level.OK, _words(tally), f"to use it: --skills {quote(name)}")


def _real_folders(names: Sequence[str] | None, packs: Sequence[str] | None) -> frozenset[str]:
    """The real paths of what is used already."""
    try:
        return frozenset(map(_real, skills_beside_packs(names, packs)))
    except Mistake:
        return frozenset()


def _real(folder: str | Path) -> str:
    return os.path.realpath(folder)


def _pack(name: str) -> "Sequence[Source]":
    from skillweave.sources.named import packs_of

    return packs_of([name])


async def _loaded(name: str, sources: "Callable[[], Sequence[Source]]", *, strict: bool) -> Finding:
    try:
        tally = await _tally(sources)
    except StoreUnavailable as error:
        return _silent(SKILLS, name, error)
    except SkillweaveError as error:
        return Finding(SKILLS, name, Level.PROBLEM, f"cannot be loaded: {error}")
    if tally.skipped:
        what = f"--{name}" if name.startswith("pack ") else f"--skills {quote(name)}"
        fix = f"see why: skillweave check {what}{' --strict' if strict else ''}"
        return Finding(SKILLS, name, Level.PROBLEM, _words(tally), fix)
    return Finding(SKILLS, name, Level.OK, _words(tally))


async def _tally(sources: "Callable[[], Sequence[Source]]") -> "Tally":
    from skillweave.cli.output.notes import tally_of

    return tally_of((await load(sources())).snapshot)


def _words(tally: "Tally") -> str:
    from skillweave.cli.output.page import counted

    return f"{counted(tally.loaded, 'skill')} loaded, {tally.skipped:,} skipped, {tally.repaired:,} repaired"


async def look_at_ledger(ledger: str | None, skills: Sequence[str] | None = ()) -> AsyncIterator[Finding]:
    """Whether it opens and can be written, and what its server says; a file or tables that are missing are not made."""
    name = ledger or DEFAULT_LEDGER
    missing = _not_yet(name)
    if missing is not None:
        yield missing
        return
    try:
        async with opened(Kept(name, _NOBODY)) as store:
            looked = await look_at_server(LEDGER, store)
            if looked.ready:
                yield await _written_to(name, store)
            for finding in looked.findings:
                yield finding
        for finding in _about_decisions(name, skills):
            yield finding
    except (StoreUnavailable, Contended) as error:
        yield _silent(LEDGER, name, error)
    except SkillweaveError as error:
        yield Finding(LEDGER, name, Level.PROBLEM, str(error))


async def look_at_service(store: str | None, redis: str | None) -> AsyncIterator[Finding]:
    """What a service with this configuration may lose in a crash, and what its Redis says; nothing without one."""
    from skillweave.stores import store_of

    if redis is not None:
        conversations = store_of(redis)
        try:
            for finding in (await look_at_server(SERVICE, conversations)).findings:
                yield finding
        except StoreUnavailable as error:
            yield _silent(SERVICE, without_secrets(redis), error)
        finally:
            await close_all((conversations,))
        message = "are kept in the store, after the answer: a crash of a process loses the last second"
        yield Finding(SERVICE, "decisions", Level.NOTE, message, "end `skillweave serve` with SIGTERM, never SIGKILL")
    elif store is not None and store.startswith("postgresql://"):
        message = "reach only those who listen to the same service, and are gone when it ends"
        yield Finding(SERVICE, "events", Level.NOTE, message, "name a Redis beside the store: --redis URL")


async def look_at_entities(name: str | None, tenant: str) -> AsyncIterator[Finding]:
    """Whether they can be read, and what their server says; nothing where none are named."""
    if not name:
        return
    shown = without_secrets(name)
    try:
        async with existing_graph(name, tenant) as graph:
            looked = await look_at_server(ENTITIES, graph)
            if looked.ready:
                await graph.entity(_NOBODY)
                yield Finding(ENTITIES, shown, Level.OK, "can be read")
            for finding in looked.findings:
                yield finding
    except StoreUnavailable as error:
        yield _silent(ENTITIES, name, error)
    except SkillweaveError as error:
        yield Finding(ENTITIES, shown, Level.PROBLEM, f"cannot be read: {error}")


def _about_decisions(name: str, skills: Sequence[str] | None) -> Iterator[Finding]:
    from skillweave.stores.split import SplitStore

    if isinstance(opened(Kept(name, _NOBODY), databases_in(skills)), SplitStore):
        message = "are kept in the database of the skills, after the answer: a crash of a process loses the last second"
        yield Finding(LEDGER, "decisions", Level.NOTE, message, "end processes with `await weaver.close()`")


async def _written_to(name: str, store: "Store") -> Finding:
    from skillweave.cli.output.page import counted
    from skillweave.state.state import State, Writes

    await store.load(_NOBODY)
    # A swap from a revision that nothing has must be lost, and changes nothing; but it has to be able to write.
    if await store.swap(_NOBODY, _NEVER, Writes(State())):
        message = "stores what it must refuse, so that turns may overwrite each other"
        return Finding(LEDGER, name, Level.PROBLEM, message, "use another ledger, and report this one to its author")
    count = await store.count()
    return Finding(LEDGER, name, Level.OK, f"opens and can be written; keeps {counted(count, 'conversation')}")


def _not_yet(name: str) -> Finding | None:
    """What to say of a file that does not exist; None for one that does, and for what is no file."""
    scheme, separator, rest = name.partition("://")
    path = Path(rest.removeprefix("/") if separator else name)
    if (separator and scheme != "sqlite") or path.exists():
        return None
    above = next((folder for folder in path.absolute().parents if folder.exists()), Path("/"))
    if _takes_files(above):
        begin = "it begins with the first: skillweave weave --conversation ID MESSAGE"
        return Finding(LEDGER, name, Level.MISSING, "there is none yet", begin)
    message = f"there is none yet, and {above} cannot be written"
    return Finding(LEDGER, name, Level.PROBLEM, message, "name another file with --ledger", unreachable=True)


def _takes_files(folder: Path) -> bool:
    """Whether a file can be made there, found out with one that has no name where the system knows such files."""
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def look_at_terminal(home: Path) -> Iterator[Finding]:
    """What the output can show, and whether completion is set up for this shell."""
    yield _output()
    yield _completion(home)


def _output() -> Finding:
    encoding = (sys.stdout.encoding or "unknown").lower()
    what = "a terminal" if sys.stdout.isatty() else "a pipe or a file"
    if encoding.replace("-", "").startswith("utf"):
        return Finding(TERMINAL, "output", Level.OK, f"{what}, {encoding}")
    message = f"{what}, {encoding}: other letters are shown as escapes"
    return Finding(TERMINAL, "output", Level.MISSING, message, "set PYTHONIOENCODING=utf-8, or a UTF-8 locale")


def _completion(home: Path) -> Finding:
    scripts = installed_scripts(home)
    if scripts:
        return Finding(TERMINAL, "completion", Level.OK, f"set up in {' and '.join(map(str, scripts))}")
    fix = "skillweave --install-completion"
    return Finding(TERMINAL, "completion", Level.MISSING, "not set up, as far as can be seen", fix)


CONFIGURATION = "configuration"


@dataclass(frozen=True, slots=True)
class Settings:
    """The value of every option that can be configured, and what there is to say about how it came about."""

    file: str | None
    values: Mapping[str, Setting]
    findings: tuple[Finding, ...]

    def value(self, name: str) -> Any:  # noqa: ANN401 - of the kind that the option has
        """The value of one option; None for one that no installed command has."""
        return self.values[name].value if name in self.values else None

    @property
    def configured(self) -> Configured:
        """What is printed of it, without passwords."""
        values = (
            Value(name, freeze(_shown(one.value)), one.origin, one.place or None) for name, one in self.values.items()
        )
        return Configured(self.file, tuple(values))


def settings_now(
    program: Program, chosen: Chosen, flags: Mapping[str, object], environment: Mapping[str, str]
) -> Settings:
    """Everything as it would be taken by a command; a fault costs the value that has it, and is a finding."""
    try:
        configuration = configuration_of(chosen, environment)
        findings = list(_about_file(configuration.file, program))
    except InvalidConfiguration as error:
        findings = [Finding(CONFIGURATION, "file", Level.PROBLEM, str(error))]
        configuration = Configuration(None, environment)
    for strange in strange_variables(environment, program):
        findings.append(Finding(CONFIGURATION, "environment", Level.PROBLEM, strange))
    found = {name: _value(configuration, key, flags) for name, key in sorted(program.shared_keys().items())}
    values = {name: one for name, one in found.items() if name in shared_names() or one.origin is not Origin.DEFAULT}
    for name, setting in values.items():
        try:
            values[name] = replace(setting, value=setting.key.as_flag(setting.value))
        except BadParameter as error:
            why = setting.key.why_refused(setting.value, error.message)
            message = f"{_shown_value(setting.value)}, from {setting.place}: {why}"
            findings.append(Finding(CONFIGURATION, name, Level.PROBLEM, message, "change it there"))
            values[name] = _default(setting.key)
    file = configuration.file.shown if configuration.file else None
    return Settings(file, values, (*findings, *_about_values(values)))


def _about_file(file: ConfigFile | None, program: Program) -> Iterator[Finding]:
    if file is None:
        yield Finding(CONFIGURATION, "file", Level.OK, f"none: there is no {OWN} here or above, and none is needed")
        return
    yield Finding(CONFIGURATION, "file", Level.OK, file.shown)
    for problem in problems_of(file, program, program.names):
        yield Finding(CONFIGURATION, "file", Level.PROBLEM, problem)


def _value(configuration: Configuration, key: Key, flags: Mapping[str, object]) -> Setting:
    if flags.get(key.name):
        return Setting(key, flags[key.name], Origin.FLAG, f"--{key.name}")
    try:
        found = configuration.setting(key, "doctor", shared=True)
    except WrongType:
        found = None
    return found or _default(key)


def _default(key: Key) -> Setting:
    return Setting(key, key.parameter.default, Origin.DEFAULT, "")


def _about_values(values: Mapping[str, Setting]) -> Iterator[Finding]:
    for name, setting in values.items():
        if setting.origin is not Origin.DEFAULT:
            message = f"{_shown_value(setting.value)}, from the {setting.origin.value}: {setting.place}"
            yield Finding(CONFIGURATION, name, Level.OK, message)
    defaults = [f"{name} {_shown_value(one.value)}" for name, one in values.items() if one.origin is Origin.DEFAULT]
    if defaults:
        yield Finding(CONFIGURATION, "defaults", Level.OK, ", ".join(defaults))


def _shown_value(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "(empty)"
    names = {None: "(not set)", True: "true", False: "false"}
    return names[value] if value is None or isinstance(value, bool) else str(value) or "(empty)"


def _shown(value: Any) -> Any:  # noqa: ANN401 - of the kind that the option has
    """The value as JSON data without passwords."""
    if isinstance(value, list):
        return [without_secrets(str(item)) for item in value]
    return without_secrets(value) if isinstance(value, str) else value
