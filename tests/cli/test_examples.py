from skillweave.cli.examples import example_skills
from skillweave.cli.story import SKILL


def test_the_example_skills_are_found() -> None:
    assert (example_skills() / SKILL / "SKILL.md").is_file()
