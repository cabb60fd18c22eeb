from pathlib import Path
from typing import Any

from skillweave.cli.options import Loading
from skillweave.cli.output.notes import Tally, loading_notes, tally_of

PACK = """
skills:
  - id: tea
    name: Tea
    description: Makes tea.
  - id: coffee
    name: Coffee
  - 5
"""


def tally(*places: Path) -> Tally:
    return tally_of(Loading([str(place) for place in places]).snapshot())


def test_shadowed_skills_count_as_loaded(tmp_path: Path, write: Any) -> None:
    write(tmp_path / "one", "tea", "Makes tea.")
    write(tmp_path / "two", "tea", "Makes other tea.")
    assert tally(tmp_path / "one", tmp_path / "two") == Tally(loaded=2, skipped=0, repaired=0)


def test_a_file_with_several_findings_is_repaired_once(tmp_path: Path, write: Any) -> None:
    path = write(tmp_path, "tea", "Makes tea.", "allowed-tools: [Read]")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert tally(tmp_path) == Tally(loaded=1, skipped=0, repaired=1)


def test_a_mere_note_is_no_repair(tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tea", "Makes tea.", body="Run !`date` first.")
    assert tally(tmp_path) == Tally(loaded=1, skipped=0, repaired=0)


def test_a_misnamed_file_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "tea").mkdir()
    (tmp_path / "tea" / "Skill.md").write_text("---\nname: tea\ndescription: Tea.\n---\n", encoding="utf-8")
    assert tally(tmp_path) == Tally(loaded=0, skipped=1, repaired=0)


def test_the_entries_of_a_pack_count_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    assert tally(tmp_path / "pack.yaml") == Tally(loaded=1, skipped=2, repaired=0)


def test_an_error_in_a_value_does_not_skip_the_skill(tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tea", "Makes tea.", "triggers: ['']")
    snapshot = Loading([str(tmp_path)]).snapshot()
    assert "empty-item" in [found.code for found in snapshot.diagnostics]
    assert tally_of(snapshot) == Tally(loaded=1, skipped=0, repaired=0)


def test_a_user_hears_of_an_empty_folder_and_of_skipped_files(tmp_path: Path) -> None:
    (empty := tmp_path / "empty").mkdir()
    assert "holds no skill" in loading_notes(Loading([str(empty)]).snapshot())[0]
    for name in ("a", "b"):
        (tmp_path / "bad" / name).mkdir(parents=True)
        (tmp_path / "bad" / name / "SKILL.md").write_text("x", encoding="utf-8")
    notes = loading_notes(Loading([str(tmp_path / "bad")]).snapshot())
    assert "2 skills are left out because of errors" in notes[-1]
