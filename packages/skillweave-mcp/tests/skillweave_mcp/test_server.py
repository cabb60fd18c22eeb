"""The server, asked by the SDK's client in this process, in the present protocol and an older one."""

import base64
from hashlib import sha256
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.skillweave_mcp.serving_in_tests import children_at, entry_at, listed, told

import skillweave
from skillweave import Checkpoint, MemoryStore, Skill, ToolRules, Triggers
from skillweave.skills import SkillText
from skillweave_mcp import Desk, Visitor
from skillweave_mcp.entries import EXTENSION
from skillweave_mcp.server import make_server
from tests.skill_folders import skill_text, write_skill

GREETING = "skill://greeting/SKILL.md"


def bytes_of(result: types.ReadResourceResult) -> bytes:
    content = result.contents[0]
    return content.text.encode() if isinstance(content, types.TextResourceContents) else base64.b64decode(content.blob)


async def test_the_extension_is_declared_with_reading_of_folders(client: Client) -> None:
    assert client.server_capabilities.extensions == {EXTENSION: {"directoryRead": True}}


async def test_an_entry_has_the_front_matter_and_every_file_with_its_digest(client: Client, folder: Path) -> None:
    entry = (await listed(client))["skills"][0]
    files = {path: path.read_bytes() for path in (folder / "greeting").rglob("*") if path.is_file()}
    assert entry["frontmatter"] == {
        "name": "greeting",
        "description": "Greets people in French, by bonjour.",
        "license": "MIT",
    }
    assert {(one["digest"], one["size"]) for one in entry["resources"]} == {
        (f"sha256:{sha256(data).hexdigest()}", len(data)) for data in files.values()
    }


async def test_every_listed_file_is_read_byte_for_byte(client: Client) -> None:
    for one in (await listed(client))["skills"][0]["resources"]:
        data = bytes_of(await client.read_resource(one["uri"]))
        assert f"sha256:{sha256(data).hexdigest()}" == one["digest"]


async def test_get_answers_as_the_list_does(client: Client) -> None:
    assert (await entry_at(client, GREETING))["skill"] == (await listed(client))["skills"][0]


@pytest.mark.parametrize(
    "uri", ["skill://nothing/SKILL.md", "skill://greeting", "skill://greeting/references/forms.md"]
)
async def test_get_of_what_is_no_skill_is_an_invalid_parameter(client: Client, uri: str) -> None:
    with pytest.raises(MCPError) as raised:
        await entry_at(client, uri)
    assert raised.value.error.code == types.INVALID_PARAMS


async def test_a_folder_has_its_direct_children(client: Client) -> None:
    found = (await children_at(client, "skill://greeting/references"))["resources"]
    assert [(one["uri"].rpartition("/")[2], one["mimeType"]) for one in found] == [
        ("forms.md", "text/markdown"),
        ("more", "inode/directory"),
    ]


@pytest.mark.parametrize("uri", [GREETING, "skill://greeting/nothing", "skill://greeting/", "file:///etc"])
async def test_reading_what_is_no_folder_is_an_invalid_parameter(client: Client, uri: str) -> None:
    with pytest.raises(MCPError) as raised:
        await children_at(client, uri)
    assert raised.value.error.code == types.INVALID_PARAMS


async def test_find_skill_gives_the_one_skill_in_full_where_it_is_sure(tmp_path: Path) -> None:
    sure = Skill(
        "bow",
        "Bow",
        "Bows.",
        triggers=Triggers(keywords=("curtsy",)),
        text=SkillText(instructions="Bend."),
        tools=ToolRules(allowed=("bend",), forbidden=("jump",)),
        checkpoints=(Checkpoint("sure", before="bend"),),
    )
    answer = await Desk(skillweave.open(sure)).find_skill("please curtsy", Visitor())
    assert "Bend." in answer.text
    assert "forbidden: jump" in answer.text
    assert "sure before bend" in answer.text


async def test_find_skill_never_gives_two_full_texts() -> None:
    two = [
        Skill(
            one, one.title(), f"Does {one}.", triggers=Triggers(keywords=(one,)), text=SkillText(instructions=f"{one}!")
        )
        for one in ("alpha", "beta")
    ]
    answer = await Desk(skillweave.open(*two)).find_skill("alpha and beta", Visitor())
    assert answer.text.count("=== Skill Activated") == 1


async def test_find_skill_says_so_where_no_skill_is_about_it(client: Client) -> None:
    assert "No skill is about that" in await told(client, "find_skill", request="zzz")


async def test_read_skill_gives_the_same_text_a_second_time(folder: Path) -> None:
    desk, visitor = Desk(skillweave.open(folder)), Visitor("session-1")
    first = await desk.read_skill("greeting", visitor)
    assert (await desk.read_skill("greeting", visitor)).text == first.text
    assert "Say bonjour" in first.text


async def test_what_was_found_in_a_session_is_given_again_when_it_is_asked_for_again() -> None:
    skill = Skill("bow", "Bow", "Bows.", triggers=Triggers(keywords=("curtsy",)), text=SkillText(instructions="Bend."))
    desk, visitor = Desk(skillweave.open(skill)), Visitor("session-1")
    assert "Bend." in (await desk.find_skill("curtsy", visitor)).text
    assert "Bend." in (await desk.find_skill("curtsy once more", visitor)).text


async def test_why_knows_what_a_session_was_given(folder: Path) -> None:
    weaver = skillweave.open(folder)
    await Desk(weaver).read_skill("greeting", Visitor("session-1"))
    assert [one.decision.skill_id for one in await weaver.why("session-1")] == ["greeting"]


async def test_without_a_session_nothing_is_noted(folder: Path) -> None:
    changes: list[object] = []

    class Noting(MemoryStore):
        async def swap(self, *given: Any, **more: Any) -> bool:
            changes.append(given)
            return await super().swap(*given, **more)

    desk = Desk(skillweave.open(folder, ledger=Noting()))
    await desk.read_skill("greeting", Visitor())
    await desk.find_skill("bonjour", Visitor())
    assert changes == []
    await desk.read_skill("greeting", Visitor("session-1"))
    assert changes != []


async def test_a_file_of_a_skill_is_read_by_a_tool(client: Client) -> None:
    assert await told(client, "read_skill", name="greeting", file="references/forms.md") == "A form.\r\n"


@pytest.mark.parametrize("path", ["../invoices/SKILL.md", "/etc/passwd", "nothing.md"])
async def test_a_tool_reads_no_file_from_elsewhere(client: Client, path: str) -> None:
    assert "greeting has no file" in await told(client, "read_skill", name="greeting", file=path)


async def test_a_binary_file_is_no_answer_of_a_tool(client: Client) -> None:
    assert "skill://greeting/logo.bin" in await told(client, "read_skill", name="greeting", file="logo.bin")


async def test_list_skills_has_a_line_for_each(client: Client) -> None:
    assert [line.partition(":")[0] for line in (await told(client, "list_skills")).splitlines()] == [
        "- greeting",
        "- invoices",
    ]


async def test_explain_names_each_skill_that_was_considered(client: Client) -> None:
    assert "- greeting: " in await told(client, "explain", request="greet people in French")


async def test_a_skill_whose_tools_the_agent_lacks_is_not_listed(folder: Path) -> None:
    desk = Desk(skillweave.open(folder))
    assert sorted((await desk.shelf(Visitor(tools=("Read",)))).served) == ["skill://greeting"]
    assert "- invoices" not in (await desk.list_skills(None, Visitor(tools=("Read",)))).text
    assert (await desk.read_skill("invoices", Visitor(tools=("Read",)))).failed
    assert "- invoices" in (await desk.list_skills(None, Visitor(tools=("Read", "Bash")))).text


async def test_a_prompt_has_the_words_of_the_user_where_the_skill_wants_them(client: Client) -> None:
    message = (await client.get_prompt("greeting", {"arguments": "Alice"})).messages[0]
    assert isinstance(message.content, types.TextContent)
    assert "Say bonjour to Alice." in message.content.text


async def test_a_skill_that_no_user_may_call_is_no_prompt(folder: Path) -> None:
    write_skill(folder / "hidden", skill_text("hidden", **{"user-invocable": "false"}))
    desk = Desk(skillweave.open(folder))
    assert sorted(await desk.prompts(Visitor())) == ["greeting", "invoices"]


async def test_a_client_of_the_older_protocol_has_the_tools_and_prompts(folder: Path) -> None:
    desk = Desk(skillweave.open(folder))
    server = make_server(lambda _: (desk, Visitor()), "public")
    async with Client(server.sdk, mode="legacy") as client:
        names = [one.name for one in (await client.list_tools()).tools]
        assert names == ["find_skill", "read_skill", "list_skills", "explain"]
        assert [one.name for one in (await client.list_prompts()).prompts] == ["greeting", "invoices"]


async def test_tools_are_marked_as_reading_only(client: Client) -> None:
    marks = [one.annotations for one in (await client.list_tools()).tools]
    assert all(one is not None and one.read_only_hint for one in marks)


async def test_an_edit_is_in_the_next_answer_after_a_second(folder: Path) -> None:
    desk = Desk(skillweave.open(folder))
    before = (await desk.shelf(Visitor())).served["skill://greeting"].manifest
    (folder / "greeting" / "new.md").write_text("new")
    assert await desk.stock.refresh()
    now = (await desk.shelf(Visitor())).served["skill://greeting"].manifest
    assert now.file("new.md") is not None
    assert before.file("new.md") is None


async def test_a_skill_in_code_is_served_with_a_file_that_says_the_same() -> None:
    skill = Skill(
        "Bow_Deep", "Bow", "Bows.", text=SkillText(instructions="Bend."), tools=ToolRules(forbidden=("jump",))
    )
    desk = Desk(skillweave.open(skill))
    (served,) = (await desk.shelf(Visitor())).served.values()
    data = await desk.stock.read(served, "SKILL.md")
    assert served.uri == "skill://Bow_Deep/bow-deep/SKILL.md"
    assert data is not None
    assert sha256(data).hexdigest() == served.manifest.files[0].sha256
    assert b"jump" in data


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (skill_text("Big Name"), "has capital letters"),
        ("---\nname: odd\ndescription: Use when: always\n---\n\nDo it.\n", "refuse its front matter"),
        ("# Only a heading\n\nDo it.\n", "does not begin with front matter"),
    ],
)
async def test_a_skill_that_the_open_format_refuses_is_named_and_still_read_by_tools(
    folder: Path, text: str, why: str
) -> None:
    write_skill(folder / "odd", text)
    desk = Desk(skillweave.open(folder))
    shelf = await desk.shelf(Visitor())
    assert [why in one.message for one in shelf.findings] == [True]
    assert len(await desk.skills(Visitor())) == 3


async def test_a_skill_over_the_limits_is_named_and_not_served(folder: Path) -> None:
    for number in range(513):
        (folder / "greeting" / f"{number}.txt").write_bytes(b"")
    shelf = await Desk(skillweave.open(folder)).shelf(Visitor())
    assert sorted(shelf.served) == ["skill://invoices"]
    assert "more than 512 files" in shelf.findings[0].message
