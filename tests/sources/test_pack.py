import json
import os
from pathlib import Path

import pytest

from skillweave import Severity
from skillweave.errors import ArtifactNotFound, SourceUnavailable
from skillweave.registry import Loaded, Watched
from skillweave.skills import Origin
from skillweave.sources import Pack
from skillweave.sources.pack import PackMemory
from tests.skill_folders import found, ids

FOUR_SPELLINGS = """\
pack:
  name: trades
  version: 1.0
skills:
  - id: native
    description: The Skill's own form.
    triggers: {keywords: [spacing]}
  - tier1_manifest: {skill_id: tiers, name: Tiers, description: Seed 000., domain_tags: [x]}
    tier2_definition: {steps: [Do it.]}
  - name: definition
    version: 1.0.0
    description: Seed 002.
    allowed_tools: [read]
    forbidden_tools: []
    execution_protocol: [Do it.]
    output_contract: {type: text}
  - name: front
    description: The open specification.
    allowed-tools: Read Grep
    body: Do it.
"""


def pack(tmp_path: Path, text: str, name: str = "pack.yaml") -> Pack:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return Pack(tmp_path / name)


async def test_skills_in_every_spelling_load_in_order(tmp_path: Path) -> None:
    loaded = await pack(tmp_path, FOUR_SPELLINGS).load()
    assert ids(loaded) == ["native", "tiers", "definition", "front"]
    assert not [finding for finding in loaded.diagnostics if finding.severity is Severity.ERROR]


async def test_the_origin_is_the_file_and_the_name_is_that_of_the_file(tmp_path: Path) -> None:
    source = pack(tmp_path, FOUR_SPELLINGS)
    loaded = await source.load()
    assert source.name == "pack"
    assert {skill.origin for skill in loaded.skills} == {Origin("pack", f"{tmp_path}/pack.yaml")}


async def test_a_bad_skill_is_reported_with_its_line_and_hides_no_other(tmp_path: Path) -> None:
    text = (
        "skills:\n  - id: one\n    description: x\n  - just text\n  - id: two\n  -\n  - id: three\n    description: y\n"
    )
    loaded = await pack(tmp_path, text).load()
    assert ids(loaded) == ["one", "three"]
    errors = [finding for finding in loaded.diagnostics if finding.severity is Severity.ERROR]
    assert [(finding.code, finding.location and finding.location.line) for finding in errors] == [
        ("not-a-definition", 4),
        ("field-missing", 5),
        ("not-a-definition", 6),
    ]
    assert all(finding.fix for finding in errors)


async def test_keys_that_mean_nothing_are_reported_and_metadata_is_kept(tmp_path: Path) -> None:
    loaded = await pack(tmp_path, FOUR_SPELLINGS + "skils: []\n").load()
    (unknown,) = found(loaded, "unknown-pack-key")
    assert unknown.message.startswith("'skils'")
    assert unknown.location is not None
    assert unknown.location.line == 21
    assert isinstance(loaded.memory, PackMemory)
    assert loaded.memory.metadata == {"name": "trades", "version": "1.0"}


async def test_json_is_read_by_the_files_suffix(tmp_path: Path) -> None:
    text = json.dumps({"pack": {}, "skills": [{"id": "one", "description": "\ud83d\ude00"}]})
    loaded = await pack(tmp_path, text, "pack.JSON").load()
    assert [skill.description for skill in loaded.skills] == ["😀"]


@pytest.mark.parametrize(
    ("name", "text", "code", "line"),
    [
        ("pack.yaml", "skills:\n  - id: [\n", "yaml-invalid", 3),
        ("pack.yaml", "a: &a [x]\nskills: *a\n", "yaml-alias", 1),
        ("pack.yaml", "", "not-a-mapping", 1),
        ("pack.yaml", "- id: one\n", "not-a-mapping", 1),
        ("pack.yaml", "skills: {one: {description: x}}\n", "not-a-definition", 1),
        ("pack.yaml", "pack: {name: x}\n", "no-skills", None),
        ("pack.yaml", "skills: " + "[" * 100_000, "yaml-too-deep", 1),
        ("pack.json", "[" * 100_000, "json-invalid", None),
        ("pack.json", '{"skills": [}\n', "json-invalid", 1),
    ],
)
async def test_what_cannot_be_read_is_one_finding_with_its_line(
    tmp_path: Path, name: str, text: str, code: str, line: int | None
) -> None:
    loaded = await pack(tmp_path, text, name).load()
    assert ids(loaded) == []
    (finding,) = loaded.diagnostics
    assert (finding.code, finding.location and finding.location.line) == (code, line)


async def test_bytes_that_are_no_utf_8_are_reported_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_bytes(b"skills:\n  - id: caf\xe9\n")
    (finding,) = (await Pack(tmp_path / "pack.yaml").load()).diagnostics
    assert (finding.code, finding.location and finding.location.line) == ("not-utf-8", 2)


async def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert ids(await pack(tmp_path, "\ufeff" + FOUR_SPELLINGS).load())


async def test_a_missing_pack_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match=r"none.yaml' does not exist; create it"):
        await Pack(tmp_path / "none.yaml").load()


async def test_a_folder_is_no_pack(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="a folder, not a regular file"):
        await Pack(tmp_path).load()


async def test_a_pipe_is_no_pack_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pack.yaml")
    with pytest.raises(SourceUnavailable, match="a pipe"):
        await Pack(tmp_path / "pack.yaml").load()


async def test_a_pack_of_100_mb_is_refused_by_its_size(tmp_path: Path) -> None:
    pack(tmp_path, FOUR_SPELLINGS)
    os.truncate(tmp_path / "pack.yaml", 100 << 20)
    with pytest.raises(SourceUnavailable, match="100 MiB, more than the limit of 16 MiB"):
        await Pack(tmp_path / "pack.yaml").load()


async def test_a_pack_named_over_a_link_is_read(tmp_path: Path) -> None:
    pack(tmp_path, FOUR_SPELLINGS)
    (tmp_path / "link.yaml").symlink_to("pack.yaml")
    assert ids(await Pack(tmp_path / "link.yaml").load())


async def test_an_unchanged_pack_gives_the_very_same_answer(tmp_path: Path) -> None:
    source = pack(tmp_path, FOUR_SPELLINGS)
    first = await source.load()
    (tmp_path / "pack.yaml").touch()
    assert await source.load(first) is first


async def test_a_changed_pack_is_read_again(tmp_path: Path) -> None:
    source = pack(tmp_path, FOUR_SPELLINGS)
    first = await source.load()
    pack(tmp_path, FOUR_SPELLINGS.replace("Seed 002", "Seed two"))
    assert (await source.load(first)).skills[2].description == "Seed two."


async def test_content_given_with_an_artifact_is_read_and_is_no_part_of_the_definition(tmp_path: Path) -> None:
    def with_content(content: str) -> str:
        artifact = f"artifacts: [{{id: rule-37.md, name: Rule 37, content: {content}}}]"
        return f"skills:\n  - id: one\n    description: x\n    {artifact}\n"

    source = pack(tmp_path, with_content("short"))
    first = await source.load()
    assert first.diagnostics == ()
    assert (first.skills[0].artifacts[0].media_type, first.skills[0].artifacts[0].size) == ("text/markdown", 5)
    pack(tmp_path, with_content("other"))
    again = await source.load(first)
    assert again.skills == first.skills
    assert await source.read(again.skills[0], "rule-37.md") == b"other"


async def test_the_content_of_a_skill_kept_from_before_is_still_read(tmp_path: Path) -> None:
    text = "skills:\n  - id: one\n    description: x\n    artifacts: [{id: a.md, content: here}]\n"
    source = pack(tmp_path, text)
    first = await source.load()
    pack(tmp_path, text.replace("description: x", "description: ''"))
    broken = await source.load(first)
    assert ids(broken) == []
    assert [finding.skill for finding in broken.diagnostics] == ["one"]
    assert await source.read(first.skills[0], "a.md") == b"here"


async def test_an_artifact_without_content_is_not_found(tmp_path: Path) -> None:
    text = "skills:\n  - id: one\n    description: x\n    artifacts: [{id: a.md}]\n"
    source = pack(tmp_path, text)
    with pytest.raises(ArtifactNotFound, match="without content"):
        await source.read((await source.load()).skills[0], "a.md")


async def test_another_pack_at_the_same_place_reads_the_file_itself(tmp_path: Path) -> None:
    text = "skills:\n  - id: one\n    description: x\n    artifacts: [{id: a.md, content: here}]\n"
    first: Loaded = await pack(tmp_path, text).load()
    again = Pack(tmp_path / "pack.yaml")
    loaded = await again.load(first)
    assert await again.read(loaded.skills[0], "a.md") == b"here"


@pytest.mark.parametrize("path", ["", "nul\0byte", "x" * 5000, "~no-such-user-anywhere/pack.yaml", "\udcff.yaml"])
async def test_a_path_that_cannot_be_is_one_clear_error(path: str) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        await Pack(path).load()
    assert "\n" not in str(caught.value)
    assert str(caught.value).encode()


def test_the_file_is_what_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = Pack("pack.yaml")
    assert isinstance(source, Watched)
    assert source.watched == (tmp_path / "pack.yaml",)


async def test_content_is_read_also_while_nobody_has_taken_the_next_answer(tmp_path: Path) -> None:
    text = "skills:\n  - id: one\n    description: x\n    artifacts: [{id: a.md, content: here}]\n"
    source = pack(tmp_path, text)
    first = await source.load()
    pack(tmp_path, text.replace("description: x", "description: y"))
    await source.load(first)
    assert await source.read(first.skills[0], "a.md") == b"here"


async def test_an_answer_whose_content_is_held_no_longer_is_made_anew(tmp_path: Path) -> None:
    text = "skills:\n  - id: one\n    description: x\n    artifacts: [{id: a.md, content: here}]\n"
    source = pack(tmp_path, text)
    first = await source.load()
    for other in ("y", "z"):
        pack(tmp_path, text.replace("description: x", f"description: {other}"))
        await source.load(first)
    pack(tmp_path, text)
    again = await source.load(first)
    assert await source.read(again.skills[0], "a.md") == b"here"
