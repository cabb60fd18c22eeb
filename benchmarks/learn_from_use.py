"""Print what learning from use brings in a simulated month, week by week, and that a worse fit is refused.

    SKILLWEAVE_REQUESTS=... SKILLWEAVE_SKILLS_SAMPLE=... python benchmarks/learn_from_use.py

Every day people say requests of the development set in their own way (some words fall out, the order changes), some
requests much more often than others. A simulated model opens what is right, and in one of ten cases something else
that it was shown. Half of the skills have phrases. At the end of each week the conversations until then are learned
from and what is proven counts from then on. The figures of a week are by the labels of the set, not by what was opened.
The same requests come again, which real ones seldom do word for word: this shows that learning works, not what it
brings.
"""

import asyncio
import json
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import skillweave
from skillweave import Message, Registry, Role, Skill, SqliteStore, Turn, Weaver
from skillweave.selection import DEFAULT, build_index, shipped_fit
from skillweave.sources import InCode, source_of
from skillweave_eval.learning.keeping import Keeper, read_kept
from skillweave_eval.learning.labels import heard_in
from skillweave_eval.learning.learned import Learned, WithLearned
from skillweave_eval.learning.proof import Versions, learn, prove, replay_with, worse_in
from skillweave_eval.metrics import Difference, Resampling, bounds

SEED = 11
WEEKS, A_WEEK, USERS = 4, 300, 40
WRONG_OPENINGS = 0.1
LOST = 0.2
"""The share of words that fall out when somebody says a request in his own way."""
Row = dict[str, object]


async def main() -> None:
    draw = random.Random(SEED)
    rows = _read(Path(os.environ["SKILLWEAVE_REQUESTS"]) / "dev.jsonl")
    skills = await half_phrased(draw)
    weights = [1 / (1 + place) ** 0.7 for place in range(len(rows))]
    draw.shuffle(rows)
    with TemporaryDirectory() as folder:
        store, kept = SqliteStore(f"{folder}/state.db"), Path(folder) / "use.jsonl"
        keeper = Keeper(kept, words="keep", user_of=lambda turn: str(turn.memory["user"]))
        versions = Versions(Path(folder) / "learned", "")
        current = Learned.nothing(shipped_fit(await index_of(skills)), "")
        nothing = current

        def weaver_of(learned: Learned, **options: object) -> Weaver:
            return skillweave.open(WithLearned(InCode(*skills), learned), **options)  # type: ignore[arg-type]

        replay = replay_with(weaver_of)
        print(f"{len(skills)} skills, {A_WEEK} messages a week, seed {SEED}; figures by the labels of the set")
        for week in range(1, WEEKS + 1):
            said = [paraphrased(row, draw) for row in draw.choices(rows, weights, k=A_WEEK)]
            live = weaver_of(current, ledger=store, matchers=(*DEFAULT, keeper), observers=(keeper,))
            live = live.variant(settings=replace(live.settings, fitted=current if versions.current else None))
            learning = await told(live, said, draw, keeper, week)
            beside = await told(weaver_of(nothing), said, None, None, week)
            print(f"week {week}  with what was learned  {learning}")
            print(f"        without                {beside}")
            heard = await heard_in(store, "", read_kept(kept, ""))
            report = await learn(heard, current, replay, Resampling(SEED), datetime.now(UTC).date())
            learned, border = len(report.learned.phrases), f"{current.give_at:.3f} -> {report.learned.give_at:.3f}"
            print(f"        {report.labelled} of {report.messages} messages tell what was right; ", end="")
            print(f"learned phrases of {learned} skills, given from {border}")
            print_changes(report.differences)
            if report.proven:
                versions.promote(report.learned)
                current = versions.current or current
            print("        promoted" if report.proven else f"        refused: worse {report.worse or 'in nothing'}")
        labelled = [one for one in heard if one.labelled]
        worse = spoilt(current)
        figures = await prove(nothing, worse, labelled[len(labelled) * 3 // 4 :], replay, Resampling(SEED))
        print("made worse on purpose: phrases of other skills, and given from 5%")
        print_changes(figures)
        print(f"        refused, as worse: {', '.join(worse_in(figures)) or 'NOTHING'}")
        back = versions.roll_back()
        print(f"rolled back to {'nothing learned' if back is None else f'version {back.version}'}")
        await store.close()


def print_changes(differences: Sequence[Difference]) -> None:
    """What changes on later messages."""
    for one in differences:
        change = bounds(one.change, one.unit, signed=True)
        print(f"          {one.title:30} {one.first:.3f} -> {one.second:.3f}, {change}; {one.queries} later messages")


def spoilt(learned: Learned) -> Learned:
    """The same with the phrases of each skill at another one, given much too early."""
    ids = list(learned.phrases)
    turned = dict(zip(ids, [learned.phrases[one] for one in (*ids[1:], *ids[:1])], strict=True))
    return replace(learned, phrases=turned, give_at=0.05, offer_at=min(learned.offer_at, 0.05))


async def half_phrased(draw: random.Random) -> list[Skill]:
    """The sample library, of which half of the skills have phrases."""
    registry = Registry([source_of(os.environ["SKILLWEAVE_SKILLS_SAMPLE"])])
    await registry.refresh()
    rows = _read(Path(os.environ["SKILLWEAVE_REQUESTS"]) / "phrases.jsonl")
    written = {str(row["id"]): tuple(row["requests"][:5]) for row in rows}  # type: ignore[index]
    return [
        replace(one, phrases=written.get(one.id, ()) if draw.random() < 0.5 else ())
        for one in registry.snapshot.active()
    ]


async def index_of(skills: Sequence[Skill]):  # noqa: ANN201 - of this script only
    registry = Registry([InCode(*skills)])
    await registry.refresh()
    return build_index(registry.snapshot)


def paraphrased(row: Row, draw: random.Random) -> Row:
    """The request as somebody else would say it: its sentences turned round, some words lost."""
    text = str(row["message"])
    cut = text.find(". ")
    if cut > 0 and draw.random() < 0.5:
        text = f"{text[cut + 2 :]} {text[:cut]}."
    words = [word for word in text.split() if draw.random() >= LOST]
    return {**row, "text": " ".join(words) or text}


async def told(
    weaver: Weaver, said: Sequence[Row], draw: random.Random | None, keeper: Keeper | None, week: int
) -> str:
    """The figures of a week; with a keeper the model opens skills, and takes back what is wrong."""
    count, asked = {"given": 0, "reached": 0, "wrong": 0}, 0
    for number, row in enumerate(said):
        conversation, user = f"w{week}-{number}", f"user {number % USERS}"
        turn = Turn(f"t{number}", conversation, Message(Role.USER, str(row["text"])), memory={"user": user})
        injection = await weaver.weave(turn)
        gold, fine = set(row["gold"]), set(row.get("also_fine", ()))  # type: ignore[call-overload]
        given = {block.skill_id for block in injection.blocks}
        offered = [one.skill_id for one in injection.decisions if one.outcome.value == "offered"]
        asked += bool(gold)
        count["given"] += bool(gold & given)
        count["reached"] += bool(gold & (given | set(offered)))
        count["wrong"] += bool(given - gold - (fine if gold else set()))
        if keeper is not None and draw is not None:
            await behave(weaver, keeper, conversation, gold, given, offered, draw)
    shares = f"right given {count['given'] / asked:.3f}, given or listed {count['reached'] / asked:.3f}"
    return f"{shares}, wrong given {count['wrong'] / len(said):.3f}"


async def behave(
    weaver: Weaver,
    keeper: Keeper,
    conversation: str,
    gold: set[str],
    given: set[str],
    offered: Sequence[str],
    draw: random.Random,
) -> None:
    """What the model does with what it was shown; one of ten openings is beside the point."""
    for one in given:
        if one in gold:
            await keeper.used(conversation, one)
        elif draw.random() < 0.5:
            await weaver.ledger.unload(conversation, one)
    right = [one for one in offered if one in gold]
    if gold & given or not offered:
        return
    if draw.random() < WRONG_OPENINGS:
        await weaver.tools.read_skill(draw.choice(list(offered)), conversation=conversation)
    elif right:
        await weaver.tools.read_skill(right[0], conversation=conversation)


def _read(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    asyncio.run(main())
