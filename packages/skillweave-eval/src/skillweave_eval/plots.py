"""Plots as SVG texts that stand in a page by themselves: no script, no font and no file from elsewhere."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from skillweave_eval.live.report import Spent
from skillweave_eval.metrics import Figure
from skillweave_eval.ranking import Bin
from skillweave_eval.tokens import Method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RIGHT, WRONG, NEUTRAL, FAINT = "#1a7f5a", "#b3412f", "#2f5f9e", "#9aa4ad"
LONGEST_LABEL = 40
_UNSHOWABLE = re.compile(r"[^\x20-\x7e\u00a0-\u024f\u0370-\u052f]")
"""Letters that the plots' own font may not have."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawn plot, as SVG, and what it shows."""

    title: str
    svg: str


def reliability_plot(bins: Sequence[Bin]) -> Plot:
    """How often skills are right against how likely they were said to be; on the diagonal both are the same."""

    def draw(axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle="--")
        axes.plot([one.probability for one in bins], [one.right for one in bins], color=NEUTRAL, marker="o")
        for one in bins:
            axes.annotate(
                f"{one.count:,}", (one.probability, one.right), xytext=(5, -11), textcoords="offset points", fontsize=8
            )
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="stated probability", ylabel="share that is right")

    return Plot("Reliability (beside each point: skills)", _drawn(draw, (4.6, 4.2)))


def figures_plot(figures: Sequence[Figure]) -> Plot:
    """Shares with their intervals, one below the other."""
    shares = [figure for figure in figures if figure.unit == "share"]

    def draw(axes: "Axes") -> None:
        for row, figure in enumerate(reversed(shares)):
            interval = figure.overall
            if interval.low is not None and interval.high is not None:
                axes.plot([interval.low, interval.high], [row, row], color=NEUTRAL, linewidth=2)
            axes.plot([interval.value], [row], color=NEUTRAL, marker="o")
        axes.set_yticks(range(len(shares)), [label(figure.title) for figure in reversed(shares)], parse_math=False)
        axes.set(xlim=(0, 1))
        axes.grid(axis="x", color=FAINT, linewidth=0.4)

    return Plot("Figures with 95% intervals", _drawn(draw, (7.4, 0.8 + 0.3 * len(shares))))


def bars_plot(title: str, unit: str, rows: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> Plot:
    """Stacked bars: for each row the parts, by name."""
    names = list(dict.fromkeys(name for _, parts in rows for name, _ in parts))
    palette = (NEUTRAL, RIGHT, "#c98a1b", WRONG, "#6d5a9c", FAINT)

    def draw(axes: "Axes") -> None:
        places = range(len(rows))
        starts = [0.0] * len(rows)
        for number, name in enumerate(names):
            values = [dict(parts).get(name, 0.0) for _, parts in rows]
            axes.barh(places, values, left=starts, color=palette[number % len(palette)], label=label(name))
            starts = [start + value for start, value in zip(starts, values, strict=True)]
        axes.set_yticks(places, [label(name) for name, _ in rows], parse_math=False)
        axes.invert_yaxis()
        axes.set(xlabel=unit)
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return Plot(title, _drawn(draw, (8.6, 1.1 + 0.42 * len(rows))))


def methods_plot(methods: Sequence[Method]) -> Plot:
    """What each method sends in all calls, and how much of it is cached."""
    parts = [(one.name, [("cached", one.cached), ("new", one.tokens - one.cached)]) for one in methods]
    return bars_plot("Tokens of skills in all calls", "tokens", parts)


def tiers_plot(by_tier: Mapping[str, int]) -> Plot:
    """What skillweave gave, by tier."""
    tiers = [(f"tier {tier}", tokens) for tier, tokens in by_tier.items() if tokens]
    return bars_plot("By tier", "tokens", [("skillweave", tiers)])


def spent_plot(spent: Sequence[Spent]) -> Plot:
    """The tokens that the calls of a model took."""
    return bars_plot(
        "Tokens", "tokens", [(one.what, [("in", one.usage.input), ("out", one.usage.output)]) for one in spent]
    )


def label(text: str) -> str:
    """A text as a plot can show it: cut, and without letters that its font has not."""
    shown = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 3]}..."
    return _UNSHOWABLE.sub("?", shown)


def _drawn(draw: "Callable[[Axes], None]", size: tuple[float, float]) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    # Letters as shapes: the page needs no font, and no text of a skill ever stands in the drawing as text. The salt
    # makes the same plot the same bytes. Numbers are plain too where the host's own settings ask for formulas.
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "skillweave", "font.size": 9, "axes.spines.top": False,
                     "axes.spines.right": False, "text.parse_math": False, "text.usetex": False,
                     "axes.formatter.use_mathtext": False}):  # fmt: skip
        canvas = Canvas(figsize=size, layout="constrained")
        FigureCanvasSVG(canvas)
        draw(canvas.subplots())
        out = StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    drawn = out.getvalue()
    return drawn[drawn.index("<svg") :]
