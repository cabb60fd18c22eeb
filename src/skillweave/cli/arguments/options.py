"""The options that several commands share, each written once."""

from typing import Annotated, Literal, TypeAlias

import typer

from skillweave.cli.arguments.number import whole_number
from skillweave.cli.completion import offers

SKILLS, TURN, BUDGET, LEDGER, OUTPUT = "Skills", "The turn", "Selection and budget", "Conversation", "Output"
MODEL = "The model"
"""The groups that options stand in, in `--help`."""

Model: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help="Which model, such as anthropic:claude-sonnet-4-5; its provider's package and key must be there.",
        rich_help_panel=MODEL,
        show_default=False,
    ),
]
Skills: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--skills",
        metavar="DIR-or-FILE",
        help="A folder of skills, one SKILL.md, or a pack (.yaml, .json). Repeatable; the first wins a clash of ids. "
        "Default: ./skills",
        rich_help_panel=SKILLS,
        show_default=False,
    ),
]
Packs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--pack",
        metavar="NAME",
        help="An installed pack of skills, such as coding; ./skills need not be there then. Repeatable.",
        rich_help_panel=SKILLS,
        show_default=False,
        autocompletion=offers.packs,
    ),
]
Graph: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="FILE",
        help="A skill graph (.yaml, .json) that says where a conversation is, in place of one that a pack brings.",
        rich_help_panel=SKILLS,
        show_default=False,
    ),
]
Strict: TypeAlias = Annotated[
    bool,
    typer.Option("--strict", help="Load only what the open Agent Skills format allows.", rich_help_panel=SKILLS),
]
Conversation: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--conversation",
        metavar="ID",
        help="The conversation that this turn belongs to, remembered from command to command.",
        rich_help_panel=LEDGER,
        autocompletion=offers.conversations,
    ),
]
KnownConversation: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="CONVERSATION", help="The id of a conversation.", autocompletion=offers.conversations),
]
Ledger: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL-or-FILE",
        help="Where conversations are kept. Default: .skillweave/state.db with --conversation, else nothing is kept.",
        rich_help_panel=LEDGER,
    ),
]
KeptLedger: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL-or-FILE",
        help="Where conversations are kept. Default: .skillweave/state.db",
        rich_help_panel=LEDGER,
    ),
]
Transcript: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--transcript",
        metavar="FILE",
        help="All messages that the model will see, as a JSON list of {role, content, id}; what is no longer there is "
        "given again when it is still wanted.",
        rich_help_panel=TURN,
    ),
]
Results: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--result",
        metavar="TOOL=JSON",
        help="What a tool answered since the last turn, or TOOL:STATUS=JSON where it was no success; routes of a skill "
        "graph look at it. Repeatable, in the order of the calls; MESSAGE may be left out then.",
        rich_help_panel=TURN,
        show_default=False,
    ),
]
Memory: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--memory",
        metavar="KEY=VALUE",
        help="Working memory, such as entity_id=well-7. Repeatable.",
        rich_help_panel=TURN,
        show_default=False,
    ),
]
TaskText: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="TEXT",
        help="The work as a whole, of which MESSAGE is a part.",
        rich_help_panel=TURN,
    ),
]
Risk: TypeAlias = Annotated[
    Literal["low", "medium", "high"] | None,
    typer.Option(
        "--risk",
        help="How much can go wrong with the task; task rules of packs may ask for it.",
        rich_help_panel=TURN,
        show_default=False,
    ),
]
Coding: TypeAlias = Annotated[
    bool,
    typer.Option("--coding", help="The task is about code; task rules of packs may ask for it.", rich_help_panel=TURN),
]
Speaker: TypeAlias = Annotated[
    Literal["user", "assistant"],
    typer.Option(
        "--role",
        help="Who said MESSAGE; only an assistant's SKILL_SELECT:<id> picks a skill.",
        rich_help_panel=TURN,
    ),
]
Tools: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--tool",
        metavar="NAME",
        help="A tool that the host offers. Repeatable; without it nothing is assumed.",
        rich_help_panel=TURN,
        show_default=False,
    ),
]
Where: TypeAlias = Annotated[
    Literal["history", "call"],
    typer.Option(
        "--placement",
        help="Where the host puts skill text: in the history, where it stays, or into one call.",
        rich_help_panel=TURN,
    ),
]
TurnId: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--turn-id",
        metavar="ID",
        help="This turn's id; the same id again gives the same answer and changes nothing.",
        rich_help_panel=TURN,
    ),
]
Catalog: TypeAlias = Annotated[
    Literal["always", "fallback", "never"],
    typer.Option(
        "--catalog",
        help="When the model sees the list of skills: in every call, when nothing matches, or never.",
        rich_help_panel=BUDGET,
    ),
]
Matchers: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--matcher",
        metavar="NAME",
        help="Run only this matcher: explicit, mention, task, triggers or lexical. Repeatable.",
        rich_help_panel=BUDGET,
        show_default=False,
        autocompletion=offers.matchers,
    ),
]
Mention: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--mention",
        help="Let a user pick a skill by writing /<id> or $<id>; what follows fills $ARGUMENTS in its text.",
        rich_help_panel=BUDGET,
    ),
]
MaxSkills: TypeAlias = Annotated[
    int,
    typer.Option(
        "--max-skills",
        metavar="N",
        parser=whole_number,
        help="How many skills one turn may select; companions count with theirs.",
        rich_help_panel=BUDGET,
    ),
]
Tokens: TypeAlias = Annotated[
    int,
    typer.Option(
        "--budget",
        metavar="N",
        parser=whole_number,
        help="Tokens that skills may take of one call.",
        rich_help_panel=BUDGET,
    ),
]
Watch: TypeAlias = Annotated[
    bool,
    typer.Option("--watch", help="Go on and check again after every edit, until Ctrl-C.", rich_help_panel=OUTPUT),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON, errors too.", rich_help_panel=OUTPUT)]
