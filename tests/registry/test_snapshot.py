from types import MappingProxyType

import pytest

from skillweave import Skill, SkillNotFound, Status
from skillweave.registry import Artifact, Snapshot
from skillweave.skills import ArtifactRef


def snapshot() -> Snapshot:
    skills = [Skill("spacing", "S", "x"), Skill("draft", "D", "x", status=Status.DRAFT)]
    return Snapshot(MappingProxyType({skill.id: skill for skill in skills}), 3, (Skill("draft", "Old", "x"),))


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(SkillNotFound, match="did you mean 'spacing'"):
        snapshot()["spacng"]


def test_get_and_in_do_not_raise_for_an_unknown_id() -> None:
    assert snapshot().get("unknown") is None
    assert snapshot().get("unknown", "default") == "default"
    assert "unknown" not in snapshot()
    assert "spacing" in snapshot()


def test_loaded_counts_shadowed_skills_too() -> None:
    assert (len(snapshot()), snapshot().loaded) == (2, 3)


def test_only_selectable_skills_are_active() -> None:
    assert [skill.id for skill in snapshot().active()] == ["spacing"]


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"gr\xc3\xb6\xc3\x9fe", "größe"), (b"\xef\xbb\xbfx", "x"), (b"", ""), (b"\xff", None), (b"a\0b", None)],
)
def test_an_artifacts_text_is_its_utf_8_or_nothing(data: bytes, text: str | None) -> None:
    assert Artifact(ArtifactRef("a", "a", "text/plain", len(data)), data).text == text
