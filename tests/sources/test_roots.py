from pathlib import Path

from skillweave.sources.roots import ROOTS, Scope, existing_roots


def test_the_projects_skills_come_before_the_users(tmp_path: Path) -> None:
    for folder in ("home/.agents/skills", "home/.codex/skills", "project/.claude/skills"):
        (tmp_path / folder).mkdir(parents=True)
    roots = existing_roots(tmp_path / "project", tmp_path / "home")
    assert [path.relative_to(tmp_path).as_posix() for _, path in roots] == [
        "project/.claude/skills",
        "home/.agents/skills",
        "home/.codex/skills",
    ]


def test_a_folder_is_listed_once_when_the_project_is_the_home_folder(tmp_path: Path) -> None:
    (tmp_path / ".agents/skills").mkdir(parents=True)
    ((root, _),) = existing_roots(tmp_path, tmp_path)
    assert root.scope is Scope.PROJECT


def test_where_nothing_is_kept_there_are_no_roots(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "skills").write_text("a file")
    assert existing_roots(tmp_path, tmp_path) == ()


def test_the_open_convention_is_the_first_row_of_each_scope() -> None:
    for scope in Scope:
        assert next(root for root in ROOTS if root.scope is scope).path == ".agents/skills"
