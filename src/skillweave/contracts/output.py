"""Whether what an agent produced is what its skill promised: `output_contract` of seed 002."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillweave.contracts import codes
from skillweave.contracts.check import MOST, check_against
from skillweave.contracts.codes import Problem, fragment, shown
from skillweave.contracts.prepare import PreparedSchema, prepare_schema
from skillweave.diagnostics import Diagnostic, Location, Severity, has_errors
from skillweave.errors import MissingExtra, SkillweaveError
from skillweave.frontmatter.codes import DUPLICATE_KEY
from skillweave.frontmatter.documents import refuse_constant
from skillweave.skill import FrozenJson, Skill

PLACE = "output"
"""What locations call the output."""
MAX_TEXT = 4 << 20
"""Characters of an answer that are read."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)")
_MOST_REPEATED = 5


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """What was found in an answer; `is_json` tells whether that is JSON data, or nothing because of `problems`."""

    value: Any = None
    is_json: bool = False
    problems: tuple[Problem, ...] = ()


class OutputMismatch(SkillweaveError, ValueError):
    """An output that breaks its skill's contract; `diagnostics` are all findings, in order."""

    def __init__(self, skill: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.skill = skill
        self.diagnostics = diagnostics
        errors = [found for found in diagnostics if found.severity is Severity.ERROR]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"the output of skill {skill!r} breaks its contract: {errors[0]}{more}")


def check_output(skill: Skill, output: object, *, most: int = MOST) -> tuple[Diagnostic, ...]:
    """Checks an output against its skill's contract; it is valid without a finding of level error.

    `output` is JSON data, or text with JSON, alone or in a `json` block; it is text as it stands where the schema
    allows a string. Without a schema there is no finding. `most` broken rules are listed. Raises MissingExtra.
    """
    _, found = _checked(skill, output, most)
    return found


def require_output(skill: Skill, output: object) -> object:
    """Returns the output as data. Raises OutputMismatch if it breaks the contract, and MissingExtra."""
    value, found = _checked(skill, output, MOST)
    if has_errors(found):
        raise OutputMismatch(skill.id, found)
    return value


def check_contracts(skills: Iterable[Skill]) -> tuple[Diagnostic, ...]:
    """Checks the schemas of output contracts; nothing without `jsonschema`, which only checks of outputs need."""
    promising = ((skill, schema) for skill in skills if (schema := _schema(skill)) is not None)
    try:
        return tuple(found for skill, schema in promising for found in _broken_contract(skill, prepare_schema(schema)))
    except MissingExtra:
        return ()


def _checked(skill: Skill, output: object, most: int) -> tuple[object, tuple[Diagnostic, ...]]:
    schema = _schema(skill)
    if schema is None:
        return output, ()
    prepared = prepare_schema(schema)
    if prepared.problems:
        return None, _broken_contract(skill, prepared)
    read = _read(output, schema) if isinstance(output, str) else ParsedAnswer(output, is_json=True)
    before = tuple(problem.found(PLACE, skill.id) for problem in read.problems)
    if not read.is_json:
        return None, before
    return read.value, (*before, *check_against(prepared, read.value, place=PLACE, skill=skill.id, most=most))


def _schema(skill: Skill) -> Mapping[str, FrozenJson] | None:
    contract = skill.text.output_contract
    return None if contract is None else contract.schema


def _broken_contract(skill: Skill, prepared: PreparedSchema) -> tuple[Diagnostic, ...]:
    place = Location(skill.origin.location) if skill.origin else None
    told = ((one, f"`{fragment('output_contract.schema', one.keys)}`: {one.message}") for one in prepared.problems)
    return tuple(replace(one.found("", skill.id), message=message, location=place) for one, message in told)


def _read(text: str, schema: Mapping[str, FrozenJson]) -> ParsedAnswer:
    as_it_stands = ParsedAnswer(text, is_json=True)
    if text in _named(schema):
        return as_it_stands
    given = schema.get("type", ())
    types = tuple(given) if isinstance(given, list | tuple) else (given,)
    read = read_answer(text)
    if types == ("string",):
        return read if read.is_json and isinstance(read.value, str) else as_it_stands
    return as_it_stands if "string" in types and not read.is_json else read


def _named(schema: Mapping[str, FrozenJson]) -> tuple[FrozenJson, ...]:
    named = schema.get("enum", ())
    return (*(named if isinstance(named, list | tuple) else ()), *([schema["const"]] if "const" in schema else []))


def read_answer(text: str) -> ParsedAnswer:
    """The JSON of an answer: the whole, else its last `json` block, else its last other block that is JSON."""
    if len(text) > MAX_TEXT:
        fix = "shorten it, or check it in parts"
        why = f"the text has {len(text):,} characters, more than the {MAX_TEXT:,} that are read"
        return ParsedAnswer(problems=(Problem(codes.VALUE_TOO_LARGE, (), why, fix),))
    whole = _parsed(text)
    if whole.is_json:
        return whole
    blocks = _blocks(text)
    labelled = [content for language, content in blocks if language.lower() == "json"]
    bare = [read for read in (_parsed(content) for language, content in blocks if not language) if read.is_json]
    if labelled:
        return _last([_parsed(content) for content in labelled])
    return _last(bare) if bare else whole


def _last(reads: list[ParsedAnswer]) -> ParsedAnswer:
    read = reads[-1]
    if len(reads) == 1:
        return read
    message = f"the answer has {len(reads)} JSON blocks; the last is read"
    several = Problem(codes.SEVERAL_BLOCKS, (), message, "give one block only")
    return ParsedAnswer(read.value, read.is_json, (several, *read.problems))


def _parsed(text: str) -> ParsedAnswer:
    repeated: list[Problem] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, value in pairs:
            if key not in data:
                data[key] = value
            elif len(repeated) < _MOST_REPEATED:
                message = f"key {shown(key)} appears twice in one object; the first one counts"
                repeated.append(Problem(DUPLICATE_KEY, (), message, "remove one of them"))
        return data

    try:
        value = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=once, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        return _no_json(f"{error.msg} in line {error.lineno}, column {error.colno}")
    except RecursionError:
        return _no_json("it is nested too deeply")
    except ValueError as error:
        return _no_json(str(error).partition(";")[0])
    return ParsedAnswer(value, is_json=True, problems=tuple(repeated))


def _no_json(why: str) -> ParsedAnswer:
    fix = "answer with JSON alone, or put it into a ```json block"
    return ParsedAnswer(problems=(Problem(codes.NOT_JSON, (), f"the text is not JSON: {why}", fix),))


def _blocks(text: str) -> list[tuple[str, str]]:
    """The language and content of each fenced block; one that is never closed reaches to the end (CommonMark 4.5)."""
    blocks: list[tuple[str, str]] = []
    fence, language, content = "", "", [""]
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not fence and found:
            fence, language, content = found[1], found[2], []
        elif fence and found and len(line.strip()) >= len(fence) and not line.strip().strip(fence[0]):
            blocks.append((language, "\n".join(content)))
            fence = ""
        elif fence:
            content.append(line)
    return [*blocks, (language, "\n".join(content))] if fence else blocks
