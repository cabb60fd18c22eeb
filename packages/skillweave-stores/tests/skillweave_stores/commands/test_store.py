"""`skillweave store versions`, `rollback`, `unpublish` and `migrate`, on a SQLite file and on PostgreSQL."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest


@pytest.fixture
def empty(database_url: str) -> str:
    """The URL of a store in which nothing is yet, of each kind."""
    return database_url


@pytest.fixture
def published(cli: Any, tmp_path: Path, empty: str, write: Callable[..., Path]) -> str:
    """A store with three versions of `tea`, stated as 1.0, 1.1 and 1.1 again; the last one is in use."""
    for version, body in (("1.0", "First."), ("1.1", "Second."), ("1.1", "Third.")):
        write(tmp_path, "tea", "Makes tea.", f"metadata: {{version: '{version}'}}", body)
        assert cli("store", "put", tmp_path / "tea", "--store", empty).code == 0
    return empty


def listed(cli: Any, store: str) -> list[tuple[str, str, bool]]:
    """Hash, version and whether it is in use, as `versions` lists them."""
    rows = cli("store", "versions", "tea", "--store", store, "--json").data["versions"]
    return [(one["content_hash"], one["version"], one["in_use"]) for one in rows]


def used(cli: Any, store: str) -> int:
    """The place of the version in use among those of `versions`; -1 where none is."""
    return next((place for place, one in enumerate(listed(cli, store)) if one[2]), -1)


def test_versions_are_listed_the_last_one_first(cli: Any, published: str) -> None:
    assert [(version, in_use) for _, version, in_use in listed(cli, published)] == [
        ("1.1", True),
        ("1.1", False),
        ("1.0", False),
    ]
    lines = cli("store", "versions", "tea", "--store", published).out.splitlines()
    assert len(lines) == 3
    assert lines[0].endswith(" UTC  version 1.1  in use")
    assert lines[2].startswith(listed(cli, published)[2][0][:12])


def test_an_unknown_skill_is_answered_with_a_likely_one(cli: Any, published: str) -> None:
    for words in (("store", "versions", "tee"), ("store", "rollback", "tee"), ("store", "unpublish", "tee")):
        done = cli(*words, "--store", published)
        assert (done.code, done.out) == (1, "")
        assert "did you mean 'tea'?" in done.err


def test_a_skill_like_none_of_the_stored_ones_is_answered_with_the_store_and_how_to_list_it(
    cli: Any, published: str
) -> None:
    place = published.rpartition("/")[2]
    for words in (
        ("store", "versions", "release"),
        ("store", "rollback", "release"),
        ("store", "unpublish", "release"),
    ):
        done = cli(*words, "--store", published)
        assert done.code == 1
        assert place in done.err
        assert "there is 1 skill; list it with `skillweave show --skills URL`" in done.err


def test_a_tenant_without_skills_is_answered_with_how_to_store_some(cli: Any, published: str) -> None:
    for words in (("store", "versions", "tea"), ("store", "unpublish", "tea")):
        done = cli(*words, "--store", published, "--tenant", "nobody")
        assert done.code == 1
        assert (
            "there is none; store some with `skillweave store put FOLDER --store URL`, or name another tenant"
            in done.err
        )


def test_without_a_version_it_goes_back_one_by_one_and_then_says_that_there_is_none(cli: Any, published: str) -> None:
    hashes = [one for one, _, _ in listed(cli, published)]
    done = cli("store", "rollback", "tea", "--store", published, "--json")
    assert (done.code, done.data["content_hash"], done.data["before"]) == (0, hashes[1], hashes[0])
    assert cli("store", "rollback", "tea", "--store", published).out.split()[:5] == [
        "in",
        "use",
        "tea",
        hashes[2][:12],
        "(version",
    ]
    done = cli("store", "rollback", "tea", "--store", published)
    assert (done.code, done.out) == (1, "")
    assert "no version of 'tea' was published before the one in use; name one of " in done.err
    assert hashes[0][:12] in done.err
    assert used(cli, published) == 2


def test_a_version_is_named_by_the_beginning_of_its_hash(cli: Any, published: str) -> None:
    wanted = listed(cli, published)[2][0]
    assert cli("store", "rollback", "tea", wanted[:10], "--store", published).code == 0
    assert used(cli, published) == 2
    assert cli("store", "rollback", "tea", wanted, "--store", published).out.startswith("unchanged")


def test_a_version_is_named_by_what_the_skill_states_where_only_one_does(cli: Any, published: str) -> None:
    assert cli("store", "rollback", "tea", "1.0", "--store", published, "--json").data["version"] == "1.0"
    assert used(cli, published) == 2
    done = cli("store", "rollback", "tea", "1.1", "--store", published)
    assert (done.code, done.out) == (1, "")
    assert "'1.1' means several versions of 'tea'; name one of " in done.err
    assert all(one[:12] in done.err for one, version, _ in listed(cli, published) if version == "1.1")
    assert used(cli, published) == 2


@pytest.mark.parametrize("version", ["9.9", "zz", " ", "f" * 64])
def test_a_version_that_there_is_not_is_answered_with_those_that_there_are(
    cli: Any, published: str, version: str
) -> None:
    done = cli("store", "rollback", "tea", version, "--store", published)
    assert (done.code, done.out) == (1, "")
    assert f"'tea' has no version {version!r}; name one of " in done.err
    assert used(cli, published) == 0


def test_an_unpublished_skill_is_not_used_and_comes_back_with_a_rollback(cli: Any, published: str) -> None:
    done = cli("store", "unpublish", "tea", "--store", published)
    assert (done.code, "skillweave store rollback tea" in done.out) == (0, True)
    assert used(cli, published) == -1
    assert cli("store", "unpublish", "tea", "--store", published).code == 1
    done = cli("store", "rollback", "tea", "--store", published)
    assert (done.code, "before it none was in use" in " ".join(done.out.split())) == (0, True)
    assert used(cli, published) == 0


def test_the_skills_of_a_tenant_are_unknown_to_the_others(cli: Any, published: str) -> None:
    assert cli("store", "versions", "tea", "--store", published, "--tenant", "acme").code == 1
    assert cli("store", "versions", "tea", "--store", published, "--tenant", "default").code == 0


@pytest.mark.parametrize(
    "words",
    [("versions", "tea"), ("rollback", "tea"), ("unpublish", "tea"), ("migrate", "--check")],
    ids=lambda w: w[0],
)
def test_looking_at_a_file_that_is_not_there_makes_none(cli: Any, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = cli("store", *words, "--store", f"sqlite:///{tmp_path / 'no' / 'skills.db'}")
    assert (done.code, done.out) == (1, "")
    assert f"there is no store '{tmp_path / 'no' / 'skills.db'}'" in done.err
    assert not (tmp_path / "no").exists()


def test_a_new_database_is_migrated_once(cli: Any, empty: str) -> None:
    done = cli("store", "migrate", "--store", empty, "--json")
    assert (done.code, done.data["before"]) == (0, None)
    assert done.data["revision"] == done.data["newest"]
    assert cli("store", "migrate", "--store", empty, "--check", "--json").data["revision"] == done.data["newest"]
    said = cli("store", "migrate", "--store", empty)
    assert (said.code, said.out.startswith("up to date")) == (0, True)


def test_check_says_that_there_is_something_to_do_and_does_nothing(cli: Any, postgres_url: str) -> None:
    for _ in range(2):
        done = cli("store", "migrate", "--store", postgres_url, "--check", "--json")
        assert (done.code, done.data["revision"]) == (1, None)
    assert "no tables yet" in cli("store", "migrate", "--store", postgres_url, "--check").out


@pytest.mark.parametrize("more", [(), ("--check",)])
def test_tables_of_a_newer_version_are_no_work_to_be_done_but_refused(
    cli: Any, tmp_path: Path, more: tuple[str, ...]
) -> None:
    path = tmp_path / "skills.db"
    assert cli("store", "migrate", "--store", f"sqlite:///{path}").code == 0
    with closing(connect(path)) as file, file:
        file.execute("UPDATE alembic_version SET version_num = '9999'")
    done = cli("store", "migrate", "--store", f"sqlite:///{path}", *more)
    assert (done.code, done.out) == (3, "")
    assert "by a newer skillweave (revision 9999, this version knows" in done.err
    assert str(path) in done.err


def test_without_a_database_nothing_is_migrated(cli: Any) -> None:
    done = cli("store", "migrate")
    assert (done.code, done.out) == (1, "")
    assert "no store of skills is named" in done.err


def test_the_shell_is_offered_the_stored_skills_and_their_versions(cli: Any, published: str) -> None:
    from types import SimpleNamespace

    from skillweave_stores.commands import options as completion

    context: Any = SimpleNamespace(params={"store": published, "skill": "tea"})
    assert completion.stored_skills(context) == [("tea", "")]
    assert [one for one, _ in completion.stored_versions(context)] == [one[:12] for one, _, _ in listed(cli, published)]
