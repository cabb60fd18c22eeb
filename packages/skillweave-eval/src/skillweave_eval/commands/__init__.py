"""`skillweave eval`: whether the right skill is found, what it costs, and whether it helps."""

from skillweave.commands import WithDefault
from skillweave_eval.commands.learn import learn
from skillweave_eval.commands.live import live
from skillweave_eval.commands.offline import fit, graph_, ranking, tokens, triggers

__all__ = ["EXAMPLES", "GROUP", "fit", "graph_", "learn", "live", "ranking", "tokens", "triggers"]

EXAMPLES = {
    "triggers": """
skillweave eval
skillweave eval --skills skills --min-recall 0.9 --min-precision 0.95 --html report.html
skillweave eval triggers tests/skills.triggers.yaml --skills skills --junit report.xml
""",
    "ranking": """
skillweave eval ranking queries.yaml --skills examples/skills
skillweave eval ranking benchmark --split test --json
skillweave eval ranking queries.jsonl --skills skills --matcher lexical --against 'matcher=triggers,lexical'
""",
    "tokens": """
skillweave eval tokens conversations.jsonl --skills skills
skillweave eval tokens conversations.json --skills skills --html tokens.html
""",
    "graph": """
skillweave eval graph support-triage desk.script.yaml
skillweave eval graph graph.yaml scripts --min-coverage 0.9
""",
    "fit": """
skillweave eval fit queries.jsonl --skills skills --output fitted.json
skillweave eval fit queries.jsonl --skills skills --precision 0.99
""",
    "learn": """
skillweave eval learn --skills skills --ledger state.db --kept use.jsonl
skillweave eval learn --skills skills --ledger state.db --kept use.jsonl --tenant acme --into learned/acme --promote
skillweave eval learn --into learned/acme --tenant acme --rollback
""",
    "live": """
skillweave eval --live --model openai:gpt-5-mini --skills skills
skillweave eval live --model anthropic:claude-haiku-4-5 --samples 3 --max-cost 2 --price-in 1 --price-out 5
skillweave eval live --model ollama:llama3.2 --judge openai:gpt-5-mini skills/tea/evals/evals.json
""",
}
GROUP = {"cls": WithDefault}
"""How this group of commands is made."""
