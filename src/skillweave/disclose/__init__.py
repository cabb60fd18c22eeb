"""How much of each skill to show inside one budget of real tokens, and the text that is written (spec 5)."""

from skillweave.doors import door

__getattr__ = door(
    __name__,
    """
block: HEADERS REPLACES SECTIONS carrier_of digest_in text_digest
catalog: Catalog PricedCatalog
fit: CountedOnce LeftOut Passage Pricing Shown Want
render: NOTHING_ELSE Extras Inlined catalog_line render_agent render_contents render_context render_outline
    render_reading render_skill sections_of_document sections_of_skill
sections: LONGEST_TITLE MOST_ENTRIES SECTION_TOKENS Leaf Reading Section entries_of find_section sections_of
""",
)
