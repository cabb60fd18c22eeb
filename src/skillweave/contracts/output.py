"""Whether what an agent produced is what its skill promised: `output_contract` of seed 002."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from skillweave.contracts.against import MOST, check_against
from skillweave.contracts.answer import Read, read_answer
from skillweave.contracts.plain import fragment
from skillweave.contracts.prepare import PreparedSchema, prepare_schema
from skillweave.contracts.problem import Problem
from skillweave.diagnostics import Diagnostic, Location, Severity, has_errors
from skillweave.errors import MissingExtra, SkillweaveError
from skillweave.skill import FrozenJson, Skill

PLACE = "output"
"""What locations call the output."""


class OutputMismatch(SkillweaveError, ValueError):
    """An output that breaks its skill's contract; `diagnostics` are all findings, in order."""

    def __init__(self, skill: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.skill = skill
        self.diagnostics = diagnostics
        errors = [found for found in diagnostics if found.severity is Severity.ERROR]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"the output of skill {skill!r} breaks its contract: {errors[0]}{more}")


def check_output(skill: Skill, output: object, *, most: int = MOST) -> tuple[Diagnostic, ...]:
    """What of an output breaks the JSON Schema of its skill's output contract; valid without a finding of level error.

    `output` is JSON data, or text with JSON: alone, or in a ```` ```json ```` block. Text counts as it stands where the
    schema's top `type` is or includes `string`, or its `enum` or `const` has just that text. A skill that promises
    nothing (no contract, or one without a schema) gives no finding. At most `most` broken rules are listed, then a
    count; each stands at `output#` and its JSON pointer. See `check_against` for the limits. Raises MissingExtra
    without the package `jsonschema`, when there is a schema.
    """
    _, found = _checked(skill, output, most)
    return found


def require_output(skill: Skill, output: object) -> object:
    """The output as data, the JSON in a text read; raises OutputMismatch, and MissingExtra as `check_output` does.

    Without a schema it is the output as it was given.
    """
    value, found = _checked(skill, output, MOST)
    if has_errors(found):
        raise OutputMismatch(skill.id, found)
    return value


def check_contracts(skills: Iterable[Skill]) -> tuple[Diagnostic, ...]:
    """What is wrong with the schemas of the skills' output contracts themselves.

    Nothing where the package `jsonschema` is not installed: only who checks outputs needs it.
    """
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
    read = _read(output, schema) if isinstance(output, str) else Read(output, is_json=True)
    before = tuple(problem.found(PLACE, skill.id) for problem in read.problems)
    if not read.is_json:
        return None, before
    return read.value, (*before, *check_against(prepared, read.value, place=PLACE, skill=skill.id, most=most))


def _schema(skill: Skill) -> Mapping[str, FrozenJson] | None:
    contract = skill.text.output_contract
    return None if contract is None else contract.schema


def _broken_contract(skill: Skill, prepared: PreparedSchema) -> tuple[Diagnostic, ...]:
    place = Location(skill.origin.location) if skill.origin else None
    return tuple(_finding(problem, skill.id, place) for problem in prepared.problems)


def _finding(problem: Problem, skill: str, place: Location | None) -> Diagnostic:
    message = f"`{fragment('output_contract.schema', problem.keys)}`: {problem.message}"
    return replace(problem.found("", skill), message=message, location=place)


def _read(text: str, schema: Mapping[str, FrozenJson]) -> Read:
    """The value that a text stands for under this schema."""
    as_it_stands = Read(text, is_json=True)
    if text in _named(schema):
        return as_it_stands
    types = _types(schema)
    read = read_answer(text)
    if types == ("string",):
        return read if read.is_json and isinstance(read.value, str) else as_it_stands
    return as_it_stands if "string" in types and not read.is_json else read


def _types(schema: Mapping[str, FrozenJson]) -> tuple[FrozenJson, ...]:
    given = schema.get("type", ())
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _named(schema: Mapping[str, FrozenJson]) -> tuple[FrozenJson, ...]:
    """The values that the schema names one by one."""
    named = schema.get("enum", ())
    return (*(named if isinstance(named, list | tuple) else ()), *([schema["const"]] if "const" in schema else []))
