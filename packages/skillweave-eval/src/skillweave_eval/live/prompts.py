"""Evaluation prompts as skills bring them along: `evals/evals.json`, in the several shapes that authors write."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from skillweave.errors import InvalidData
from skillweave.values import Portable
from skillweave_eval.reading import bytes_of

if TYPE_CHECKING:
    from skillweave import Skill

PLACES = ("evals/evals.json", "evals/evals.yaml", "evals/evals.yml")
"""Where a skill's folder has its prompts."""
MOST_BYTES = 4 << 20
LARGEST_ATTACHMENT = 64 << 10
"""Bytes of an input file that may stand in a prompt."""

_PROMPTS = ("prompt", "question", "query", "input")
_LISTS = ("assertions", "expectations", "expected_behavior", "scorers", "assert", "checks")
_OUTPUTS = ("expected_output", "ground_truth", "expected")
_SAID = ("check", "criterion", "expectation", "assertion", "text", "description", "rubric", "statement")
_JUDGED = frozenset({"", "llm_judge", "llm_rubric", "model", "rubric", "judge", "manual", "behavior", "quality"})


class Check(StrEnum):
    """How an assertion is decided: all but `judged` by program."""

    CONTAINS = "contains"
    ICONTAINS = "icontains"
    EQUALS = "equals"
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    REGEX = "regex"
    IS_JSON = "is_json"
    CONTAINS_ALL = "contains_all"
    CONTAINS_ANY = "contains_any"
    MIN_WORDS = "min_words"
    MAX_WORDS = "max_words"
    JUDGED = "judged"


_SPELLINGS: Mapping[str, Check] = {
    **{check.value: check for check in Check},
    "matches": Check.REGEX,
    "regexp": Check.REGEX,
    "pattern": Check.REGEX,
    "includes": Check.CONTAINS,
    "valid_json": Check.IS_JSON,
    "json": Check.IS_JSON,
    "exact": Check.EQUALS,
}


@dataclass(frozen=True, slots=True)
class Assertion(Portable):
    """What must hold of an answer; `negated` turns it round. `values` are what a program looks for."""

    text: str
    check: Check = Check.JUDGED
    values: tuple[str, ...] = ()
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Prompt(Portable):
    """One prompt of a skill: what is asked, with the texts of its input files, and what must hold of the answer.

    `expected` is what the author says of a good answer, for the judge. `left_out` are input files that are not sent.
    """

    skill_id: str
    id: str
    text: str
    assertions: tuple[Assertion, ...]
    expected: str = ""
    left_out: tuple[str, ...] = ()


def find_prompts(skill: "Skill") -> Path | None:
    """The file of prompts in a skill's folder, None where there is none."""
    if skill.origin is None:
        return None
    folder = Path(skill.origin.location).parent
    return next((folder / place for place in PLACES if (folder / place).is_file()), None)


def read_prompts(path: Path, skill_id: str) -> tuple[Prompt, ...]:
    """The prompts of a file; a prompt of which nothing is asserted or expected is left out.

    Raises:
        InvalidData: the file cannot be read, or is not a list of prompts; with the place.
    """
    rows = _rows(path)
    return tuple(prompt for number, row in enumerate(rows, start=1) if (prompt := _prompt(path, skill_id, row, number)))


def named_skill(path: Path) -> str | None:
    """The skill that a file says its prompts are of, None where it says nothing."""
    data = _data(path)
    name = data.get("skill_name", data.get("skill")) if isinstance(data, Mapping) else None
    return name if isinstance(name, str) else None


def _rows(path: Path) -> Sequence[Mapping[str, object]]:
    data = _data(path)
    rows = data.get("evals", data.get("tests")) if isinstance(data, Mapping) else data
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InvalidData(f"{path} holds no prompts; write {{skill_name, evals: [{{id, prompt, assertions}}]}}")
    return rows


def _data(path: Path) -> object:
    import json

    data = bytes_of(path, "name a file of prompts", MOST_BYTES)
    try:
        text = data.decode("utf-8-sig")
        if path.suffix.lower() == ".json":
            return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"{path} cannot be read: {error}; it must be JSON or YAML in UTF-8") from None
    from skillweave.values import read_yaml, resolved

    document = read_yaml(text, path=str(path))
    if document.data is None:
        found = document.diagnostics[-1]
        raise InvalidData(f"{found.location}: {found.message}; {found.fix}")
    return resolved(document.data)


def _prompt(path: Path, skill_id: str, row: Mapping[str, object], number: int) -> Prompt | None:
    asked = _first(row, _PROMPTS)
    if not asked.strip():
        raise InvalidData(f"{path}: prompt {number} has no text; write it as `prompt`")
    expected = _first(row, _OUTPUTS)
    listed = [entry for key in _LISTS for entry in _entries(row.get(key))]
    assertions = tuple(_assertion(entry, f"{path}: prompt {number}") for entry in listed)
    if not assertions and expected:
        assertions = (Assertion(expected),)
    if not assertions:
        return None
    files = [one for one in _entries(row.get("files")) if isinstance(one, str)]
    attached, left_out = _attached(path, files)
    name = row.get("id", row.get("name", row.get("eval_name", number)))
    return Prompt(skill_id, str(name), "\n\n".join((asked, *attached)), assertions, expected, tuple(left_out))


def _first(row: Mapping[str, object], keys: Sequence[str]) -> str:
    return next((value for key in keys if isinstance(value := row.get(key), str)), "")


def _entries(value: object) -> Sequence[object]:
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, str | Mapping) else []


def _assertion(entry: object, place: str) -> Assertion:
    if isinstance(entry, str):
        return Assertion(entry)
    if not isinstance(entry, Mapping):
        raise InvalidData(f"{place}: an assertion is a text or an object with `type` and `value`")
    kind = str(entry.get("type", "")).strip().lower().replace("-", "_").replace(" ", "_")
    negated = kind.startswith("not_")
    check = _SPELLINGS.get(kind.removeprefix("not_"))
    said = _first(entry, _SAID)
    values = tuple(str(one) for one in _values(entry.get("value", entry.get("pattern", entry.get("expected")))))
    if check is None or check is Check.JUDGED:
        # Whatever kind an author thought of, its words can be judged.
        text = said or (values[0] if values and kind in _JUDGED else "") or str(entry.get("name", ""))
        if not text:
            raise InvalidData(f"{place}: an assertion of type {kind!r} has no words that could be judged")
        return Assertion(text, negated=negated)
    if not values and check is not Check.IS_JSON:
        raise InvalidData(f"{place}: an assertion of type {kind!r} has no `value`")
    shown = str(entry.get("name") or said or f"{kind} {', '.join(values)}".strip())
    return Assertion(shown, check, values, negated)


def _values(value: object) -> Iterator[object]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _attached(path: Path, files: Sequence[str]) -> tuple[list[str], list[str]]:
    """The texts of input files inside the skill's folder, and those that are not text, too large or elsewhere."""
    folder = path.resolve().parent
    root = folder.parent if folder.name == "evals" else folder
    texts: list[str] = []
    left_out: list[str] = []
    for name in files:
        found = next((one for base in (folder, root) if (one := (base / name).resolve()).is_file()), None)
        try:
            if found is None or root not in found.parents or found.stat().st_size > LARGEST_ATTACHMENT:
                left_out.append(name)
            else:
                texts.append(f"File {name}:\n\n{found.read_text(encoding='utf-8')}")
        except (OSError, UnicodeDecodeError):
            left_out.append(name)
    return texts, left_out
