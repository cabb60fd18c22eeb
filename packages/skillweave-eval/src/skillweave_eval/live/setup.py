"""From skills and files of prompts to the runs that are to be made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillweave import Message, Role, SkillNotFound, Turn
from skillweave.errors import InvalidData
from skillweave.turns import Rung
from skillweave_eval.live.prompts import Prompt, find_prompts, named_skill, read_prompts

if TYPE_CHECKING:
    from skillweave import Weaver


@dataclass(frozen=True, slots=True)
class Material:
    """The prompts, and by id the text that a model with the skill gets; `data` names the files."""

    data: str
    prompts: tuple[Prompt, ...]
    texts: Mapping[str, str]
    notes: tuple[str, ...] = ()


async def gather_material(weaver: "Weaver", files: Sequence[Path] = (), only: Sequence[str] = ()) -> Material:
    """The prompts of the named files, or of all skills that bring some; `only` are ids to keep, all for none.

    Raises:
        InvalidData: there are no prompts, a file cannot be read, or nobody knows whose it is.
        SkillNotFound: a file or `only` names a skill that is not there.
    """
    snapshot = await weaver.skills.snapshot()
    for skill_id in only:
        if skill_id not in snapshot:
            raise SkillNotFound(skill_id, snapshot)
    if files:
        found = [(path, _owner(path, snapshot)) for path in files]
    else:
        found = [(path, skill.id) for skill in snapshot.active() if (path := find_prompts(skill)) is not None]
    found = [(path, skill_id) for path, skill_id in found if not only or skill_id in only]
    prompts = tuple(prompt for path, skill_id in found for prompt in read_prompts(path, skill_id))
    if not prompts:
        raise InvalidData(
            "no skill has prompts to be run; write them to evals/evals.json in its folder, as "
            "{evals: [{id, prompt, assertions: [...]}]}, or name a file of them"
        )
    texts: dict[str, str] = {}
    notes: list[str] = []
    for skill_id in dict.fromkeys(prompt.skill_id for prompt in prompts):
        texts[skill_id], said = await _text(weaver, skill_id)
        notes += said
    left_out = sorted({f"{one.skill_id}: {name}" for one in prompts for name in one.left_out})
    if left_out:
        notes.append(f"input files that are no small text are not sent: {', '.join(left_out[:5])}")
    data = str(found[0][0]) if len(found) == 1 else f"{len(found)} files of prompts"
    kept = tuple(prompt for prompt in prompts if texts[prompt.skill_id])
    return Material(data, kept, texts, tuple(notes))


def _owner(path: Path, known: Mapping[str, object]) -> str:
    """The skill that a file is of: the one that it names, else the one in whose folder it lies."""
    folder = path.resolve().parent
    names = (named_skill(path), (folder.parent if folder.name == "evals" else folder).name)
    for name in names:
        if name is not None and name in known:
            return name
    stated = next((name for name in names if name is not None), "")
    raise SkillNotFound(stated, known)


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
