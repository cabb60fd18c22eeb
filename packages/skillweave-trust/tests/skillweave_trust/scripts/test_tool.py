import asyncio
from pathlib import Path

import pytest

from skillweave import Skill
from skillweave.sources import source_of
from skillweave_trust import Approvals, Scripts, Trusted, runner_of
from skillweave_trust.scripts import runners
from skillweave_trust.scripts.values import ScriptRefused


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "greet"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nRun scripts/hello.py NAME.\n")
    (folder / "scripts" / "hello.py").write_text("import sys; print('bonjour', *sys.argv[1:])")
    (folder / "scripts" / "notes.txt").write_text("no script")
    return folder


async def scripts_of(folder: Path, origin: str = "folder:skills") -> tuple[Scripts, Skill]:
    approvals = Approvals(folder.parent.parent / "settings")
    source = Trusted(source_of(folder.parent), origin=origin, approvals=approvals)
    (skill,) = (await source.load()).skills
    return Scripts(source, runner_of("unsafe"), approvals), skill


async def approve(scripts: Scripts, skill: Skill, path: str, *arguments: str) -> None:
    package = (await scripts.source.packages([skill], {}))[skill.id]
    assert package.manifest is not None
    scripts.approvals.approve_run(skill.id, package.manifest, path, arguments)


async def test_an_approval_is_for_one_run_and_used_up(folder: Path) -> None:
    scripts, skill = await scripts_of(folder)
    await approve(scripts, skill, "scripts/hello.py", "Alice")
    assert (await scripts.run(skill, "scripts/hello.py", ["Alice"])).stdout == "bonjour Alice\n"
    with pytest.raises(ScriptRefused, match="nobody approved this run"):
        await scripts.run(skill, "scripts/hello.py", ["Alice"])


async def test_of_two_runs_at_the_same_time_one_uses_the_approval(folder: Path) -> None:
    scripts, skill = await scripts_of(folder)
    await approve(scripts, skill, "scripts/hello.py")
    both = await asyncio.gather(*(scripts.run(skill, "scripts/hello.py") for _ in range(2)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in both) == ["ScriptAnswer", "ScriptRefused"]


async def test_an_approval_is_for_these_arguments_in_this_order(folder: Path) -> None:
    scripts, skill = await scripts_of(folder)
    await approve(scripts, skill, "scripts/hello.py", "a", "b")
    for other in (["b", "a"], ["a b"], ["a"], ["a", "b", ""]):
        with pytest.raises(ScriptRefused, match="nobody approved"):
            await scripts.run(skill, "scripts/hello.py", other)


async def test_an_approval_ends_when_any_file_of_the_skill_changes(folder: Path) -> None:
    scripts, skill = await scripts_of(folder)
    await approve(scripts, skill, "scripts/hello.py")
    (folder / "scripts" / "notes.txt").write_text("changed")
    with pytest.raises(ScriptRefused, match="nobody approved"):
        await scripts.run(skill, "scripts/hello.py")


async def test_no_script_of_a_skill_that_is_held_back_runs(folder: Path) -> None:
    scripts, skill = await scripts_of(folder, "git:https://example.org/x")
    with pytest.raises(ScriptRefused, match="approve the skill first"):
        await scripts.run(skill, "scripts/hello.py")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"skill_id": "greet"}, "needs skill_id and path"),
        ({"skill_id": "greet", "path": "scripts/none.py"}, "its scripts are: scripts/hello.py"),
        ({"skill_id": "greet", "path": "../../etc/passwd"}, "has no file"),
        ({"skill_id": "greet", "path": "scripts/hello.py", "arguments": "Alice"}, "give a list of texts"),
        ({"skill_id": "greet", "path": "scripts/hello.py", "arguments": [1]}, "argument 1 is int"),
        ({"skill_id": "nobody", "path": "scripts/hello.py"}, "no skill has the id"),
        ({"skill_id": "greet", "path": "scripts/hello.py", "approved": True}, "not 'approved'"),
        (None, "needs skill_id and path"),
    ],
)
async def test_a_call_that_cannot_be_run_is_answered_in_words(
    folder: Path, said: dict[str, object] | None, answer: str
) -> None:
    scripts, skill = await scripts_of(folder)
    text, failed = await scripts.call({"greet": skill}, said)
    assert failed and answer in text


async def test_a_file_that_is_no_script_is_not_run(folder: Path) -> None:
    scripts, skill = await scripts_of(folder)
    await approve(scripts, skill, "scripts/notes.txt")
    text, failed = await scripts.call({"greet": skill}, {"skill_id": "greet", "path": "scripts/notes.txt"})
    assert failed and "is no script" in text


async def test_the_answer_of_a_run_says_what_held_and_what_did_not(folder: Path) -> None:
    scripts, skill = await scripts_of(folder)
    await approve(scripts, skill, "scripts/hello.py")
    text, failed = await scripts.call({"greet": skill}, {"skill_id": "greet", "path": "scripts/hello.py"})
    assert not failed and "stdout:\nbonjour" in text and "not held: files, network, processes" in text


def test_unsafe_is_chosen_by_its_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        runners.Bubblewrap, "problem", lambda _: "bubblewrap is not installed: `apt install bubblewrap`"
    )
    monkeypatch.setattr(runners.Sandlock, "problem", lambda _: "sandlock is not installed: `pip install sandlock`")
    with pytest.raises(ScriptRefused, match=r"apt install bubblewrap.*pip install sandlock"):
        runner_of()
    assert runner_of("unsafe").name == "unsafe"
