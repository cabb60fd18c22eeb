from skillweave.cli.demo import SKILL, example_skills


def test_the_example_skills_are_found() -> None:
    assert (example_skills() / SKILL / "SKILL.md").is_file()
