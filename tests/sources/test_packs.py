import sys
from pathlib import Path
from typing import Any

import pytest

from skillweave import SkillweaveError
from skillweave.sources import packs_of
from skillweave.sources.named import pack_names, pack_of

MODULE = """
from pathlib import Path
from skillweave.sources.code import InCode

def source():
    return InCode({"id": "guest-skill", "description": "x"}, name="guest")

def failing():
    return {}["HOME_OF_SKILLS"]

def path():
    return Path(__file__).with_name("guest.yaml")
"""
ENTRY_POINTS = """
[skillweave.packs]
guest = guest_module:source
file = guest_module:path
lost = no_such_module:pack
gone = guest_module:nothing
failing = guest_module:failing
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of somebody else, as an installer leaves it."""
    (tmp_path / "guest_module.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "guest.yaml").write_text("skills:\n  - {id: in-file, description: x}\n", encoding="utf-8")
    about = tmp_path / "guest_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guest-package\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "guest_module", raising=False)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("name", "skill"), [("guest", "guest-skill"), ("file", "in-file")])
async def test_a_guests_pack_is_found_like_a_built_in_one(name: str, skill: str) -> None:
    loaded = await pack_of(name).load(None)
    assert [found.id for found in loaded.skills] == [skill]
    assert {"coding", name} <= set(pack_names())


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["lost", "gone"])
def test_a_pack_whose_package_is_broken_is_one_line(name: str) -> None:
    with pytest.raises(SkillweaveError, match=rf"pack '{name}' cannot be loaded .*reinstall the package guest-package"):
        pack_of(name)


@pytest.mark.usefixtures("installed")
def test_a_pack_named_twice_is_taken_once() -> None:
    assert len(packs_of(["guest", "guest"])) == 1


@pytest.mark.parametrize("name", ["codin", "", "../coding", "skills/", "x" * 5000])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(SkillweaveError, match=r"is installed; choose from .*coding") as refusal:
        pack_of(name)
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("names", ["coding", "c"])
def test_one_text_is_no_list_of_packs(names: Any) -> None:
    with pytest.raises(
        SkillweaveError, match=rf"packs=.* is the text '{names}'; give a list of texts, such as \['coding'\]"
    ):
        packs_of(names)


@pytest.mark.usefixtures("installed")
def test_a_pack_whose_code_fails_is_one_line_with_its_error() -> None:
    with pytest.raises(SkillweaveError, match=r"pack 'failing' cannot be loaded \(KeyError: 'HOME_OF_SKILLS'\)"):
        pack_of("failing")
