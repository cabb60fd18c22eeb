"""The command line: thin commands around the engine, one file each."""

import gc
import os
import sys
from contextlib import suppress

from skillweave.doors import door


def main() -> None:
    """Run `skillweave` with the arguments of this process, and leave with its exit code."""
    # A command makes many values and drops few: looking for circles among them costs a tenth of its time. And none
    # multiplies matrices so large that the threads, which the library starts when it is loaded, would pay.
    gc.set_threshold(100_000)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from skillweave.cli.entry import run

    code = run(sys.argv[1:])
    # All is written and closed; taking every module and value apart one by one would take as long as loading them.
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


__getattr__ = door(
    __name__,
    """
app: load_command
arguments.ledger: DEFAULT_LEDGER Kept existing kept_in
arguments.skills: FEW_FILES FEW_SKILLS LoadingBar interruptible named_skills sources_of working
arguments.turn: decoded memory_of message_text messages_of read_transcript results_of settings_of
chat: answers ask_person converse opened_talk summary
chat_agent: model_failure open_model without_own_keys
command: spread
commands: ELSEWHERE OWN find_guests known_commands
config_file: InvalidConfiguration nearest_file read_file
configuration: NEVER OF_SATELLITES OF_TESTS Key keys_of problems_of shared_names strange_variables variable_of
demo: SKILL example_skills
entry: run
failure: Mistake failure_of wants_json
options: whole_number
output.ledger: engaged_text
output.page: Ink Page page_for printable
output.notes: Tally loading_notes tally_of
output.turn: cursor_text move_text way_text
init: repaired require_name write_folder
schema: names published shapes
""",
)
