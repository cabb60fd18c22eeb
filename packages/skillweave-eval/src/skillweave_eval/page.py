"""A report as one page of HTML that needs nothing else: no network, no script, every text of a skill escaped."""

from pathlib import Path

from skillweave_eval import plots, tables
from skillweave_eval.fit import FitReport
from skillweave_eval.graph import GraphReport
from skillweave_eval.live.report import LiveReport
from skillweave_eval.ranking import RankingReport
from skillweave_eval.tokens import TokensReport
from skillweave_eval.triggers import TriggerReport

TEMPLATES = {
    FitReport: "fit",
    GraphReport: "graph",
    LiveReport: "live",
    RankingReport: "ranking",
    TokensReport: "tokens",
    TriggerReport: "triggers",
}


def page_of(report: object) -> str:
    """Returns the report as HTML.

    Raises:
        TypeError: there is no page for such a report.
    """
    name = next((name for kind, name in TEMPLATES.items() if isinstance(report, kind)), None)
    if name is None:
        raise TypeError(f"there is no page for a {type(report).__name__}")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template(f"{name}.html.j2").render(report=report, plots=plots, tables=tables)
    return page.encode("utf-8", "replace").decode()  # no file takes a lone surrogate
