"""`skillweave gateway`: a base URL for an agent, behind which its model gets skills; on the embedded store."""

from skillweave.commands import AsJson, Loading, Mistake, Selecting
from skillweave_server.commands import options as of_service
from skillweave_server.commands.serve import serve

EXAMPLES = {
    "gateway": """
skillweave gateway --skills skills --upstream https://api.anthropic.com
skillweave gateway --skills skills --upstream openai=https://api.openai.com --upstream local=http://127.0.0.1:11434/v1
"""
}


def gateway(
    upstream: of_service.Upstreams = None,
    host: of_service.Host = "127.0.0.1",
    port: of_service.Port = 8322,
    store: of_service.ServiceStore = of_service.DEFAULT_STORE,
    upstream_key: of_service.UpstreamKeys = None,
    upstream_path: of_service.UpstreamPaths = None,
    approval_wait: of_service.ApprovalWait = 240.0,
    require_conversation: of_service.RequireConversation = False,
    no_access_log: of_service.Quiet = False,
    as_json: AsJson = False,
    *,
    loading: Loading,
    selecting: Selecting,
) -> None:
    """Stand between an agent and its model, so that it gets skills.

    Only the agent's base URL changes: the lines that it prints point Claude Code, Codex and any SDK here. It is
    `skillweave serve` with what an agent on this machine needs; keys, PostgreSQL and Redis are options of that.
    """
    if not upstream:
        raise Mistake("no provider is named; add --upstream URL, such as --upstream https://api.anthropic.com")
    serve(
        host=host,
        port=port,
        store=store,
        upstream=upstream,
        upstream_key=upstream_key,
        upstream_path=upstream_path,
        approval_wait=approval_wait,
        require_conversation=require_conversation,
        no_access_log=no_access_log,
        as_json=as_json,
        loading=loading,
        selecting=selecting,
    )
