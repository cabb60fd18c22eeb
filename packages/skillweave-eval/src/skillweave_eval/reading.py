"""Labelled queries from files: our YAML, JSON lines, and the benchmark of public skills with its corpus (spec 9)."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from skillweave import Message, Role, Severity
from skillweave.errors import InvalidData
from skillweave.values import Keys, Location, Portable, read_json, read_yaml, resolved
from skillweave_eval.cases import Case, CaseSet

if TYPE_CHECKING:
    from skillweave import Skill

T = TypeVar("T", bound=Portable)

SUFFIXES = (".triggers.yaml", ".triggers.yml")
"""How the name of a file with trigger tests ends, so that it is found by itself and taken for nothing else."""
CORPUS, NEGATIVES = "corpus.jsonl.gz", "negatives.jsonl"
MOST_BYTES = 64 << 20
ALL_ROWS = "all rows"
_ROLES = tuple(role.value for role in Role)


@dataclass(frozen=True, slots=True)
class _Written(Portable):
    """A test as its author writes it."""

    json_keys: ClassVar[tuple[str, ...]] = (
        *("query", "id?", "expect?", "any?", "not_ as not?", "fine?", "history?", "cursor?"),
        *("kind?", "language?", "source?"),
    )
    json_exact: ClassVar[bool] = True

    query: str
    id: str = ""
    expect: tuple[str, ...] | None = None
    any: tuple[str, ...] | None = None
    not_: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    cursor: str | None = None
    kind: str = ""
    language: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class _File(Portable):
    """A file of tests; `skills` are the folders or packs that they are about, as seen from the file."""

    json_keys: ClassVar[tuple[str, ...]] = ("tests", "skills?", "graph?")
    json_exact: ClassVar[bool] = True

    tests: tuple[_Written, ...]
    skills: tuple[str, ...] = ()
    graph: str | None = None


@dataclass(frozen=True, slots=True)
class TestFile:
    """The tests of one file; `skills` and `graph` are what it says that they are about, relative to its folder."""

    __test__: ClassVar[bool] = False  # the name is no test class's

    path: Path
    cases: tuple[Case, ...]
    skills: tuple[str, ...] = ()
    graph: str | None = None

    def library(self) -> tuple[Path, ...]:
        """The skills that the tests are about: those that the file names, else those that it lies among.

        A file in a skill's folder, or in a folder of that, is about all skills beside that one; else about the folder
        `skills` beside it, if there is one.
        """
        folder = self.path.resolve().parent
        if self.skills:
            return tuple(folder / named for named in self.skills)
        for place in (folder, folder.parent):
            if any((place / name).is_file() for name in ("SKILL.md", "skill.md")):
                return (place.parent,)
        beside = folder / "skills"
        return (beside,) if beside.is_dir() else ()

    def graph_file(self) -> Path | None:
        """The skill graph that the file names, None where it names none."""
        return None if self.graph is None else self.path.resolve().parent / self.graph


def read_tests(path: Path) -> TestFile:
    """The trigger tests of a YAML or JSON file.

    Raises:
        InvalidData: the file is none, or a test in it is none; with file, line and what belongs there.
    """
    data, places = mapping_in(path, "name a file of labelled queries")
    tests = data.get("tests")
    listed = tests if isinstance(tests, list) else []
    lines = [places.get(("tests", number)) for number in range(len(listed))]
    cases: list[Case] = []
    for number, (entry, line) in enumerate(zip(listed, lines, strict=True)):
        place = Location(str(path), line)
        written = _parsed(_spread(entry), _Written, f"{place}: test {number + 1}")
        cases.append(_case(written, place, number, path.name))
    file = _parsed({**data, "tests": [] if isinstance(tests, list) else tests, **_skills(data)}, _File, str(path))
    return TestFile(path, tuple(cases), file.skills, file.graph)


def _parsed(data: object, cls: type[T], place: str) -> T:
    try:
        return cls.from_dict(data)
    except InvalidData as error:
        raise InvalidData(f"{place}: {error}", place=error.place) from None


def _skills(data: Mapping[str, Any]) -> dict[str, object]:
    return {"skills": [data["skills"]]} if isinstance(data.get("skills"), str) else {}


def _spread(entry: object) -> object:
    """The test with single ids as lists, and with what was said before as messages."""
    if not isinstance(entry, dict):
        return entry
    lists = {key: [entry[key]] for key in ("expect", "any", "not", "fine") if isinstance(entry.get(key), str)}
    history = entry.get("history")
    if isinstance(history, list):
        lists["history"] = [
            {"id": None, "role": "user", "content": said} if isinstance(said, str) else _said(said) for said in history
        ]
    return {**entry, **lists}


def _said(said: object) -> object:
    """`{user: TEXT}` and `{assistant: TEXT}` are short for a role and a content."""
    if isinstance(said, dict) and len(said) == 1 and (role := next(iter(said))) in _ROLES:
        return {"id": None, "role": role, "content": said[role]}
    return {"id": None, **said} if isinstance(said, dict) else said


def _case(written: _Written, place: Location, number: int, file: str) -> Case:
    if written.any is not None and written.expect is not None:
        raise InvalidData(
            f"{place}: `any` and `expect` stand beside each other; `any` asks for one of its ids, `expect` for all"
        )
    if written.any is None and written.expect is None and not written.not_:
        raise InvalidData(
            f"{place}: the test expects nothing; add `expect: [id]`, `not: [id]`, or `expect: []` for none"
        )
    if not written.query.strip():
        raise InvalidData(f"{place}: the query is empty; write what a user would say")
    expect = written.any if written.expect is None else written.expect
    return Case(
        id=written.id or f"{file}:{place.line or number + 1}",
        query=written.query,
        expect=expect,
        any_of=written.any is not None,
        not_=written.not_,
        fine=written.fine,
        history=written.history,
        cursor=written.cursor,
        kind=written.kind,
        language=written.language,
        source=written.source,
        place=place,
    )


def find_tests(folder: Path) -> tuple[Path, ...]:
    """The files of trigger tests in a folder and below, sorted."""
    return tuple(sorted(path for suffix in SUFFIXES for path in folder.rglob(f"*{suffix}") if path.is_file()))


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labelled queries, and the skills that come with them; None where they are about skills kept elsewhere."""

    cases: CaseSet
    skills: "tuple[Skill, ...] | None" = None


def read_labelled(path: Path, split: str | None = None) -> Labelled:
    """The labelled queries of a YAML file, of JSON lines, or of a benchmark folder that brings its skills along.

    `split` names the file of a folder, such as `dev`; None for one without splits.

    Raises:
        InvalidData: nothing of that kind is there, or a row is none; with the place.
    """
    if path.is_dir() and (path / CORPUS).is_file():
        return read_benchmark(path, split or "dev")
    name = path.name
    if path.is_dir():
        path, split = _split_file(path, split), split or "dev"
    if path.suffix.lower() == ".jsonl":
        cases = tuple(_row(row, place) for place, row in _rows(path))
    else:
        cases = read_tests(path).cases
    if not cases:
        raise InvalidData(f"{path} holds no queries; add some, one JSON object a line or under `tests:`")
    return Labelled(CaseSet(name, split or ALL_ROWS, cases))


def _split_file(folder: Path, split: str | None) -> Path:
    path = folder / f"{split or 'dev'}.jsonl"
    if not path.is_file():
        there = ", ".join(sorted(one.stem for one in folder.glob("*.jsonl"))) or "none"
        raise InvalidData(f"{folder} has no {path.name}; its splits are: {there}")
    return path


def _row(row: Mapping[str, Any], place: Location) -> Case:
    """A row with `message` or `query`, its right ids in `gold`, of which any one will do."""
    query = row.get("message", row.get("query"))
    if not isinstance(query, str) or not query.strip():
        raise InvalidData(f"{place}: a row has a text in `message` or `query`")
    gold, wrong = _ids(row, "gold", place), _ids(row, "not_gold", place)
    if gold is None and wrong is None:
        raise InvalidData(
            f"{place}: a row has a list of ids in `gold`, empty where no skill is right, or in `not_gold`"
        )
    before = row.get("before") or ()
    if not isinstance(before, list | tuple) or not all(isinstance(said, str) for said in before):
        raise InvalidData(f"{place}: `before` is a list of what the user said earlier")
    return Case(
        id=str(row.get("id") or f"row-{place.line}"),
        query=query,
        expect=gold,
        any_of=True,
        not_=wrong or (),
        fine=_ids(row, "also_fine", place) or (),
        history=tuple(Message(Role.USER, said) for said in before),
        kind=str(row.get("kind") or ""),
        language=str(row.get("language") or ""),
        source=str(row.get("source") or ""),
        names_skill=row.get("names_skill") is True,
        place=place,
    )


def _ids(row: Mapping[str, Any], key: str, place: Location) -> tuple[str, ...] | None:
    ids = row.get(key)
    if ids is None:
        return None
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise InvalidData(f"{place}: `{key}` is a list of skill ids")
    return tuple(ids)


def read_benchmark(folder: Path, split: str) -> Labelled:
    """The benchmark of public skills: its corpus as skills, the queries of a split, and the negatives.

    A skill is known there by repository and path; here its id is its name, or a number where another has that name.
    """
    with gzip.open(folder / CORPUS, "rt", encoding="utf-8") as lines:
        corpus = [json.loads(line) for line in lines]
    skills = tuple(_skills_of(corpus))
    ids = {row["id"]: skill.id for row, skill in zip(corpus, skills, strict=True)}
    asked = [_row(row, place) for place, row in _rows(_split_file(folder, split))]
    negatives = folder / NEGATIVES
    if negatives.is_file() and split != negatives.stem:
        asked += [_row(row, place) for place, row in _rows(negatives)]
    cases = tuple(_in_library(case, ids) for case in asked)
    return Labelled(CaseSet(folder.name, split, cases), skills)


def _skills_of(corpus: Iterable[Mapping[str, str]]) -> "Iterator[Skill]":
    from skillweave import Skill
    from skillweave.skills import SkillText, is_skill_id, title_of

    taken: set[str] = set()
    for number, row in enumerate(corpus):
        name = row["name"]
        plain = is_skill_id(name) and name not in taken
        taken.add(name)
        yield Skill(
            id=name if plain else f"skill-{number}",
            name=title_of(name),
            description=row["description"],
            spelling=None if plain else name,
            text=SkillText(instructions=row["body"]),
        )


def _in_library(case: Case, ids: Mapping[str, str]) -> Case:
    def named(labels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(ids.get(label, label) for label in labels)

    expect = None if case.expect is None else named(case.expect)
    return replace(case, expect=expect, any_of=False, not_=named(case.not_))


def _rows(path: Path) -> Iterator[tuple[Location, Mapping[str, Any]]]:
    for number, line in enumerate(text_of(path, "name a file of labelled queries").splitlines(), start=1):
        if not line.strip():
            continue
        place = Location(str(path), number)
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InvalidData(f"{place}: this line is not JSON: {error}; write one object a line") from None
        if not isinstance(row, dict):
            raise InvalidData(f"{place}: this line is not a JSON object; write one object a line")
        yield place, row


def mapping_in(path: Path, wanted: str) -> tuple[Mapping[str, Any], Mapping[Keys, int]]:
    """Returns the mapping in a YAML or JSON file, and the lines of what stands in it.

    Raises:
        InvalidData: the file cannot be read, with the line or `wanted`.
    """
    read = read_json if path.suffix.lower() == ".json" else read_yaml
    document = read(text_of(path, wanted), path=str(path))
    if document.data is None:
        found = next(one for one in document.diagnostics if one.severity is Severity.ERROR)
        raise InvalidData(f"{found.location}: {found.message}; {found.fix}")
    data: Any = resolved(document.data)  # a mapping stays one
    return data, document.lines


def text_of(path: Path, wanted: str) -> str:
    """Returns the text of a regular file in UTF-8; raises InvalidData, with `wanted` as what to give instead."""
    try:
        about = path.stat()
        if not S_ISREG(about.st_mode):
            raise InvalidData(f"{path} is no file; {wanted}")
        if about.st_size > MOST_BYTES:
            raise InvalidData(f"{path} is larger than {MOST_BYTES >> 20} MiB; {wanted}")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidData(f"{path} is not UTF-8 text (byte {error.start + 1}); save it as UTF-8") from None
    except OSError as error:
        raise InvalidData(f"{path} cannot be read: {error.strerror}; {wanted}") from None
