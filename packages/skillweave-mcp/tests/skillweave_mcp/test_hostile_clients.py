"""Clients that mean harm: each gets an error of the protocol, and the server goes on."""

import httpx
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.skillweave_mcp.serving_in_tests import Anything, entry_at, listed, told


@pytest.mark.parametrize("method", ["skills/activate", "skills/", "resources/directory/write", "x" * 1000])
async def test_an_unknown_method_is_not_found(client: Client, method: str) -> None:
    request = types.Request[types.RequestParams, str](method=method, params=types.RequestParams())
    with pytest.raises(MCPError) as raised:
        await client.session.send_request(request, Anything)
    assert raised.value.error.code == types.METHOD_NOT_FOUND


@pytest.mark.parametrize("cursor", ["x" * 1_000_000, "%%%", "A", "/w==", "_w=="])
async def test_a_cursor_of_nobody_is_an_invalid_parameter(client: Client, cursor: str) -> None:
    with pytest.raises(MCPError) as raised:
        await listed(client, cursor)
    assert raised.value.error.code == types.INVALID_PARAMS
    assert len(raised.value.error.message) < 300


@pytest.mark.parametrize(
    "uri",
    [
        "skill://greeting/../invoices/SKILL.md",
        "skill://greeting/%2e%2e/invoices/SKILL.md",
        "skill://greeting/..%2Finvoices%2FSKILL.md",
        "skill:///etc/passwd",
        "file:///etc/passwd",
        "skill://greeting/SKILL.md?x=1",
        "skill://greeting/" + "a/" * 10_000,
        "\0",
    ],
)
async def test_no_uri_leads_out_of_a_skill(client: Client, uri: str) -> None:
    with pytest.raises(MCPError) as raised:
        await client.read_resource(uri)
    assert raised.value.error.code == types.INVALID_PARAMS


async def test_a_long_uri_is_not_repeated_whole(client: Client) -> None:
    with pytest.raises(MCPError) as raised:
        await entry_at(client, "skill://" + "a" * 1_000_000)
    assert len(raised.value.error.message) < 10_000


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("find_skill", {}, "needs request"),
        ("read_skill", {"name": "greeting", "path": "x"}, "not 'path'"),
        ("read_skill", {"name": ["greeting"]}, "name of read_skill is a text"),
        ("read_skill", {"name": "x" * 100_000}, "there is no skill"),
    ],
)
async def test_a_call_that_cannot_be_made_is_answered_in_words(
    client: Client, tool: str, arguments: dict[str, object], said: str
) -> None:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert isinstance(result.content[0], types.TextContent)
    assert said in result.content[0].text
    assert len(result.content[0].text) < 1_000


async def test_a_request_of_a_megabyte_is_answered(client: Client) -> None:
    assert await told(client, "find_skill", request="bonjour " * 130_000)


async def test_a_page_of_another_site_is_not_answered(address: str) -> None:
    async with httpx.AsyncClient() as http:
        answer = await http.post(address, json={}, headers={"Host": "evil.example", "Origin": "http://evil.example"})
    assert answer.status_code in (403, 421)


async def test_a_body_over_four_mebibytes_is_refused(address: str) -> None:
    async with httpx.AsyncClient() as http:
        answer = await http.post(address, content=b" " * (5 << 20), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
