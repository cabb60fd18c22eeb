"""What is kept beside the ledger, and what is not."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.skillweave_eval.learning.conversations import Office

from skillweave.errors import InvalidData
from skillweave_eval.learning.keeping import LONGEST, Keeper, Kind, read_kept


def test_no_word_of_a_user_is_kept_unless_the_host_turned_it_on(tmp_path: Path) -> None:
    office = Office(tmp_path, words=False)
    asyncio.run(office.say("a desk near the window in the office"))
    assert not office.kept.exists()


def test_what_a_user_says_is_kept_with_its_turn_and_without_his_name(tmp_path: Path) -> None:
    office = Office(tmp_path)
    asyncio.run(office.say("a desk near the window in the office", user="ann@example.org"))
    (line,) = read_kept(office.kept, "")
    assert (line.kind, line.turn_id, line.text) == (Kind.SAID, "t1", "a desk near the window in the office")
    assert "ann" not in office.kept.read_text(encoding="utf-8")
    assert line.user


def test_of_a_long_message_only_the_beginning_is_kept(tmp_path: Path) -> None:
    office = Office(tmp_path)
    asyncio.run(office.say("desk " * LONGEST))
    assert len(read_kept(office.kept, "")[0].text) <= LONGEST


def test_a_skill_that_is_unloaded_is_taken_back(tmp_path: Path) -> None:
    async def talk(office: Office) -> None:
        await office.open("tax-return")
        await office.weaver.ledger.unload("c1", "tax-return")

    office = Office(tmp_path, words=False)
    asyncio.run(talk(office))
    assert [(one.kind, one.text) for one in read_kept(office.kept, "")] == [(Kind.TAKEN_BACK, "tax-return")]


def test_a_delivery_that_failed_takes_nothing_back(tmp_path: Path) -> None:
    async def talk(office: Office) -> None:
        request = "Book a desk in the office near a window for a day"
        claimed = await office.weaver.claim(request, conversation="c1", turn_id="t1")
        assert claimed.messages
        assert await office.weaver.release("c1", "t1")

    office = Office(tmp_path, words=False)
    asyncio.run(talk(office))
    assert not office.kept.exists()


def test_the_lines_of_another_tenant_are_not_read(tmp_path: Path) -> None:
    async def talk() -> None:
        for tenant in ("acme", "globex"):
            await Keeper(tmp_path / "use.jsonl", tenant=tenant).used("c1", f"skill-of-{tenant}")

    asyncio.run(talk())
    assert [one.text for one in read_kept(tmp_path / "use.jsonl", "acme")] == ["skill-of-acme"]


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    asyncio.run(Keeper(tmp_path / "use.jsonl").used("c1", "tea"))
    with (tmp_path / "use.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"kind": "us')
    assert [one.text for one in read_kept(tmp_path / "use.jsonl", "")] == ["tea"]


@pytest.mark.parametrize("line", ["no json", "[]", json.dumps({"kind": "loved", "tenant": ""})])
def test_a_damaged_line_is_named_with_its_number(tmp_path: Path, line: str) -> None:
    keeper = Keeper(tmp_path / "use.jsonl")
    asyncio.run(keeper.used("c1", "tea"))
    with keeper.path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    asyncio.run(keeper.used("c1", "tea"))
    with pytest.raises(InvalidData, match=r"use\.jsonl:2: .*take the line out"):
        read_kept(keeper.path, "")


def test_another_word_for_keeping_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="'yes' is neither 'keep' nor 'never'"):
        Keeper(tmp_path / "use.jsonl", words="yes")  # type: ignore[arg-type]


def test_a_file_that_cannot_be_written_costs_a_diagnostic_and_no_turn(tmp_path: Path) -> None:
    async def talk(office: Office) -> tuple[list[str], list[str]]:
        office.kept.mkdir()
        woven = await office.weaver.weave("Book a desk in the office near a window for a day", conversation="c1")
        return [block.skill_id for block in woven.blocks], [one.code for one in woven.diagnostics]

    given, codes = asyncio.run(talk(Office(tmp_path)))
    assert given == ["desk-booking"]
    assert "matcher-unprepared" in codes


def test_messages_of_tools_are_no_words_of_users(tmp_path: Path) -> None:
    office = Office(tmp_path)
    asyncio.run(office.open("tax-return"))
    assert not office.kept.exists()
