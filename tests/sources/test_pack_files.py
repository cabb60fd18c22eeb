"""Packs of several files: skills in files that the pack includes, documents in files, checkpoints described once."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from skillweave import Checkpoint, Registry, Severity
from skillweave.errors import SourceUnavailable
from skillweave.sources import Pack
from tests.skill_folders import found, ids

MAIN = """\
pack: {name: harbour}
include: [skills/berths.yaml, skills/cranes.yaml]
checkpoints:
  sign-off: {reviewer: harbour master, asks: Is the berth free?, blocking: true}
agents:
  - {id: pilot, skills: [berth-plan], checkpoints: [sign-off]}
skills:
  - {id: tides, description: Reads the tide table.}
"""
BERTHS = """\
skills:
  - id: berth-plan
    description: Plans the berths.
    checkpoints: [sign-off, weather]
    artifacts:
      - {id: rules, name: Rules of the harbour, media_type: text/markdown, file: documents/rules.md}
      - {file: documents/fees.yaml}
"""
CRANES = "skills:\n  - {id: crane-plan, description: Plans the cranes.}\n"
FILES = {
    "pack.yaml": MAIN,
    "skills/berths.yaml": BERTHS,
    "skills/cranes.yaml": CRANES,
    "documents/rules.md": "No wake.\n",
    "documents/fees.yaml": "mooring: 12\n",
}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "pack.yaml"


async def test_skills_of_included_files_come_after_the_packs_own_in_the_order_of_the_files(tmp_path: Path) -> None:
    loaded = await Pack(write(tmp_path, FILES)).load()
    assert ids(loaded) == ["tides", "berth-plan", "crane-plan"]
    assert not loaded.diagnostics


async def test_a_skill_says_which_file_it_stands_in(tmp_path: Path) -> None:
    loaded = await Pack(write(tmp_path, FILES)).load()
    origin = loaded.skills[1].origin
    assert origin is not None
    assert origin.location == f"{tmp_path}/skills/berths.yaml"


async def test_a_document_in_a_file_is_read_like_one_in_the_pack(tmp_path: Path) -> None:
    pack = Pack(write(tmp_path, FILES))
    skill = (await pack.load()).skills[1]
    assert [(ref.id, ref.name, ref.media_type, ref.size) for ref in skill.artifacts] == [
        ("rules", "Rules of the harbour", "text/markdown", 9),
        ("documents/fees.yaml", "documents/fees.yaml", "application/yaml", 12),
    ]
    assert await pack.read(skill, "rules") == b"No wake.\n"


async def test_a_checkpoint_that_a_skill_only_names_is_the_one_that_the_pack_describes(tmp_path: Path) -> None:
    loaded = await Pack(write(tmp_path, FILES)).load()
    described = Checkpoint("sign-off", reviewer="harbour master", asks="Is the berth free?")
    assert loaded.skills[1].checkpoints == (described, Checkpoint("weather"))
    assert loaded.agents["pilot"].checkpoints == (described,)


async def test_an_unchanged_pack_is_not_read_again_and_a_changed_document_is(tmp_path: Path) -> None:
    pack = Pack(write(tmp_path, FILES))
    first = await pack.load()
    assert await pack.load(first) is first
    (tmp_path / "documents/rules.md").write_text("No wake at night.\n", encoding="utf-8")
    second = await pack.load(first)
    assert second is not first
    assert await pack.read(second.skills[1], "rules") == b"No wake at night.\n"


async def test_a_file_that_comes_back_is_noticed(tmp_path: Path) -> None:
    pack = Pack(write(tmp_path, {**FILES, "skills/cranes.yaml": CRANES}))
    (tmp_path / "skills/cranes.yaml").unlink()
    without = await pack.load()
    assert await pack.load(without) is without
    write(tmp_path, FILES)
    assert "crane-plan" in ids(await pack.load(without))


async def test_all_files_of_a_pack_are_watched(tmp_path: Path) -> None:
    pack = Pack(write(tmp_path, FILES))
    await pack.load()
    assert {path.relative_to(tmp_path).as_posix() for path in pack.watched} == {*FILES, "skillweave.phrases.jsonl"}


async def test_skills_of_a_file_that_cannot_be_read_any_more_stay_in_use(tmp_path: Path) -> None:
    registry = Registry([Pack(write(tmp_path, FILES))])
    await registry.refresh()
    (tmp_path / "skills/cranes.yaml").write_bytes(b"\xff\xfe")
    await registry.refresh()
    assert set(registry.snapshot) == {"tides", "berth-plan", "crane-plan"}
    codes = {finding.code for finding in registry.snapshot.diagnostics}
    assert {"pack-file", "kept-last-good"} <= codes


@pytest.mark.parametrize("name", ["../outside.yaml", "/etc/passwd", "a/../../outside.yaml", "", "skills\\cranes.yaml"])
async def test_a_file_outside_of_the_packs_folder_is_never_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.yaml").write_text(CRANES, encoding="utf-8")
    main = MAIN.replace("skills/cranes.yaml", f"'{name}'")
    loaded = await Pack(write(tmp_path / "pack", {**FILES, "pack.yaml": main})).load()
    assert ids(loaded) == ["tides", "berth-plan"]
    (finding,) = found(loaded, "pack-file")
    assert finding.severity is Severity.ERROR
    assert finding.fix


async def test_a_link_that_leads_out_of_the_packs_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text(CRANES, encoding="utf-8")
    path = write(tmp_path / "pack", FILES)
    (tmp_path / "pack/skills/cranes.yaml").unlink()
    (tmp_path / "pack/skills/cranes.yaml").symlink_to(tmp_path / "outside.yaml")
    loaded = await Pack(path).load()
    assert "crane-plan" not in ids(loaded)
    assert len(found(loaded, "pack-file")) == 1


async def test_a_document_that_is_missing_is_a_finding_at_its_line_and_the_skill_loads(tmp_path: Path) -> None:
    path = write(tmp_path, FILES)
    (tmp_path / "documents/fees.yaml").unlink()
    loaded = await Pack(path).load()
    assert [ref.id for ref in loaded.skills[1].artifacts] == ["rules"]
    (finding,) = found(loaded, "pack-file")
    assert (finding.location and finding.location.path, finding.location and finding.location.line) == (
        f"{tmp_path}/skills/berths.yaml",
        7,
    )
    assert "'documents/fees.yaml' is not read: there is no such file" in finding.message


@pytest.mark.parametrize(
    ("main", "code"),
    [
        ("include: skills/berths.yaml\n", "pack-file"),
        ("include: [{a: b}]\n", "pack-file"),
        ("include: [skills/berths.yaml, skills/berths.yaml]\n", "pack-file"),
        ("checkpoints: [sign-off]\n", "bad-checkpoint"),
        ("checkpoints: {sign-off: yes please}\n", "bad-checkpoint"),
        ("checkpoints: {sign-off: {name: other}}\n", "bad-checkpoint"),
    ],
)
async def test_what_cannot_be_a_list_of_files_or_a_checkpoint_is_said(tmp_path: Path, main: str, code: str) -> None:
    tides = "skills: [{id: tides, description: Reads the tide table.}]\n"
    loaded = await Pack(write(tmp_path, {**FILES, "pack.yaml": main + tides})).load()
    assert "tides" in ids(loaded)
    assert len(found(loaded, code)) == 1


async def test_an_artifact_has_a_file_or_a_content_and_not_both(tmp_path: Path) -> None:
    both = BERTHS.replace("{file: documents/fees.yaml}", "{file: documents/fees.yaml, content: x}")
    loaded = await Pack(write(tmp_path, {**FILES, "skills/berths.yaml": both})).load()
    assert [ref.id for ref in loaded.skills[1].artifacts] == ["rules"]
    assert len(found(loaded, "pack-file")) == 1


async def test_only_skills_stand_in_an_included_file(tmp_path: Path) -> None:
    loaded = await Pack(write(tmp_path, {**FILES, "skills/cranes.yaml": CRANES + "agents: []\n"})).load()
    assert "crane-plan" in ids(loaded)
    (finding,) = found(loaded, "unknown-pack-key")
    assert finding.location is not None
    assert finding.location.path.endswith("cranes.yaml")


async def test_the_files_of_a_pack_together_have_a_limit(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / "documents/rules.md").write_bytes(b"x" * (9 << 20))
    (tmp_path / "documents/fees.yaml").write_bytes(b"x" * (9 << 20))
    loaded = await Pack(tmp_path / "pack.yaml").load()
    (finding,) = found(loaded, "pack-file")
    assert "more than the limit" in finding.message


async def test_a_pack_without_its_main_file_is_unavailable(tmp_path: Path) -> None:
    pack = Pack(write(tmp_path, FILES))
    loaded = await pack.load()
    (tmp_path / "pack.yaml").unlink()
    with pytest.raises(SourceUnavailable, match="does not exist"):
        await pack.load(loaded)
