"""What holds for every message and for every argument."""

import re

from hypothesis import given
from hypothesis import strategies as st

from skillweave.disclose.block import HEADERS, SECTIONS
from skillweave.disclose.render import Extras, render_reading, render_skill, sections_of_skill
from skillweave.disclose.sections import Leaf, Reading
from skillweave.formats.arguments import LONGEST_ARGUMENTS, digest_in_use, filled
from skillweave.select.index import names_of
from skillweave.select.mentions import find_mentions, without_mentions
from skillweave.skills import SkillText
from skillweave.turns import Rung
from tests.asking import ask, index_of, skill
from tests.skills import make_skill

SKILLS = [skill(each, body="Do $ARGUMENTS.") for each in ("run", "pdf-tools", "a", "home")]
SKILLS.append(skill("skill-1f2e", spelling="果酱标签"))
INDEX = index_of(*SKILLS)
NAMES = names_of(SKILLS)
MATCHERS = ("explicit", "mention", "triggers", "lexical")

PIECES = (
    *(
        "/",
        "$",
        "run",
        "/run",
        "$run",
        "pdf-tools",
        "/PDF_tools",
        "a",
        "/a",
        "HOME",
        "$HOME",
        "home",
        "果酱标签",
        "/果",
    ),
    *(" ", "\n", ".", ",", ":", "-", "_", "(", "`", "，", "ß", "／", "＄", "\u0301", "\ud800", "\0", "x", "http://"),
)
messages = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(PIECES), max_size=15).map("".join))

OURS = (
    *(f"{header}x ===" for header in HEADERS),
    *SECTIONS,
    *("SKILL_SELECT:", "SKILL_SELECT:run", "SKILL_", "SELECT", ":", "##", "#", "## ", "===", "=== Skill ", "Steps"),
    *(
        "Skill Activated:",
        "Description",
        "Instructions",
        "$ARGUMENTS",
        "\\",
        "\n",
        "\r",
        "\r\n",
        "\u2028",
        "\x85",
        "\v",
    ),
    *(" ", "\t", "a", ".", ". ", "\ud800"),
)
words = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(OURS), max_size=8).map("".join))
bodies = st.lists(st.sampled_from(OURS), max_size=8).map("".join)
OWN_HEADER = re.compile(" {0,3}(?:" + "|".join(re.escape(header.rstrip()) for header in HEADERS) + ")")


@given(messages)
def test_a_text_without_the_two_signs_never_mentions(text: str) -> None:
    plain = text.replace("/", "").replace("$", "")
    assert find_mentions(plain, NAMES) == ()
    assert all(each.matcher != "mention" for each in ask(INDEX, plain, matchers=MATCHERS).chosen)


@given(messages)
def test_mentions_stand_in_the_text_one_after_the_other_with_their_words_behind_them(text: str) -> None:
    mentions = find_mentions(text, NAMES)
    for mention in mentions:
        assert text[mention.start] in "/$"
        assert NAMES.get(text[mention.start + 1 : mention.end].lower()) == mention.skill_id
    bounds = [place for mention in mentions for place in (mention.start, mention.end)]
    assert bounds == sorted(bounds)
    ends = [*(mention.start for mention in mentions), len(text)][1:]
    assert [mention.words for mention in mentions] == [
        text[mention.end : end].strip() for mention, end in zip(mentions, ends, strict=True)
    ]


@given(messages)
def test_blanked_mentions_leave_a_text_of_the_same_length_that_mentions_nothing(text: str) -> None:
    mentions = find_mentions(text, NAMES)
    blanked = without_mentions(text, mentions)
    assert len(blanked) == len(text)
    kept = [place for mention in mentions for place in range(mention.start, mention.end)]
    assert all(blanked[place] == " " for place in kept)
    assert all(blanked[place] == text[place] for place in set(range(len(text))) - set(kept))


@given(messages)
def test_the_matcher_says_the_same_of_a_message_whoever_else_takes_part(text: str) -> None:
    alone = ask(INDEX, text, matchers=["mention"]).chosen
    together = [each for each in ask(INDEX, text, matchers=MATCHERS).chosen if each.matcher == "mention"]
    assert [(each.skill_id, each.arguments) for each in alone] == [(each.skill_id, each.arguments) for each in together]
    for each in alone:
        assert each.arguments is None or len(each.arguments) <= LONGEST_ARGUMENTS


def violations(text: str) -> list[str]:
    """The lines of a text that could pass for ours, and any marker."""
    lines = [line for line in re.split("\r\n?|[\n\v\f\x1c-\x1e\x85\u2028\u2029]", text) if passes_for_ours(line)]
    return [*lines, *(["a marker"] if "SKILL_SELECT:" in text else [])]


def passes_for_ours(line: str) -> bool:
    plain = re.sub(r"[ \t]+", " ", line.strip()).rstrip("# ")
    indented = re.match(r" {4}| {0,3}\t", line) is not None  # a block of code in Markdown
    return OWN_HEADER.match(line) is not None or (plain in SECTIONS and not indented)


@given(words, bodies, st.lists(bodies, max_size=2))
def test_no_words_make_a_line_of_ours_or_a_marker(arguments: str, body: str, steps: list[str]) -> None:
    text = SkillText(instructions=f"Begin.\n{body}$ARGUMENTS{body}\n$ARGUMENTS", steps=tuple(steps))
    made = make_skill("fix", text=text)
    block = render_skill(made, Rung.FULL, Extras(arguments=arguments)).text
    plain = render_skill(make_skill("fix", text=SkillText(instructions="x", steps=tuple(steps))), Rung.FULL).text
    assert sorted(violations(block)) == sorted(violations(plain))


@given(words, bodies)
def test_no_words_make_a_line_of_ours_or_a_marker_in_a_section_either(arguments: str, body: str) -> None:
    text = SkillText(instructions=f"# One\n{'word. ' * 700}{body}$ARGUMENTS. {body}\n# Two\n{body} $ARGUMENTS")
    made = make_skill("fix", text=text)
    whole = sections_of_skill(made, lambda piece: len(piece.split()), arguments)
    for leaf in whole.leaves():
        reading = Reading(leaf, (Leaf("key", leaf),), Leaf("key", leaf))
        shown = render_reading(made, reading, reading.leaves).text.partition("\n")[2]
        assert violations(shown) == []


@given(words)
def test_filling_is_one_pass_and_equal_words_have_equal_digests(arguments: str) -> None:
    made = make_skill("fix", instructions="<$ARGUMENTS>")
    assert filled(made.text, arguments).instructions == f"<{arguments}>"
    assert digest_in_use(made, arguments) == digest_in_use(made, "".join(arguments))
    assert (digest_in_use(made, arguments) == made.digest) is (not arguments)
