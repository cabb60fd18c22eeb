from skillweave import Diagnostic, Severity, Skill
from skillweave.registry import Loaded
from skillweave.registry.last_good import last_good_skills
from skillweave.skills import Origin
from skillweave.values import Location


def skill(skill_id: str, place: str | None = None) -> Skill:
    return Skill(skill_id, skill_id, "x", origin=Origin("s", place or f"root/{skill_id}/SKILL.md"))


def finding(path: str, skill_id: str | None = None, severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic("broken", severity, "broken", "mend it", skill_id, Location(path, 3))


def kept(before: list[Skill], now: list[Skill], *findings: Diagnostic) -> list[str]:
    skills, told = last_good_skills(before, Loaded(tuple(now), findings))
    assert len(told) == len(skills) - len(now)
    return [one.id for one in skills]


def test_a_skill_whose_file_is_broken_stays_in_its_place() -> None:
    before = [skill("a"), skill("b"), skill("c")]
    assert kept(before, [skill("a"), skill("c")], finding("root/b/SKILL.md")) == ["a", "b", "c"]
    assert kept(before, [skill("b"), skill("c")], finding("root/a/SKILL.md")) == ["a", "b", "c"]
    assert kept(before, [], *(finding(f"root/{name}/SKILL.md") for name in "abc")) == ["a", "b", "c"]


def test_new_skills_stay_where_they_are() -> None:
    before = [skill("b"), skill("d")]
    now = [skill("a"), skill("c"), skill("d"), skill("e")]
    assert kept(before, now, finding("root/b/SKILL.md")) == ["b", "a", "c", "d", "e"]


def test_a_deleted_skill_is_gone() -> None:
    assert kept([skill("a"), skill("b")], [skill("a")]) == ["a"]
    assert kept([skill("a"), skill("b")], [skill("a")], finding("root/c/SKILL.md")) == ["a"]


def test_a_warning_keeps_nothing() -> None:
    assert kept([skill("a")], [], finding("root/a/SKILL.md", severity=Severity.WARNING)) == []


def test_a_file_that_gives_another_id_now_replaces_the_old_one() -> None:
    now = [skill("new", "root/a/SKILL.md")]
    assert kept([skill("a")], now, finding("root/a/SKILL.md", "new")) == ["new"]


def test_an_unreadable_folder_keeps_all_skills_below_it() -> None:
    before = [skill("a", "root/x/a/SKILL.md"), skill("b", "root/x/y/b/SKILL.md"), skill("c", "root/xy/c/SKILL.md")]
    assert kept(before, [], finding("root/x")) == ["a", "b"]


def test_in_a_pack_the_named_skill_is_kept_and_another_removed_one_is_not() -> None:
    before = [skill("a", "pack.yaml"), skill("b", "pack.yaml"), skill("c", "pack.yaml")]
    assert kept(before, [skill("c", "pack.yaml")], finding("pack.yaml", "a")) == ["a", "c"]


def test_a_pack_that_cannot_be_read_at_all_keeps_everything() -> None:
    before = [skill("a", "pack.yaml"), skill("b", "pack.yaml")]
    assert kept(before, [], finding("pack.yaml")) == ["a", "b"]


def test_a_skill_without_an_origin_is_never_kept() -> None:
    assert kept([Skill("a", "A", "x")], [], finding("root/a/SKILL.md"), finding("")) == []


def test_a_kept_skill_is_a_warning_with_its_place() -> None:
    _, (told,) = last_good_skills([skill("a")], Loaded((), (finding("root/a/SKILL.md"),)))
    assert (told.code, told.severity, told.skill) == ("kept-last-good", Severity.WARNING, "a")
    assert told.location == Location("root/a/SKILL.md")
