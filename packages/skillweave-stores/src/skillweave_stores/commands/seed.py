"""`skillweave seed` and `publish`: skills from files into a store, from which many processes load them."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.commands import MISTAKE, Answer, Mistake, Paths, Strict, leave_interrupted, with_paths
from skillweave.values import without_secrets
from skillweave_stores.commands import options
from skillweave_stores.commands.options import StoringBar

if TYPE_CHECKING:
    from skillweave_stores.seed import Seeded

EXAMPLES = {
    "seed": """
skillweave seed examples/skills --store sqlite:///skills.db
skillweave seed skills --pack coding --store postgresql://weaver@db.internal/skills
skillweave seed skills --store postgresql://weaver@db.internal/skills --tenant acme --json
""",
    "publish": """
skillweave publish skills/release --store sqlite:///skills.db
skillweave publish skills/release/SKILL.md --store postgresql://weaver@db.internal/skills --json
""",
}


async def seed(
    ctx: typer.Context,
    paths: Paths = None,
    *,
    storing: options.Storing,
    store: options.InStore,
) -> Answer:
    """Fill a store with skills, their documents and agents.

    What is there already is left unchanged, so that it may run again at any time, also in several processes at once; a
    changed skill is a new version. Nothing is taken out of the store: `unpublish` does that. Bad skills are reported,
    and the others stored; the exit code is 1 then. Skills are stored in chunks: after an interruption the next run
    stores the rest.
    """
    from skillweave_stores.commands.output import other_findings, seeded_text

    done = await _stored(with_paths(storing, paths, ctx), store)
    text = partial(seeded_text, done, place=without_secrets(store.store or ""))
    return Answer(lambda: done, text, code=0 if done.complete else MISTAKE, notes=other_findings(done))


async def publish(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="The folders of skills, or their SKILL.md files.")
    ],
    strict: Strict = False,
    *,
    store: options.InStore,
) -> Answer:
    """Put skills in use, and say which version of each that is.

    The content of a skill with its documents makes its version. One that is in use already is left unchanged, and one
    that was published before is put in use again. The exit code is 1 where a skill could not be published.
    """
    from skillweave_stores.commands.output import other_findings, published_text

    done = await _stored(options.Storing(skills=paths, strict=strict), store)
    whole = done.complete and (done.inserted or done.updated or done.unchanged)
    return Answer(lambda: done, partial(published_text, done), code=0 if whole else MISTAKE, notes=other_findings(done))


async def _stored(storing: options.Storing, store: options.InStore) -> "Seeded":
    """What became of the skills."""
    from skillweave_stores.seed import seed as fill

    if store.store is not None and store.store in (storing.skills or ()):
        raise Mistake("the skills are read from the store itself, so that nothing can change; name their folder")
    bar = StoringBar(sys.stderr)
    async with store.opened() as target:
        with _interruptible(bar), bar:
            return await fill(target, *storing.sources(bar), progress=bar.tell)


@contextmanager
def _interruptible(bar: StoringBar) -> Iterator[None]:
    """While it lasts, an interruption is answered with how far it came."""

    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        leave_interrupted(f"; skills that are stored: {bar.done:,}. Run it again, and the rest follows")

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
