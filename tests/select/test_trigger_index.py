import pytest

from skillweave import Severity, Skill, Triggers
from skillweave.select import trigger_limits
from skillweave.select.index import Kind, compile_triggers, spellings
from skillweave.select.trigger_limits import LARGEST_PATTERNS, MOST_PATTERNS, MOST_PHRASES
from skillweave.select.triggers import find_triggers
from skillweave.skills import Origin
from skillweave.text.search import MatchMode, fold_message
from tests.asking import skill


def found(text: str, *skills: Skill, mode: MatchMode = MatchMode.WORD) -> list[int]:
    index, _ = compile_triggers(skills, mode)
    return [match.position for match in find_triggers(index, fold_message(text)).matches if match.hits]


def test_a_pattern_goes_before_keywords_and_these_before_an_id() -> None:
    skills = (skill("zip-files"), skill("b", "archive"), skill("c", patterns=["arch[a-z]+"]))
    assert found("archive my zip files", *skills) == [2, 1, 0]


def test_verbs_count_as_keywords() -> None:
    assert found("pack and ship", skill("x", verbs=["pack"]), skill("y", "pack", "ship")) == [1, 0]


def test_more_distinct_hits_go_first() -> None:
    assert found("red green blue", skill("x", "green"), skill("y", "red", "blue")) == [1, 0]


def test_the_same_word_twice_is_one_hit() -> None:
    assert found("red red red, blue green", skill("x", "red"), skill("y", "blue", "green")) == [1, 0]


def test_of_equally_many_the_longest_hit_goes_first() -> None:
    assert found("the lease line", skill("x", "lease"), skill("y", "lease line")) == [1, 0]


def test_the_longest_hit_is_measured_in_folded_characters() -> None:
    assert found("Straße, planeta", skill("x", "planeta"), skill("y", "straße")) == [0, 1]
    assert found("Straßen, planeta", skill("x", "planeta"), skill("y", "straßen")) == [1, 0]


def test_of_equally_long_hits_the_one_that_fewest_skills_share_goes_first() -> None:
    assert found("java rust", skill("x", "java"), skill("y", "java"), skill("z", "rust")) == [2, 0, 1]


def test_the_rest_is_in_registry_order() -> None:
    assert found("go", skill("z", "go"), skill("a", "go")) == [0, 1]


@pytest.mark.parametrize("text", ["use my-skill now", "my_skill", "My Skill?"])
def test_an_id_is_a_trigger_in_its_spellings(text: str) -> None:
    assert found(text, skill("my-skill")) == [0]


def test_the_spelling_that_the_author_wrote_is_a_trigger_too() -> None:
    assert found("Start DATA.Prep Tool", skill("data-prep-tool", spelling="Data.Prep tool")) == [0]


def test_a_spelling_of_an_unspaced_script_is_found_inside_a_sentence() -> None:
    assert found("请做数据分析吧", skill("skill-1234567890", spelling="数据分析")) == [0]


def test_all_spellings_of_one_id_together_are_one_hit() -> None:
    index, _ = compile_triggers([skill("my-skill")], MatchMode.WORD)
    (match,) = find_triggers(index, fold_message("my-skill my_skill my skill")).matches
    assert len(match.hits) == 1


def test_spellings_are_folded_and_distinct() -> None:
    assert spellings(skill("My-Skill")) == ("my-skill", "my_skill", "my skill")
    assert spellings(skill("review")) == ("review",)


@pytest.mark.parametrize(
    ("skill_id", "kind"),
    [("code-review", Kind.ID), ("review", Kind.WORD_ID), ("how-to", Kind.WORD_ID), ("a-b-testing", Kind.ID)],
)
def test_an_id_needs_two_words_that_say_something_to_stand_alone(skill_id: str, kind: Kind) -> None:
    index, _ = compile_triggers([skill(skill_id)], MatchMode.WORD)
    (match,) = find_triggers(index, fold_message(skill_id)).matches
    assert match.kind is kind


def test_a_keyword_equal_to_the_id_is_a_keyword() -> None:
    index, _ = compile_triggers([skill("review", "review")], MatchMode.WORD)
    (match,) = find_triggers(index, fold_message("review")).matches
    assert [hit.kind for hit in match.hits] == [Kind.KEYWORD]


def test_substring_mode_leaves_ids_whole_words() -> None:
    skills = (skill("run", "greet"), skill("prune", "xyz"))
    assert found("regreeting the prunes", *skills, mode=MatchMode.SUBSTRING) == [0]


def test_a_phrase_is_found_across_a_line_break_and_with_any_spaces_declared() -> None:
    assert found("the lease\nline", skill("x", " lease   line ")) == [0]


def test_an_empty_keyword_is_refused_and_the_others_still_count() -> None:
    index, diagnostics = compile_triggers([skill("x", " ", "red", never=[""])], MatchMode.WORD)
    assert [match.position for match in find_triggers(index, fold_message("a red  car")).matches] == [0]
    assert [(each.code, each.severity, each.skill) for each in diagnostics] == [
        ("empty-keyword", Severity.ERROR, "x"),
        ("empty-keyword", Severity.ERROR, "x"),
    ]


def test_a_keyword_of_the_length_of_a_text_is_refused() -> None:
    _, diagnostics = compile_triggers([skill("x", "ab " * 16_384 + "c")], MatchMode.WORD)
    assert [each.code for each in diagnostics] == ["long-keyword"]


def test_a_broken_pattern_is_a_diagnostic_with_its_place_and_the_others_still_count() -> None:
    owner = Skill("x", "X", "", origin=Origin("code", "skills/x/SKILL.md"), triggers=skill("x", "red").triggers)
    broken = skill("y", patterns=["(?<=a)b", "blue+"])
    index, diagnostics = compile_triggers([owner, broken], MatchMode.WORD)
    assert [match.position for match in find_triggers(index, fold_message("red blueee")).matches] == [1, 0]
    assert [(each.code, each.severity, each.skill) for each in diagnostics] == [("broken-pattern", Severity.ERROR, "y")]


def _codes(*skills: Skill) -> list[tuple[str | None, str]]:
    return [(one.skill, one.code) for one in compile_triggers(skills, MatchMode.WORD)[1]]


def test_of_more_patterns_than_a_skill_may_have_the_first_count() -> None:
    many = skill("x", patterns=[f"p{n}q" for n in range(MOST_PATTERNS + 5)])
    _, (finding,) = compile_triggers([many], MatchMode.WORD)
    assert (finding.code, finding.severity) == ("too-many-patterns", Severity.ERROR)
    assert "the last 5 of its 105 patterns are left out, because a skill may have 100" in finding.message
    assert found("p99q", many) == [0]
    assert found("p100q", many) == []


def test_patterns_of_a_skill_count_until_they_are_too_large_together() -> None:
    large = skill("x", patterns=[f".{{500}}.*b{n}" for n in range(50)])
    index, (finding,) = compile_triggers([large], MatchMode.WORD)
    assert "those of one skill may compile to 20,000 instructions" in finding.message
    assert 0 < len(index.patterns.compiled) < 50
    assert index.patterns.size <= LARGEST_PATTERNS


def test_one_skill_with_large_patterns_leaves_those_of_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trigger_limits, "LARGEST_PATTERNS", 3_000)
    greedy, modest = skill("x", patterns=[f".{{500}}.*b{n}" for n in range(9)]), skill("y", patterns=["wanted"])
    assert _codes(greedy, modest) == [("x", "too-many-patterns")]
    assert found("it is wanted", greedy, modest) == [1]


@pytest.mark.parametrize(("limit", "most"), [("MOST_PATTERNS_IN_ALL", 2), ("LARGEST_PATTERNS_IN_ALL", 30)])
def test_all_skills_together_may_have_so_many_patterns(monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    monkeypatch.setattr(trigger_limits, limit, most)
    skills = [skill(f"s{n}", patterns=["shared", f"p{n}q"]) for n in range(5)]
    codes = _codes(*skills)
    assert {code for _, code in codes} == {"too-many-patterns"}
    assert codes[-1][0] == "s4"
    assert len(found("shared", *skills)) == 5, "a pattern that is there already costs nothing"


def test_of_more_keywords_than_a_skill_may_have_the_first_count_and_so_do_its_vetoes() -> None:
    words = [f"w{n}x" for n in range(MOST_PHRASES + 1)]
    many = Skill("x", "X", "d", triggers=Triggers(keywords=tuple(words), never=("stop",)))
    assert _codes(many) == [("x", "too-many-keywords")]
    assert found("w999x", many) == [0]
    assert found("w1000x", many) == []
    index, _ = compile_triggers([many], MatchMode.WORD)
    assert find_triggers(index, fold_message("w1x stop")).matches[0].vetoes


def test_ascii_only_escapes_are_warned_about_and_still_match() -> None:
    index, diagnostics = compile_triggers([skill("x", patterns=[r"\bred\b"])], MatchMode.WORD)
    assert len(find_triggers(index, fold_message("a red car")).matches) == 1
    assert [(each.code, each.severity) for each in diagnostics] == [("ascii-pattern", Severity.WARNING)]


def test_a_diagnostic_names_the_file_that_the_skill_came_from() -> None:
    owner = Skill("x", "X", "", origin=Origin("code", "x/SKILL.md"), triggers=skill("x", "").triggers)
    _, diagnostics = compile_triggers([owner], MatchMode.WORD)
    assert str(diagnostics[0].location) == "x/SKILL.md"


def test_an_empty_library_finds_nothing() -> None:
    assert found("anything") == []
