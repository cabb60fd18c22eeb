"""Every example of every page runs, and every output that a page shows is real."""

from pathlib import Path

import pytest

from docs.tools.page import Page
from docs.tools.run import DOCS, ROOT, agrees, pages, run_page, write

SHOWN = [ROOT / "README.md", *pages()]
WITHOUT_EXAMPLE = ("reference", "decisions")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [path for path in SHOWN if Page(path).blocks], ids=name_of)
def test_a_page_shows_what_really_comes_out(path: Path) -> None:
    wrong = run_page(path)
    assert not wrong, "\n\n".join(map(str, wrong)) + "\n\nIf that is right, `make docs-pages` puts it into the page."


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_a_page_has_an_example_that_runs(path: Path) -> None:
    if path.relative_to(DOCS).parts[0] in WITHOUT_EXAMPLE:
        return
    assert any(block.language in ("python", "console") for block in Page(path).blocks)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.md"


def test_a_wrong_output_of_a_command_is_found(page: Path) -> None:
    page.write_text('# P\n\n```console\n$ skillweave match "Say bonjour"\nnothing\n```\n')
    (wrong,) = run_page(page)
    assert (wrong.line, wrong.shown) == (3, "nothing")
    assert "keyword 'bonjour'" in wrong.real


def test_a_wrong_output_of_python_is_found(page: Path) -> None:
    page.write_text('```python\nprint(1 + 1)\n```\n\n```text title="Output"\n3\n```\n')
    (wrong,) = run_page(page)
    assert (wrong.shown, wrong.real) == ("3", "2")


def test_python_that_prints_must_show_it(page: Path) -> None:
    page.write_text("```python\nprint(1 + 1)\n```\n")
    (wrong,) = run_page(page)
    assert "show it" in wrong.what


def test_an_example_that_raises_is_an_error_at_its_line(page: Path) -> None:
    page.write_text("# P\n\n```python\n\nraise RuntimeError('no')\n```\n")
    with pytest.raises(RuntimeError) as raised:
        run_page(page)
    assert raised.traceback[-1].lineno == 4


def test_blocks_of_a_page_share_names_and_files(page: Path) -> None:
    page.write_text(
        '```text title="notes/a.txt"\nfour\n```\n\n```python\nfrom pathlib import Path\nread = Path.read_text\n```\n\n'
        '```python\nprint(read(Path("notes/a.txt")).strip())\n```\n\n```text title="Output"\nfour\n```\n\n'
        "```console\n$ cat notes/a.txt\nfour\n\n$ echo five\nfive\n```\n"
    )
    assert run_page(page) == []


def test_data_in_a_page_must_be_valid(page: Path) -> None:
    page.write_text("```json\n{no}\n```\n")
    with pytest.raises(ValueError, match="this is not json"):
        run_page(page)


@pytest.mark.parametrize(
    ("shown", "real"),
    [
        ("a\n...\nd", "a\nb\nc\nd\n"),
        ("turn 5d006b70db234684886cfea24c8baf4c", "turn 8ec1c475ac454e9db8aa1a174812d4cd"),
        ("at 2026-11-22 00:29:52 UTC", "at 2031-01-02 03:04:05 UTC"),
        ("a  \n", "a"),
        ("ok               Redis 8.2.3 in\n                 0.1 ms", "ok               Redis 7.0 in 12.3 ms"),
    ],
)
def test_what_changes_from_run_to_run_is_not_compared(shown: str, real: str) -> None:
    assert agrees(shown, real)


@pytest.mark.parametrize(("shown", "real"), [("a\n...", "b\nc"), ("1,088 tokens", "1,089 tokens"), ("a...", "abc")])
def test_what_differs_is_found(shown: str, real: str) -> None:
    assert not agrees(shown, real)


def test_a_picture_that_a_page_makes_is_the_one_that_it_shows(page: Path) -> None:
    page.write_text("![A picture](assets/one.svg)\n\n```console\n$ echo '<svg/>' > one.svg\n```\n")
    (wrong,) = run_page(page)
    shown = page.parent / "assets" / "one.svg"
    assert wrong.page == shown
    shown.parent.mkdir()
    write([wrong])
    assert shown.read_text() == "<svg/>\n"
    assert run_page(page) == []
    shown.write_text("<svg></svg>\n")
    assert [one.page for one in run_page(page)] == [shown]


def test_real_outputs_are_written_into_the_page(page: Path) -> None:
    page.write_text(
        "```console\n$ echo one\n$ echo two\n2\n```\n\n```python\nprint(3)\n```\n\nText.\n\n"
        '```python\nprint(4)\n```\n\n```text title="Output"\n5\n```\n'
    )
    write(run_page(page))
    assert page.read_text() == (
        "```console\n$ echo one\none\n\n$ echo two\ntwo\n```\n\n```python\nprint(3)\n```\n\n"
        '```text title="Output"\n3\n```\n\nText.\n\n```python\nprint(4)\n```\n\n```text title="Output"\n4\n```\n'
    )
    assert run_page(page) == []


def test_a_page_reaches_real_servers_by_the_addresses_that_it_gives(page: Path) -> None:
    redis = "from redis import Redis\nwith Redis.from_url('redis://kv.example:6379/0') as client:\n    "
    page.write_text(
        "```sql\nCREATE TABLE one (a int, b text);\nINSERT INTO one VALUES (1, 'x'), (22, NULL)\n```\n\n"
        '```sql\nSELECT * FROM one\n```\n\n```text title="Output"\na  | b\n---+--\n1  | x\n22 |\n```\n\n'
        f'```python\n{redis}print(client.set("k", 1), "kv.example:6379")\n```\n\n'
        '```text title="Output"\nTrue kv.example:6379\n```\n\n'
        "```console\n$ echo db.example:5432\ndb.example:5432\n```\n"
    )
    for _ in range(2):  # each run begins with an empty database
        assert run_page(page) == []


def test_a_wrong_answer_of_a_database_is_found(page: Path) -> None:
    page.write_text('`db.example:5432`\n\n```sql\nSELECT 1 AS a\n```\n\n```text title="Output"\na\n-\n2\n```\n')
    (wrong,) = run_page(page)
    assert wrong.real == "a\n-\n1"
