import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.cli.failure import Mistake
from skillweave.cli.init import repaired, require_name
from skillweave.formats.identity import id_of
from skillweave.skill import is_skill_id


@pytest.mark.parametrize("name", ["a", "tea", "invoice-checking", "a1-2b", "x" * 64])
def test_a_good_name_is_taken(name: str) -> None:
    assert require_name(name) == name


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("My_Skill", "my-skill"),
        ("Code Review", "code-review"),
        ("--a--b--", "a-b"),
        ("café au lait", "cafe-au-lait"),
        ("", "my-skill"),
        ("x" * 65, "x" * 64),
        ("日本", "skill-"),
        ("../up", "up --in .."),
        ("team/skills/tea", "tea --in team/skills"),
        ("a\nb", "a-b"),
        (".", "my-skill"),
    ],
)
def test_a_bad_name_is_refused_with_the_name_that_was_meant(name: str, better: str) -> None:
    with pytest.raises(Mistake) as raised:
        require_name(name)
    assert better in str(raised.value)


@given(st.text(max_size=120))
def test_whatever_the_name_the_repaired_one_is_taken(name: str) -> None:
    better = repaired(name)
    assert require_name(better) == better
    assert is_skill_id(better)
    assert id_of(better) == better
