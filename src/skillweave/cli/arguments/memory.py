"""Working memory from `--memory KEY=VALUE`."""

from collections.abc import Iterable

import typer


def memory_of(pairs: Iterable[str] | None) -> dict[str, object]:
    """The values by key, the last one of a key; raises BadParameter for what is no pair."""
    memory: dict[str, object] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise typer.BadParameter(
                f"{pair[:60]!r} is no KEY=VALUE; write for example entity_id=well-7", param_hint="'--memory'"
            )
        memory[key] = value
    return memory
