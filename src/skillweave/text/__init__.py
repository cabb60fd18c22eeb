"""Text as the matchers see it: folded, cut into words, searched for phrases and patterns, and ranked (spec 2.2)."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
bm25: Bm25 build_bm25
embedding: EmbeddedOnce cosines
markdown: blocks_of
search: CHUNK LEFT MOST_MATCHED RIGHT SET_SIZE UNSPACED_RUN WHOLE WINDOW BrokenPattern MatchMode ascii_only_escapes
    compile_automaton compile_flagged compile_groups compile_pattern compile_patterns edges_of fits fold fold_message
    size_of without_middle
stems: common_stems light_stems rarity stems_of
words: LIGHT_WORDS STOP_WORDS plain_word singular word_spans words_in words_of
""",
)
