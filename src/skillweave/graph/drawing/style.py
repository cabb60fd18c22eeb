"""How an SVG drawing looks, on light and on dark ground."""

from collections.abc import Mapping

from skillweave.graph.drawing.figures import SMALL_TEXT, TEXT

LIGHT = {
    "ground": "#ffffff",
    "text": "#0f172a",
    "box": "#f1f5f9",
    "border": "#94a3b8",
    "line": "#64748b",
    "decision": "#fef9e7",
    "decision-border": "#d4a72c",
    "start": "#334155",
    "start-text": "#ffffff",
    "tool": "#2563eb",
    "status": "#0f766e",
    "guard": "#b45309",
    "model": "#64748b",
    "visited": "#dbeafe",
    "visited-border": "#3b82f6",
    "current": "#2563eb",
    "current-border": "#1e40af",
    "current-text": "#ffffff",
    "reachable": "#16a34a",
}
DARK = {
    "ground": "#0f172a",
    "text": "#e2e8f0",
    "box": "#1e293b",
    "border": "#64748b",
    "line": "#94a3b8",
    "decision": "#2d2813",
    "decision-border": "#a17c1c",
    "start": "#cbd5e1",
    "start-text": "#0f172a",
    "tool": "#60a5fa",
    "status": "#2dd4bf",
    "guard": "#fbbf24",
    "model": "#94a3b8",
    "visited": "#1e3a5f",
    "visited-border": "#3b82f6",
    "current": "#2563eb",
    "current-border": "#93c5fd",
    "current-text": "#ffffff",
    "reachable": "#4ade80",
}
_KINDS = {"entry": "line", "predicate": "line", "tool": "tool", "status": "status", "guard": "guard", "model": "model"}
ROOT = "skillweave-graph"


def style() -> str:
    """The style sheet; it concerns nothing but these drawings, also where several stand in one page."""
    return "\n".join([*_shapes(), *_colours(LIGHT), "@media (prefers-color-scheme: dark) {", *_colours(DARK), "}"])


def _shapes() -> list[str]:
    root = f".{ROOT}"
    font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
    return [
        f"{root} text {{ font-family: {font}; text-anchor: middle; }}",
        f"{root} .node text {{ font-size: {TEXT:g}px; }}",
        f"{root} .edge text, {root} .key text {{ font-size: {SMALL_TEXT:g}px; }}",
        f"{root} .shape {{ stroke-width: 1.3; stroke-linejoin: round; }}",
        f"{root} .line {{ fill: none; stroke-width: 1.4; }}",
        f"{root} .model .line {{ stroke-dasharray: 2 4; stroke-linecap: round; stroke-width: 1.7; }}",
        f"{root} .any .shape, {root} .unknown .shape {{ stroke-dasharray: 5 3; }}",
        f"{root} .beside text {{ text-anchor: start; }}",
        f"{root} .start text, {root} .current text {{ font-weight: 600; }}",
        f"{root} .reachable .shape {{ stroke-width: 2; stroke-dasharray: 6 3; }}",
        f"{root} .current .shape {{ stroke-width: 3; stroke-dasharray: none; }}",
        f"{root} .apart .shape, {root} .apart .line, {root} .apart .head {{ opacity: 0.35; }}",
    ]


def _colours(colours: Mapping[str, str]) -> list[str]:
    root = f".{ROOT}"
    kinds = [
        f"{root} .{kind} .line {{ stroke: {colours[name]}; }} "
        f"{root} .{kind} .head, {root} .edge.{kind} text {{ fill: {colours[name]}; }}"
        for kind, name in _KINDS.items()
    ]
    return [
        f"{root} .ground, {root} .label {{ fill: {colours['ground']}; }}",
        f"{root} .shape {{ fill: {colours['box']}; stroke: {colours['border']}; }}",
        f"{root} text {{ fill: {colours['text']}; }}",
        *kinds,
        f"{root} .decision .shape {{ fill: {colours['decision']}; stroke: {colours['decision-border']}; }}",
        f"{root} .start .shape {{ fill: {colours['start']}; stroke: {colours['start']}; }}",
        f"{root} .start text {{ fill: {colours['start-text']}; }}",
        f"{root} .any .shape, {root} .unknown .shape {{ fill: none; }}",
        f"{root} .visited .shape {{ fill: {colours['visited']}; stroke: {colours['visited-border']}; }}",
        f"{root} .reachable .shape {{ stroke: {colours['reachable']}; }}",
        f"{root} .current .shape {{ fill: {colours['current']}; stroke: {colours['current-border']}; }}",
        f"{root} .current text {{ fill: {colours['current-text']}; }}",
        f"{root} .node.apart text, {root} .edge.apart text {{ fill: {colours['line']}; }}",
    ]
