"""Reports as one page of HTML."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib import rc_context
from tests.skillweave_eval.libraries import answer, case, skill, weaver_of
from tests.skillweave_eval.test_fit import ANSWERS, SUBJECT
from tests.skillweave_eval.test_graph import DESK
from tests.skillweave_eval.test_tokens import TALKS

from skillweave.graph import SkillGraph
from skillweave_eval import CaseSet, Resampling, report_on
from skillweave_eval.fit import fit_answers
from skillweave_eval.graph import GraphReport, play_scripts
from skillweave_eval.page import page_of
from skillweave_eval.ranking import Asked, Configuration
from skillweave_eval.tokens import count_tokens
from skillweave_eval.triggers import run_tests

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)> $x_1$ {{ 7*7 }} \ud800"


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.addresses: list[str] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "xlink:href") and value]
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def elements(page: str) -> Elements:
    """The page's elements; it loads nothing, runs nothing, and can be written as UTF-8."""
    page.encode()
    found = Elements(page)
    assert "script" not in found.names
    assert all(address.startswith(("#", "data:image/png;base64,")) for address in found.addresses), found.addresses
    assert "url(http" not in page
    return found


async def test_texts_of_skills_and_queries_are_escaped() -> None:
    weaver = weaver_of(skill("tea", f"Brews {EVIL}", keywords=[f"tea {EVIL}"], never=["tea"]))
    cases = CaseSet(f"a {EVIL}", f"b {EVIL}", (case(f"Some tea {EVIL}", ["tea"], id=EVIL),))
    found = elements(page_of(await run_tests(weaver, cases, Configuration((EVIL,)))))
    assert "img" not in found.names
    assert any("<script>alert(1)</script>" in text for text in found.text)


def test_a_ranking_report_has_plots_of_figures_and_reliability_and_says_who_competes() -> None:
    answers = [
        answer(given=["coffee"], offered=["tea"], probabilities=[0.9, 0.3], kind=f"plain {EVIL}"),
        answer(given=["tea"], probabilities=[0.8], kind="vague", source="b"),
    ]
    cases = CaseSet("d", "dev", tuple(one.case for one in answers))
    asked = Asked(Configuration(("lexical",)), answers)
    found = elements(page_of(report_on(cases, ["tea"], asked, asked, Resampling(resamples=20))))
    assert found.names.count("figure") == found.names.count("svg") == 2
    for title in ("Figures", "The second configuration", "Groups", "Reliability", "Skills that compete"):
        assert any(title in text for text in found.text)


def test_every_page_says_what_its_figures_are_about() -> None:
    answers = [answer(given=["tea"]), answer(given=["tea"])]
    cases = CaseSet("drinks", "dev", tuple(one.case for one in answers))
    asked = Asked(Configuration(("lexical",)), answers)
    text = " ".join(elements(page_of(report_on(cases, ["tea"], asked, resampling=Resampling(5, 20)))).text)
    assert "drinks, dev" in text and "seed 5" in text and "matchers lexical" in text


def test_the_same_report_is_the_same_page() -> None:
    answers = [answer(given=["coffee"])]
    cases = CaseSet("d", "dev", tuple(one.case for one in answers))
    report = report_on(cases, ["tea"], Asked(Configuration(()), answers), resampling=Resampling(resamples=0))
    assert page_of(report) == page_of(report)


@pytest.mark.parametrize("asked", [True, False])
def test_axes_have_plain_numbers_whatever_the_host_set(asked: bool) -> None:
    answers = [answer(given=["coffee"])]
    cases = CaseSet("d", "dev", tuple(one.case for one in answers))
    report = report_on(cases, ["tea"], Asked(Configuration(()), answers), resampling=Resampling(resamples=0))
    with rc_context({"axes.formatter.use_mathtext": asked}):
        assert "mathdefault" not in page_of(report)


def test_letters_that_the_plots_cannot_show_are_no_error() -> None:
    answers = [answer(given=["紅茶🍵"], expect=("お茶" * 30,))]
    cases = CaseSet("d", "dev", tuple(one.case for one in answers))
    report = report_on(cases, ["tea"], Asked(Configuration(()), answers), resampling=Resampling(resamples=0))
    assert "svg" in elements(page_of(report)).names


async def test_tokens_graphs_and_fits_have_pages(tmp_path: Path) -> None:
    weaver = weaver_of()
    tokens = await count_tokens(weaver, TALKS, "talks", Configuration(weaver.skills.matchers))
    graph: GraphReport = await play_scripts(SkillGraph.from_dict(DESK), {"one": []}, "one")
    fitted = fit_answers(ANSWERS, SUBJECT, Configuration(("lexical",)))
    for report, word in ((tokens, "cached"), (graph, "Edges"), (fitted, "held-out")):
        assert any(word in text for text in elements(page_of(report)).text)


def test_there_is_no_page_for_anything_else() -> None:
    with pytest.raises(TypeError, match="no page for a dict"):
        page_of({})
