"""`skillweave check` compares what was added with the lock."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def added(cli: Any, tmp_path: Path) -> Path:
    source = tmp_path / "theirs" / "greet"
    source.mkdir(parents=True)
    (source / "SKILL.md").write_text("---\nname: greet\ndescription: Greets people.\n---\nSay bonjour.\n")
    assert cli("add", str(source), "--in", str(tmp_path / "skills")).code == 0
    return tmp_path / "skills"


def test_what_is_as_it_was_added_is_no_finding(cli: Any, added: Path) -> None:
    done = cli("check", str(added), "--locked")
    assert (done.code, "differs-from-lock" in done.out) == (0, False)


def test_an_edited_file_of_an_added_skill_is_named_and_with_locked_an_error(cli: Any, added: Path) -> None:
    with (added / "greet" / "SKILL.md").open("a") as file:
        file.write("More.\n")
    done = cli("check", str(added))
    assert done.code == 0 and "'greet' differs from skillweave.lock: SKILL.md [differs-from-lock]" in done.out
    assert cli("check", str(added), "--locked").code == 1


def test_with_locked_a_skill_that_is_not_in_the_lock_is_an_error(cli: Any, added: Path) -> None:
    (added / "mine").mkdir()
    (added / "mine" / "SKILL.md").write_text("---\nname: mine\ndescription: Mine.\n---\nSay hi.\n")
    assert cli("check", str(added)).code == 0
    done = cli("check", str(added), "--locked")
    assert done.code == 1 and "'mine' is not in skillweave.lock" in done.out


def test_a_lock_that_is_not_ours_stops_the_check(cli: Any, added: Path) -> None:
    (added / "skillweave.lock").write_text("[]")
    done = cli("check", str(added))
    assert done.code == 1 and "skillweave.lock cannot be read" in done.err
