import pytest

from skillweave.contracts.output import MAX_TEXT, read_answer


def codes(text: str) -> list[str]:
    return [problem.code.name for problem in read_answer(text).problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("  [1, 2]\n", [1, 2]),
        ('\ufeff"x"', "x"),
        ("null", None),
        ('Here it is:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('```JSON\n{"a": 1}\n```', {"a": 1}),
        ('~~~~ json\n{"a": "```"}\n~~~~', {"a": "```"}),
        ('````json\n{"a":\n"```"}\n````', {"a": "```"}),
        ('text\n   ```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('```python\nprint()\n```\n```json\n{"a": 1}\n```', {"a": 1}),
        ('```json\n{"a": 1}', {"a": 1}),
        ('```\nnot json\n```\n```\n{"a": 1}\n```', {"a": 1}),
    ],
)
def test_the_json_in_an_answer_is_found(text: str, value: object) -> None:
    read = read_answer(text)
    assert (read.value, read.is_json, read.problems) == (value, True, ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the text is not JSON: Expecting value in line 1, column 1"),
        ("all fine", "the text is not JSON: Expecting value in line 1, column 1"),
        ('so:\n```json\n{"a": \n```', "the text is not JSON: Expecting value in line 1, column 7"),
        ("NaN", "the text is not JSON: NaN is not a JSON value"),
        ("[" * 100_000, "the text is not JSON: it is nested too deeply"),
        ("```python\n1\n```", "the text is not JSON: Expecting value in line 1, column 1"),
        ("1" * 5_000, "the text is not JSON: Exceeds the limit (4300 digits) for integer string conversion: "),
    ],
)
def test_text_without_json_is_said_to_be_none(text: str, why: str) -> None:
    read = read_answer(text)
    assert not read.is_json
    assert [problem.message[: len(why)] for problem in read.problems] == [why]
    assert codes(text) == ["not-json"]


def test_of_several_blocks_the_last_is_read_and_that_is_said() -> None:
    read = read_answer('```json\n{"a": 1}\n```\nNo, better:\n```json\n{"a": 2}\n```')
    assert (read.value, [problem.message for problem in read.problems]) == (
        {"a": 2},
        ["the answer has 2 JSON blocks; the last is read"],
    )


def test_a_block_in_another_fence_is_part_of_it() -> None:
    assert read_answer('````text\n```json\n{"a": 1}\n```\n````').is_json is False


def test_a_key_that_stands_twice_counts_once_and_that_is_said() -> None:
    read = read_answer('{"a": 1, "a": 2}')
    assert (read.value, [str(problem.message) for problem in read.problems]) == (
        {"a": 1},
        ['key "a" appears twice in one object; the first one counts'],
    )
    assert len(read_answer('{"a": 1' + ', "a": 2' * 100 + "}").problems) == 5


def test_a_text_that_is_too_long_is_not_looked_into() -> None:
    assert codes(" " * MAX_TEXT + "1") == ["value-too-large"]


def test_many_fences_are_read_in_one_pass() -> None:
    assert read_answer("```json\n" * 100_000).is_json is False
