import re
from pathlib import Path

import pytest

from skillweave import SkillweaveError
from skillweave.extensions import Extensions
from skillweave.sources import SOURCES, source_of
from skillweave.stores.named import LEDGERS, store_of


def test_built_in_ones_are_found_by_their_names() -> None:
    assert {"memory", "sqlite"} <= set(LEDGERS.names())
    assert {"folder", "pack"} <= set(SOURCES.names())
    assert LEDGERS.load("memory")("").keeps_events is False


def test_an_unknown_name_is_answered_with_the_known_ones_and_what_to_do() -> None:
    ledgers, sources = (re.escape(", ".join(kind.names())) for kind in (LEDGERS, SOURCES))
    ways = f"use one of {ledgers}, or install the package that brings it$"
    with pytest.raises(SkillweaveError, match=rf"no ledger for nowhere:// is installed; {ways}"):
        store_of("nowhere://x")
    with pytest.raises(SkillweaveError, match=rf"no source for ftp:// is installed; use one of {sources}, install"):
        source_of("ftp://x")


def test_built_in_ones_need_no_installed_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    assert store_of("memory://").keeps_events is False
    packs: Extensions[object] = Extensions("packs", "pack", instead="name a pack file")
    with pytest.raises(SkillweaveError, match=r"^no pack 'x' is installed; install .* brings it, or name a pack file$"):
        packs.load("x")


def test_what_a_distribution_of_ours_brings_is_said_with_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(
        SkillweaveError, match=r"the ledger for redis:// comes with skillweave-stores, which is not installed; install"
    ):
        store_of("redis://localhost")


def test_no_package_can_shadow_what_is_built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    about = tmp_path / "sly-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sly\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[skillweave.ledgers]\nmemory = json:loads\n", encoding="utf-8")
    assert store_of("memory://").keeps_events is False


def test_names_of_any_length_make_a_short_message() -> None:
    with pytest.raises(SkillweaveError) as refusal:
        store_of(f"{'x' * 5000}://")
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("url", ["folder://skills", "pack://skills.yaml"])
async def test_a_built_in_source_can_be_named_by_its_scheme(url: str) -> None:
    assert source_of(url).name == "skills"


def test_a_package_that_is_installed_meanwhile_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    packs: Extensions[object] = Extensions("packs", "pack")
    before = packs.names()
    assert packs.names() == before
    about = tmp_path / "late-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[skillweave.packs]\nlate = json:loads\n", encoding="utf-8")
    assert packs.names() == tuple(sorted({*before, "late"}))


def test_what_is_built_in_and_fails_is_told_as_a_guests_failure() -> None:
    broken: Extensions[object] = Extensions("broken", "thing", built_in={"mine": "skillweave.not_there:Thing"})
    with pytest.raises(SkillweaveError, match=r"thing 'mine' cannot be loaded .* reinstall the package skillweave"):
        broken.load("mine")
