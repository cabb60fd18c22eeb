import os
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha1, sha256
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import SkillweaveError
from skillweave.disclose.fit import CountedOnce
from skillweave.selection import Tiktoken
from skillweave.tokens.counter import LONGEST_RUN
from skillweave.tokens.ranks import BETWEEN, VOCABULARIES, ranks_of
from skillweave.turn.disclose import SEPARATOR_TOKENS

O200K = Tiktoken("o200k_base")
SAMPLES = [
    "Hello, world!",
    "it's John's; they'll WE'VE",
    "def f(x):\n\treturn x ** 2  # 12345678\n\n\n",
    "Grüße aus Köln, 東京とパリ, привет 👩‍👩‍👧",
    "   leading and trailing   \r\n\r\n",
    "<|endoftext|> is plain text in a skill",
    "a" * 3000,
    "",
]
PUBLISHED_SHA256 = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
_PUBLISHED = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
_ORACLE = """
import json, sys, tiktoken
samples = json.loads(sys.stdin.read())
encoding = tiktoken.get_encoding(sys.argv[1])
print(json.dumps([len(encoding.encode_ordinary(sample)) for sample in samples]))
"""


def published(tokens: Iterable[bytes]) -> bytes:
    """The published rank file of a vocabulary, given its tokens by their ranks."""
    return b"".join(b"%s %d\n" % (b64encode(token), rank) for rank, token in enumerate(tokens))


@pytest.mark.parametrize("name", VOCABULARIES)
def test_counts_equal_those_of_the_library_with_its_own_definition(name: str, tmp_path: Path) -> None:
    """The library reads our ranks from its cache folder, and brings its own pattern and its own check of the hash."""
    import json

    cached = tmp_path / sha1(_PUBLISHED.format(name=name).encode()).hexdigest()
    cached.write_bytes(published(ranks_of(name)))
    answer = subprocess.run(
        [sys.executable, "-c", _ORACLE, name],
        input=json.dumps(SAMPLES),
        env={**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    counter = Tiktoken(name)
    expected = json.loads(answer.stdout)
    assert [counter.count(sample) for sample in SAMPLES] == expected
    counter.warm_up()
    assert [counter.count(sample) for sample in SAMPLES] == expected


@pytest.mark.parametrize(("name", "digest"), PUBLISHED_SHA256.items())
def test_what_is_shipped_is_the_published_rank_file(name: str, digest: str) -> None:
    rank_file = published(ranks_of(name))
    assert sha256(rank_file).hexdigest() == digest
    assert sha256(BETWEEN.join(ranks_of(name))).hexdigest() == VOCABULARIES[name].sha256


def test_a_count_says_its_vocabulary_and_that_it_is_exact() -> None:
    assert (O200K.encoding, O200K.exact) == ("o200k_base", True)


def test_an_unknown_vocabulary_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SkillweaveError, match="o200k_base, cl100k_base"):
        Tiktoken("gpt2")


def test_half_a_surrogate_pair_is_counted_and_does_not_raise() -> None:
    assert O200K.count("x\ud800y") > 0


@pytest.mark.parametrize("encoding", VOCABULARIES)
def test_a_million_blanks_are_counted_and_do_not_raise(encoding: str) -> None:
    assert Tiktoken(encoding).count("a" + " " * 1_000_000 + "b") > 0


def test_a_long_run_of_blanks_costs_what_its_pieces_cost() -> None:
    pieces = ["a" + " " * LONGEST_RUN, " " * LONGEST_RUN, " " * 50 + "b"]
    assert O200K.count("".join(pieces)) == sum(map(O200K.count, pieces))


def test_counters_of_one_process_share_the_vocabulary() -> None:
    assert Tiktoken()._bpe is Tiktoken()._bpe


def test_a_damaged_vocabulary_file_is_named(tmp_path: Path) -> None:
    """Run on a copy of the package, so that the real file stays as it is."""
    package = Path(str(files("skillweave")))
    shutil.copytree(package, tmp_path / "skillweave", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "skillweave/tokens/vocabularies/o200k_base.tokens").write_bytes(b"a")
    script = "from skillweave.tokens.counter import Tiktoken; Tiktoken().warm_up()"
    answer = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "the vocabulary file of o200k_base is damaged" in answer.stderr


def test_the_whole_can_cost_more_than_its_lines_so_a_budget_counts_the_whole() -> None:
    assert O200K.count("<\n/A\n{") > sum(O200K.count(line) for line in ("<\n", "/A\n", "{\n"))


@given(st.lists(st.text(min_size=1, max_size=40), max_size=6))
def test_joining_blocks_by_a_blank_line_costs_at_most_three_tokens_each(blocks: list[str]) -> None:
    joined = O200K.count("\n\n".join(blocks))
    assert joined <= sum(O200K.count(block) for block in blocks) + SEPARATOR_TOKENS * len(blocks)


class _Counting:
    encoding = "letters"
    exact = False

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        self.asked.append(text)
        return len(text)


def test_each_text_is_counted_once() -> None:
    counting = _Counting()
    once = CountedOnce(counting)
    assert [once.count("abc"), once.count("abc"), once.count("ab")] == [3, 3, 2]
    assert counting.asked == ["abc", "ab"]


def test_the_oldest_counts_are_forgotten_past_the_limit() -> None:
    counting = _Counting()
    once = CountedOnce(counting, remember=1)
    for text in ("a", "b", "a"):
        once.count(text)
    assert counting.asked == ["a", "b", "a"]
