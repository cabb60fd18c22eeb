"""One form for a word and its English plural, so that they count as the same (`refund`, `refunds`)."""

_SIBILANT_E = ("sse", "xe", "che", "she", "zze")


def singular(word: str) -> str:
    """The form under which a folded word is compared with others: without the `s` of a plural, and what comes with it.

    A rule of spelling, no dictionary: the form need not be a word (`movies` and `movie` are both `movy`). Words of
    three letters, and an `s` after `s` or `u`, stay as they are.
    """
    if len(word) < 4:
        return word
    stem = word[:-1] if word[-1] == "s" and word[-2] not in "su" else word
    if stem.endswith("ie") and len(stem) > 3:
        return stem[:-2] + "y"
    return stem[:-1] if stem.endswith(_SIBILANT_E) else stem
