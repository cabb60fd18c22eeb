"""Labelled queries from YAML, JSON lines and the benchmark folder."""

import gzip
import json
from pathlib import Path

import pytest

from skillweave import Message, Role
from skillweave.errors import InvalidData
from skillweave_eval import read_labelled, read_tests
from skillweave_eval.reading import find_tests


def written(folder: Path, text: str, name: str = "a.triggers.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_test_has_a_query_and_what_it_expects(tmp_path: Path) -> None:
    path = written(tmp_path, "tests:\n  - query: Some tea\n    expect: [tea]\n    not: coffee\n")
    (case,) = read_tests(path).cases
    assert (case.query, case.expect, case.not_, case.any_of) == ("Some tea", ("tea",), ("coffee",), False)
    assert (case.id, str(case.place)) == ("a.triggers.yaml:2", f"{path}:2")


def test_an_empty_list_expects_that_nothing_is_given(tmp_path: Path) -> None:
    (case,) = read_tests(written(tmp_path, "tests: [{query: What is 2+2?, expect: []}]")).cases
    assert case.expect == ()


def test_what_is_only_forbidden_says_nothing_of_what_is_right(tmp_path: Path) -> None:
    (case,) = read_tests(written(tmp_path, "tests: [{query: Tea?, not: [tea]}]")).cases
    assert case.expect is None


def test_any_asks_for_one_of_its_ids(tmp_path: Path) -> None:
    (case,) = read_tests(written(tmp_path, "tests: [{query: A drink, any: [tea, coffee]}]")).cases
    assert (case.expect, case.any_of) == (("tea", "coffee"), True)


def test_history_is_what_the_user_said_or_messages(tmp_path: Path) -> None:
    text = "tests:\n- {query: And now?, expect: tea, history: [Hello, {assistant: Hi}, {role: user, content: More}]}"
    (case,) = read_tests(written(tmp_path, text)).cases
    assert [(said.role, said.content) for said in case.history] == [
        (Role.USER, "Hello"),
        (Role.ASSISTANT, "Hi"),
        (Role.USER, "More"),
    ]
    assert case.turn().transcript == (*case.history, Message(Role.USER, "And now?"))


def test_a_test_may_stand_at_a_cursor(tmp_path: Path) -> None:
    (case,) = read_tests(written(tmp_path, "tests: [{query: Go on, expect: tea, cursor: coffee}]")).cases
    assert case.cursor == "coffee"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tests: [{expect: tea}]", "query"),
        ("tests: [{query: Tea, expects: tea}]", "expects"),
        ("tests: [{query: Tea}]", "expects nothing"),
        ("tests: [{query: '  ', expect: tea}]", "the query is empty"),
        ("tests: [{query: Tea, expect: tea, any: [coffee]}]", "beside each other"),
        ("tests: [{query: Tea, expect: 3}]", "expect"),
        ("tests: tea", "`tests`"),
        ("queries: []", "tests"),
        ("tests: [", "a.triggers.yaml"),
    ],
)
def test_a_mistake_names_the_file_and_what_belongs_there(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InvalidData, match=r"triggers\.yaml") as raised:
        read_tests(written(tmp_path, text))
    assert told in str(raised.value)


def test_files_are_found_by_their_names(tmp_path: Path) -> None:
    inside = written(tmp_path, "tests: []", "tea/tea.triggers.yml")
    written(tmp_path, "tests: []", "tea/triggers.yaml")
    assert find_tests(tmp_path) == (inside,)


def test_a_file_in_a_skills_folder_is_about_the_skills_beside_it(tmp_path: Path) -> None:
    written(tmp_path, "---\nname: tea\n---\n", "skills/tea/SKILL.md")
    for name in ("skills/tea/a.triggers.yaml", "skills/tea/evals/a.triggers.yaml"):
        assert read_tests(written(tmp_path, "tests: []", name)).library() == ((tmp_path / "skills").resolve(),)


def test_a_file_says_which_skills_and_graph_it_is_about(tmp_path: Path) -> None:
    file = read_tests(written(tmp_path, "skills: ../mine\ngraph: desk.yaml\ntests: []"))
    assert file.library() == (tmp_path.resolve() / "../mine",)
    assert file.graph_file() == tmp_path.resolve() / "desk.yaml"


def test_a_file_elsewhere_is_about_the_folder_skills_beside_it(tmp_path: Path) -> None:
    assert read_tests(written(tmp_path, "tests: []")).library() == ()
    (tmp_path / "skills").mkdir()
    assert read_tests(written(tmp_path, "tests: []")).library() == ((tmp_path / "skills").resolve(),)


ROWS = [
    {
        "id": "r1",
        "message": "Tea?",
        "gold": ["tea", "coffee"],
        "also_fine": ["milk"],
        "kind": "plain",
        "language": "en",
    },
    {"id": "r2", "before": ["Tea?"], "message": "Thanks", "gold": []},
]


def test_json_lines_have_a_message_and_the_ids_of_which_any_is_right(tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join(map(json.dumps, ROWS)), "dev.jsonl")
    first, second = read_labelled(path).cases.cases
    assert (first.expect, first.any_of, first.fine) == (("tea", "coffee"), True, ("milk",))
    assert (first.kind, first.language) == ("plain", "en")
    assert (second.expect, [said.content for said in second.history]) == ((), ["Tea?"])


def test_a_folder_of_json_lines_is_read_by_its_split(tmp_path: Path) -> None:
    written(tmp_path, json.dumps(ROWS[0]), "test.jsonl")
    cases = read_labelled(tmp_path, "test").cases
    assert (cases.name, cases.split, len(cases.cases)) == (tmp_path.name, "test", 1)
    with pytest.raises(InvalidData, match=r"has no dev.jsonl; its splits are: test"):
        read_labelled(tmp_path)


@pytest.mark.parametrize(
    ("row", "told"),
    [("{", "not JSON"), ("[]", "not a JSON object"), ('{"gold": []}', "message"), ('{"message": "Tea"}', "gold"),
     ('{"message": "Tea", "gold": "tea"}', "list of skill ids"),
     ('{"message": "Tea", "gold": [], "before": [1]}', "before")],
)  # fmt: skip
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, row: str, told: str) -> None:
    with pytest.raises(InvalidData, match=r"a\.jsonl:2") as raised:
        read_labelled(written(tmp_path, f"{json.dumps(ROWS[0])}\n{row}", "a.jsonl"))
    assert told in str(raised.value)


def test_a_file_without_queries_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="holds no queries"):
        read_labelled(written(tmp_path, "\n", "a.jsonl"))


def test_a_benchmark_brings_its_skills_and_the_queries_that_must_not_select(tmp_path: Path) -> None:
    corpus = [
        {"id": "a:tea", "name": "tea", "description": "Tea.", "body": "Brew."},
        {"id": "b:tea", "name": "tea", "description": "Other tea.", "body": "Boil."},
    ]
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as file:
        file.write("\n".join(map(json.dumps, corpus)))
    written(tmp_path, json.dumps({"query": "Tea?", "gold": ["b:tea"], "source": "s", "names_skill": True}), "dev.jsonl")
    written(tmp_path, json.dumps({"query": "No tea", "not_gold": ["a:tea"], "source": "s"}), "negatives.jsonl")
    labelled = read_labelled(tmp_path)
    assert labelled.skills is not None
    assert [(one.id, one.spelling) for one in labelled.skills] == [("tea", None), ("skill-1", "tea")]
    first, negative = labelled.cases.cases
    assert (first.expect, first.names_skill, first.source) == (("skill-1",), True, "s")
    assert (negative.expect, negative.not_) == (None, ("tea",))
