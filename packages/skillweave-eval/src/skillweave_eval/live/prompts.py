"""Evaluation prompts as skills bring them along, `evals/evals.json`, and the text that a model with the skill gets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from skillweave import Message, Role, SkillNotFound, Turn
from skillweave.errors import InvalidData
from skillweave.turns import Rung
from skillweave.values import Portable
from skillweave_eval.reading import mapping_in

if TYPE_CHECKING:
    from skillweave import Skill, Weaver

PLACES = ("evals/evals.json", "evals/evals.yaml", "evals/evals.yml")
"""Where a skill's folder has its prompts."""
_SAID = ("criterion", "expectation", "assertion", "check", "text", "description")


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


@dataclass(frozen=True, slots=True)
class Assertion(Portable):
    """What must hold of an answer; `negated` turns it round. `values` are what a program looks for."""

    text: str
    check: Check = Check.JUDGED
    values: tuple[str, ...] = ()
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Prompt(Portable):
    """One prompt of a skill: what is asked, and what must hold of the answer; `expected` is for the judge.

    `needs_files` is whether it comes with input files, which a model is not sent.
    """

    skill_id: str
    id: str
    text: str
    assertions: tuple[Assertion, ...]
    expected: str = ""
    needs_files: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """The prompts, and by id the text that a model with the skill gets; `data` names the files."""

    data: str
    prompts: tuple[Prompt, ...]
    texts: Mapping[str, str]
    notes: tuple[str, ...] = ()


async def gather_material(weaver: "Weaver", files: Sequence[Path] = (), only: Sequence[str] = ()) -> Material:
    """Returns the prompts of the named files, or of all skills that bring some; `only` are ids to keep, all for none.

    Raises:
        InvalidData: there are no prompts, or a file cannot be read.
        SkillNotFound: a file or `only` names a skill that is not there.
    """
    snapshot = await weaver.skills.snapshot()
    for skill_id in only:
        if skill_id not in snapshot:
            raise SkillNotFound(skill_id, snapshot)
    if files:
        found = [(path, _owner(path, snapshot)) for path in files]
    else:
        found = [(path, skill.id) for skill in snapshot.active() if (path := _prompts_of(skill)) is not None]
    found = [(path, skill_id) for path, skill_id in found if not only or skill_id in only]
    prompts = [prompt for path, skill_id in found for prompt in read_prompts(path, skill_id)]
    if not prompts:
        raise InvalidData(
            "no skill has prompts to be run; write them to evals/evals.json in its folder, as "
            "{evals: [{id, prompt, assertions: [...]}]}, or name a file of them"
        )
    texts: dict[str, str] = {}
    left_out = ", ".join(f"{one.skill_id} {one.id}" for one in prompts if one.needs_files)
    notes = [f"prompts that need input files are left out: {left_out}"] if left_out else []
    prompts = [one for one in prompts if not one.needs_files]
    if not prompts:
        raise InvalidData(f"{notes[0]}, and there are no others; write some without `files`")
    for skill_id in dict.fromkeys(prompt.skill_id for prompt in prompts):
        texts[skill_id], said = await _text(weaver, skill_id)
        notes += said
    data = str(found[0][0]) if len(found) == 1 else f"{len(found)} files of prompts"
    return Material(data, tuple(prompt for prompt in prompts if texts[prompt.skill_id]), texts, tuple(notes))


def _prompts_of(skill: "Skill") -> Path | None:
    if skill.origin is None:
        return None
    folder = Path(skill.origin.location).parent
    return next((folder / place for place in PLACES if (folder / place).is_file()), None)


def _owner(path: Path, known: Mapping[str, object]) -> str:
    """The skill that a file is of: the one that it names, else the one in whose folder it lies."""
    data, folder = _data(path), path.resolve().parent
    names = [
        str(data.get("skill_name", data.get("skill", ""))),
        (folder.parent if folder.name == "evals" else folder).name,
    ]
    for name in names:
        if name in known:
            return name
    raise SkillNotFound(next(filter(None, names), ""), known)


async def _text(weaver: "Weaver", skill_id: str) -> tuple[str, Sequence[str]]:
    """The skill as a conversation gets it that asks for it by name, with its companions."""
    turn = Turn(f"live {skill_id}", "live", Message(Role.TOOL, None), named=(skill_id,))
    injection = await weaver.preview(turn)
    blocks = [block for block in injection.blocks if block.rung > Rung.CATALOG]
    own = [block for block in blocks if block.skill_id == skill_id]
    if not own:
        why = next((one.reason for one in injection.decisions if one.skill_id == skill_id), "it was not given")
        return "", (f"{skill_id} cannot be given and is left out: {why}",)
    short = all(block.rung < Rung.INSTRUCTIONS for block in own)
    notes = (f"{skill_id} is given as an outline only: it does not fit whole; raise --budget",) if short else ()
    return "\n\n".join(block.text for block in blocks), notes


def read_prompts(path: Path, skill_id: str) -> tuple[Prompt, ...]:
    """Returns the prompts of a file, without those of which nothing is asserted or expected.

    Raises:
        InvalidData: the file cannot be read, or is not a list of prompts; with the place.
    """
    rows = _data(path).get("evals")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InvalidData(f"{path} holds no prompts; write {{skill_name, evals: [{{id, prompt, assertions}}]}}")
    found = (_prompt(row, skill_id, number, f"{path}: prompt {number}") for number, row in enumerate(rows, start=1))
    return tuple(prompt for prompt in found if prompt.assertions)


def _data(path: Path) -> Mapping[str, object]:
    return mapping_in(path, "name a file of prompts")[0]


def _prompt(row: Mapping[str, object], skill_id: str, number: int, place: str) -> Prompt:
    asked, expected = row.get("prompt"), row.get("expected_output")
    if not isinstance(asked, str) or not asked.strip():
        raise InvalidData(f"{place} has no text; write it as `prompt`")
    listed = [*_listed(row.get("assertions")), *_listed(row.get("expectations"))]
    wanted = expected if isinstance(expected, str) else ""
    assertions = [_assertion(entry, place) for entry in listed or _listed(wanted or None)]
    return Prompt(skill_id, str(row.get("id", number)), asked, tuple(assertions), wanted, bool(row.get("files")))


def _assertion(entry: object, place: str) -> Assertion:
    if isinstance(entry, str):
        return Assertion(entry)
    if not isinstance(entry, Mapping):
        raise InvalidData(f"{place}: an assertion is a text or an object with `type` and `value`")
    kind = str(entry.get("type", "")).strip().lower().replace("-", "_")
    values = tuple(map(str, _listed(entry.get("value", entry.get("pattern")))))
    said = next((str(entry[key]) for key in _SAID if isinstance(entry.get(key), str)), "")
    plain = kind.removeprefix("not_")
    if plain not in tuple(Check) or plain == Check.JUDGED:
        # Whatever kind an author thought of, its words can be judged.
        text = said or next(iter(values), "") or str(entry.get("name", ""))
        if not text:
            raise InvalidData(f"{place}: an assertion of type {kind!r} has no words that could be judged")
        return Assertion(text, negated=plain != kind)
    if not values and plain != Check.IS_JSON:
        raise InvalidData(f"{place}: an assertion of type {kind!r} has no `value`")
    shown = str(entry.get("name") or said or f"{kind} {', '.join(values)}".strip())
    return Assertion(shown, Check(plain), values, negated=plain != kind)


def _listed(value: object) -> Iterator[object]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value
