"""Finding mentions in a text: where one may begin, where its name ends, what follows it."""

import pytest

from skillweave import Status
from skillweave.select.index import names_of
from skillweave.select.matchers import Mention
from skillweave.select.mentions import find_mentions, without_mentions
from tests.asking import skill

NAMES = names_of(
    [
        *(skill(each) for each in ("deploy", "pdf-tools", "run", "home", "s", "a_b", "Deploy")),
        skill("skill-1f2e", spelling="果酱标签"),
        skill("node-js", spelling="node.js"),
    ]
)


def found(text: str) -> list[tuple[str, str, str]]:
    return [(each.skill_id, text[each.start : each.end], each.words) for each in find_mentions(text, NAMES)]


@pytest.mark.parametrize("text", ["/deploy", "$deploy"])
def test_both_signs_mention(text: str) -> None:
    assert found(text) == [("deploy", text, "")]


@pytest.mark.parametrize(
    "before",
    [
        "",
        "please ",
        "\n",
        "\t",
        "(",
        "[",
        "{",
        '"',
        "'",
        "`",
        ",",
        ";",
        "!",
        "?",
        "…",
        "：",
        "，",
        "（",
        "“",
        "—",
        "👉",
        "\u3000",
    ],
)
def test_a_mention_begins_the_text_or_follows_white_space_a_bracket_a_quote_or_the_end_of_a_clause(before: str) -> None:
    assert found(f"{before}/run") == [("run", "/run", "")]
    assert found(f"{before}$run") == [("run", "$run", "")]


@pytest.mark.parametrize(
    "text",
    [
        "/usr/bin/run",
        "a/run",
        "run/deploy",
        "//run",
        "./run",
        "../run",
        "~/run",
        "C:/run",
        "C:\\/run",
        "http://x/run",
        "x.org/run",
        "--out=/run",
        "@/run",
        "#/run",
        "%/run",
        "**/run",
        "</run>",
        "$(pwd)/run",
        "${HOME}/run",
        "[x]/run",
        "a-$run",
        "$$run",
        "US$run",
        "é/run",
        "e\u0301/run",
        "天/run",
        "a／/run",
    ],
)
def test_what_goes_before_makes_a_path_or_an_address_of_it(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "/run/",
        "/run/x",
        "/run\\x",
        "/run.sh",
        "/run?x=1",
        "/run#top",
        "/run:prod",
        "/run=1",
        "/run&x",
        "/run@host",
        "/run-",
        "/run-prod",
        "/run_prod",
        "/running",
        "/rün",
        "/run\u0301",
        "$run$s",
        "/run2",
        "/run*x",
        "/ run",
        "/",
        "$",
        "/unknown",
        "$5",
        "/$run",
        "/ß",
    ],
)
def test_what_comes_after_makes_another_word_a_path_or_a_file_of_it(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/run.", "."),
        ("/run. Now", ". Now"),
        ("/run, then", ", then"),
        ("/run!", "!"),
        ("/run?", "?"),
        ("/run: x", ": x"),
        ("/run)", ")"),
        ("/run`", "`"),
        ('/run"', '"'),
        ("/run\nx", "x"),
        ("/run…", "…"),
        ("/run，谢谢", "，谢谢"),
        ("/run然后", "然后"),
        ("/run\u3000x", "x"),
    ],
)
def test_the_name_ends_where_the_word_ends(text: str, words: str) -> None:
    assert found(text) == [("run", "/run", words)]


@pytest.mark.parametrize("text", ["$HOME", "$HOME/x", "$RUN", "${HOME}", "$S", "$1", "$HOME然后"])
def test_a_variable_mentions_nothing(text: str) -> None:
    assert found(text) == []


def test_a_skill_that_is_called_like_a_variable_can_be_mentioned_all_the_same() -> None:
    assert found("$home /HOME") == [("home", "$home", ""), ("home", "/HOME", "")]


@pytest.mark.parametrize("written", ["/PDF-Tools", "/pdf_tools", "/ｐｄｆ-tools", "$Pdf_Tools"])
def test_the_name_is_folded_like_ids(written: str) -> None:
    assert found(f"{written} x") == [("pdf-tools", written, "x")]


def test_ids_that_differ_in_capitals_only_are_each_themselves() -> None:
    assert [each[0] for each in found("/deploy /Deploy /DEPLOY")] == ["deploy", "Deploy", "deploy"]


def test_an_id_goes_before_another_skills_spelling_and_an_active_skill_before_one_that_is_not() -> None:
    names = names_of([skill("a_b"), skill("a-b"), skill("X", status=Status.DRAFT), skill("x")])
    assert [each.skill_id for each in find_mentions("/a-b /a_b /x", names)] == ["a-b", "a_b", "x"]
    drafted = names_of([skill("c_d", status=Status.DRAFT), skill("x", spelling="c-d")])
    assert [each.skill_id for each in find_mentions("/c-d", drafted)] == ["x"]


def test_the_authors_own_spelling_mentions() -> None:
    assert found("/node.js x") == [("node-js", "/node.js", "x")]
    assert found("Use /node.js.") == [("node-js", "/node.js", ".")]


def test_a_name_in_a_script_without_spaces_ends_anywhere() -> None:
    assert found("/果酱标签做一下") == [("skill-1f2e", "/果酱标签", "做一下")]


def test_the_words_reach_to_the_next_mention_or_the_end_and_are_stripped() -> None:
    text = " /deploy  to staging \n$run the\n tests /unknown x\n"
    assert find_mentions(text, NAMES) == (
        Mention("deploy", 1, 8, "to staging"),
        Mention("run", 22, 26, "the\n tests /unknown x"),
    )


def test_blanks_take_the_place_of_mentions_and_nothing_else_moves() -> None:
    text = "do /deploy it, /run"
    assert without_mentions(text, find_mentions(text, NAMES)) == "do         it,     "
    assert without_mentions(text, ()) == text


def test_a_name_longer_than_any_phrase_is_none() -> None:
    long = "a" * 501
    names = {"a" * 500: "a" * 500}
    assert find_mentions(f"/{long}", names) == ()
    assert len(find_mentions(f"/{long[1:]}", names)) == 1


@pytest.mark.parametrize("piece", ["/", " /" + "a" * 499, "/a/", " /果" + "天" * 400, " /" + "ﷺ" * 499])
def test_a_message_of_hundreds_of_thousands_of_characters_is_read_at_once(piece: str) -> None:
    assert find_mentions(piece * (300_000 // len(piece)), NAMES) == ()


def test_every_mention_of_a_long_message_is_found() -> None:
    assert len(find_mentions(" /run" * 20_000, NAMES)) == 20_000
