"""Write the function words of other languages into the engine, from the package `stop-words`.

    pip install stop-words==2025.11.4
    python benchmarks/list_function_words.py

What means something in English or in names is left out: MEANT was read from those that public skills have.
"""

import textwrap
from pathlib import Path

from stop_words import get_stop_words

import skillweave
from skillweave.text.search import fold
from skillweave.text.words import LIGHT_WORDS, plain_word

LANGUAGES = (
    *("arabic", "dutch", "french", "german", "hindi", "italian"),
    *("polish", "portuguese", "russian", "spanish", "turkish"),
)
"""Those of the embedder that are written with spaces, and Hindi."""
_MEANT = """
    ad ai allen amp az bin bo bom car chose co col com con da dai del den die dies door dos due dr era eras
    est ex fin fine font force go hat ho ici infra inte io ir jest kim kimi la lat le li man mas meme met mine
    mit nas nic nim nova novo np num os otto pan par per piece pl plus pod point pour pro quarto quasi sam sin
    sob solo solos sub tel tempo ten total van vi vol war xi ali per via fu sa va te ti
"""
MEANT = frozenset(_MEANT.split())
TARGET = Path(skillweave.__file__).parent / "text" / "function_words.txt"
SHARED = TARGET.with_name("shared_words.txt")
HEAD = """\
# Function words of other languages than English: they are neither indexed nor looked for.
# From the package stop-words 2025.11.4 (BSD-3-Clause, Copyright Alireza Savand and contributors), without marks, and
# without what public skills use as English words. Written by benchmarks/list_function_words.py.
"""
SHARED_HEAD = """\
# Function words of other languages that mean something in English: no evidence in a message of another language.
# Written by benchmarks/list_function_words.py.
"""


def main() -> None:
    kept = set()
    for language in LANGUAGES:
        kept.update(plain_word(fold(word)) for word in get_stop_words(language))
    words = sorted(word for word in kept - MEANT if len(word) > 1 and word not in LIGHT_WORDS)
    TARGET.write_text(HEAD + textwrap.fill(" ".join(words), 120, break_long_words=False) + "\n", encoding="utf-8")
    shared = textwrap.fill(" ".join(sorted(MEANT - LIGHT_WORDS)), 120, break_long_words=False)
    SHARED.write_text(f"{SHARED_HEAD}{shared}\n", encoding="utf-8")
    print(f"{len(words)} words")


if __name__ == "__main__":
    main()
