"""The matcher `task`: skills that a rule gives for the work as a whole (spec 2.1, seed 002)."""

from skillweave.select.ask import Ask
from skillweave.select.candidates import Selection
from skillweave.select.task_rules import candidates_for


def match_task(ask: Ask) -> Selection:
    """The skills of every rule that holds for the turn's task; a rule of which one skill cannot be given gives none.

    Stops no other matcher, `lexical` included: the task is the same in every turn, while each message of it may call
    for something else.
    """
    if ask.turn.task is None:
        return Selection()
    return candidates_for(ask.turn.task, ask.kit.task_rules, ask.kit.snapshot, ask.within)
