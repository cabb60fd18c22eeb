from hypothesis import given
from hypothesis import strategies as st

from skillweave.disclose.fit import LeftOut, Passage, Pricing, Shown, Want, fit
from skillweave.disclose.render import Inlined
from skillweave.skills import ArtifactRef
from skillweave.tools import SkillTools
from skillweave.turns import Rung
from skillweave_testing import WordCounter
from tests.depth import tried
from tests.skills import make_skill

PRICING = Pricing(WordCounter())


def want(skill_id: str, words: int, *, artifact: int = 0, present: Rung | None = None, replaces: bool = False) -> Want:
    ref = ArtifactRef("references/r.md", "r.md", "text/markdown", artifact)
    refs = (ref,) if artifact else ()
    skill = make_skill(skill_id, instructions="word " * words, artifacts=refs)
    inlined = (Inlined(ref, "more " * artifact),) if artifact else ()
    return Want(skill, present=present, replaces=replaces, artifacts=inlined)


def fitted(*groups: list[Want], left: int, per_skill: int = 10_000, shows: frozenset[str] = frozenset()) -> list[Shown]:
    return list(fit(groups, left=left, per_skill=per_skill, pricing=PRICING, catalog_shows=shows))


def test_everything_is_shown_in_full_when_there_is_room() -> None:
    (shown,) = fitted([want("a", 50, artifact=50)], left=1000)
    assert (shown.rung, len(shown.inlined), shown.left_out) == (Rung.FULL, 1, ())


def test_artifacts_go_first_when_it_gets_tight() -> None:
    (shown,) = fitted([want("a", 50, artifact=500)], left=200)
    assert shown.rung is Rung.INSTRUCTIONS
    assert [left_out.what for left_out in shown.left_out] == ["references/r.md"]


def test_a_skill_over_its_own_limit_steps_down_although_there_is_room() -> None:
    (shown,) = fitted([want("a", 50, artifact=500)], left=10_000, per_skill=200)
    assert shown.rung is Rung.INSTRUCTIONS


def test_the_catalog_line_is_the_last_rung() -> None:
    (shown,) = fitted([want("a", 500)], left=50)
    assert shown.rung is Rung.CATALOG and shown.block is not None
    assert shown.block.text.startswith("=== Skill Available: A ===")
    assert shown.left_out[0].what == "instructions" and shown.left_out[0].tokens > 500


def test_a_catalog_that_shows_the_line_makes_the_block_unnecessary() -> None:
    (shown,) = fitted([want("a", 500)], left=50, shows=frozenset({"a"}))
    assert (shown.rung, shown.block) == (Rung.CATALOG, None)


def test_nothing_is_shown_when_not_even_the_line_fits() -> None:
    (shown,) = fitted([want("a", 500)], left=3)
    assert (shown.rung, shown.block) == (None, None)
    assert shown.left_out[0].what == "instructions"


def test_the_lower_ranked_group_steps_down_first() -> None:
    first, second = fitted([want("a", 100)], [want("b", 100)], left=150)
    assert (first.rung, second.rung) == (Rung.FULL, Rung.CATALOG)


def test_a_group_steps_down_together() -> None:
    shown = fitted([want("a", 10, artifact=10), want("b", 10, artifact=500)], left=150)
    assert [piece.rung for piece in shown] == [Rung.FULL, Rung.INSTRUCTIONS]
    shown = fitted([want("a", 10), want("b", 500)], left=150)
    assert [piece.rung for piece in shown] == [Rung.CATALOG, Rung.CATALOG]


def test_what_is_present_costs_nothing_and_is_not_shown_again() -> None:
    (shown,) = fitted([want("a", 500, present=Rung.INSTRUCTIONS)], left=10)
    assert (shown.block, shown.left_out) == (None, ())


def test_a_higher_rung_than_the_present_one_is_shown_when_it_fits() -> None:
    (shown,) = fitted([want("a", 50, present=Rung.CATALOG, replaces=True)], left=1000)
    assert shown.block is not None
    assert "This replaces the earlier text of this skill." in shown.block.text


def passage(words: int) -> Passage:
    return Passage("context:w:well", "w", "fact " * words, "d")


def test_entity_context_stands_inside_the_block_of_a_new_skill() -> None:
    wanted = want("a", 10)
    (shown,) = fitted([Want(wanted.skill, passages=(passage(5),))], left=1000)
    assert shown.block is not None and "## Entity Context\nfact fact" in shown.block.text
    assert shown.context is None


def test_entity_context_of_a_present_skill_stands_apart() -> None:
    skill = want("a", 10).skill
    (shown,) = fitted([Want(skill, present=Rung.FULL, passages=(passage(5),))], left=1000)
    assert shown.block is None
    assert shown.context is not None and shown.context.text.startswith("=== Entity Context: w ===")


def test_entity_context_that_does_not_fit_is_listed() -> None:
    skill = want("a", 10).skill
    (shown,) = fitted([Want(skill, passages=(passage(500),))], left=100)
    assert shown.left_out == (LeftOut("context:w:well", 503),)


wants = st.builds(
    lambda n, words, artifact, present, replaces, facts: Want(
        (plain := want(f"skill-{n}", words, artifact=artifact)).skill,
        present=present,
        replaces=replaces,
        artifacts=plain.artifacts,
        passages=(Passage(f"context:w:{n}", "w", "fact " * facts, "d"),) if facts else (),
    ),
    st.integers(0, 10**6),
    st.integers(0, 300),
    st.integers(0, 300),
    st.sampled_from([None, Rung.CATALOG, Rung.INSTRUCTIONS, Rung.FULL]),
    st.booleans(),
    st.integers(0, 40),
)


@tried(33)
@given(st.lists(st.lists(wants, min_size=1, max_size=3), max_size=4), st.integers(-10, 1500), st.integers(0, 600))
def test_what_is_added_never_exceeds_what_is_left_and_nothing_vanishes(
    groups: list[list[Want]], left: int, per_skill: int
) -> None:
    shown = fit(groups, left=left, per_skill=per_skill, pricing=PRICING)
    assert sum(piece.added for piece in shown) <= max(0, left)
    assert all(piece.block is None or piece.within or piece.block.tokens <= per_skill for piece in shown)
    assert [piece.want for piece in shown] == [wanted for group in groups for wanted in group]
    for piece in shown:
        in_context = piece.rung is not None and piece.rung >= Rung.INSTRUCTIONS
        assert in_context or any(left_out.what == "instructions" for left_out in piece.left_out)
        placed = {p.key for p in (*piece.within, *piece.apart)} | {left_out.what for left_out in piece.left_out}
        assert {p.key for p in piece.want.passages} <= placed


def outlined(*groups: list[Want], left: int) -> list[Shown]:
    return list(fit(groups, left=left, per_skill=10_000, pricing=PRICING, tools=SkillTools.OFFERED))


def long(skill_id: str, *, present: Rung | None = None, highest: Rung = Rung.FULL) -> Want:
    body = "".join(f"## Part {n}\n\n" + "Words. " * 400 + "\n\n" for n in range(5))
    return Want(make_skill(skill_id, instructions=body), present=present, highest=highest)


def test_long_instructions_step_down_to_an_outline() -> None:
    (shown,) = outlined([long("a")], left=500)
    assert shown.rung is Rung.OUTLINE
    assert [left_out.what for left_out in shown.left_out] == ["instructions"]


def test_without_tools_the_outline_is_skipped() -> None:
    (shown,) = fitted([long("a")], left=500)
    assert shown.rung is Rung.CATALOG


def test_a_short_companion_of_an_outlined_skill_keeps_its_instructions() -> None:
    first, second = outlined([long("a"), want("b", 20)], left=500)
    assert (first.rung, second.rung) == (Rung.OUTLINE, Rung.FULL)


def test_an_outline_that_is_there_is_not_shown_again() -> None:
    (shown,) = outlined([long("a", present=Rung.OUTLINE)], left=500)
    assert (shown.rung, shown.block) == (Rung.OUTLINE, None)


def test_a_skill_of_which_only_sections_are_wanted_is_not_shown_whole() -> None:
    (shown,) = outlined([long("a", highest=Rung.OUTLINE)], left=9000)
    assert (shown.rung, shown.left_out) == (Rung.OUTLINE, ())
