"""Count in how many public skills each stem stands, into src/skillweave/text/common_stems.txt.

    python benchmarks/count_stems.py FOLDER

FOLDER has corpus.jsonl.gz. Numbers are kept as twice their binary logarithm, rounded; only stems that at least LEAST
skills have are listed, and only plain words. No text of a skill goes into the file.
"""

import os
import sys
from collections import Counter, defaultdict
from math import log2
from pathlib import Path

from selection_pools import load_corpus

from skillweave.select.terms import terms_of
from skillweave.text.stems import DOCUMENTS, stems_of

LEAST = 4
TARGET = Path(__file__).parents[1] / "src" / "skillweave" / "text" / "common_stems.txt"
HEAD = """\
# Twice the binary logarithm of the number of public skills with a stem, in the whole text and in name and description.
# Made by benchmarks/count_stems.py.
"""


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["SKILLWEAVE_SELECTION"])
    corpus = load_corpus(folder)
    if len(corpus.skills) != DOCUMENTS:
        sys.exit(f"there are {len(corpus.skills)} skills; DOCUMENTS in text/stems.py says {DOCUMENTS}")
    full: Counter[str] = Counter()
    brief: Counter[str] = Counter()
    for skill in corpus.skills:
        terms = terms_of(skill)
        brief.update(set(stems_of(terms.brief)))
        full.update(set(stems_of((*terms.brief, *terms.body))))
    lines: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for stem, count in full.items():
        if count >= LEAST and stem.isalpha() and len(stem) < 20:
            short = str(round(2 * log2(brief[stem]))) if brief[stem] else "-"
            lines[round(2 * log2(count)), short].append(stem)
    text = "".join(f"{key[0]} {key[1]} {' '.join(sorted(stems))}\n" for key, stems in sorted(lines.items()))
    TARGET.write_text(HEAD + text, encoding="utf-8")
    print(f"{sum(map(len, lines.values()))} stems, {len(text.encode()) / 1024:.0f} KB, in {TARGET}")


if __name__ == "__main__":
    main()
