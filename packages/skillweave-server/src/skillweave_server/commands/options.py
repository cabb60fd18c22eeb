"""The options of commands that are about the service."""

from typing import Annotated, TypeAlias

from skillweave import WhenUnknown
from skillweave.commands import option, whole_number
from skillweave.weaver import OnStoreFailure

SERVICE, LISTENING, GATEWAY = "The service", "Listening", "The gateway"
DEFAULT_STORE = ".skillweave/service.db"

ServiceStore: TypeAlias = Annotated[
    str,
    option(
        SERVICE,
        "--store URL-or-FILE",
        "Where the service keeps everything: a file, or postgresql://USER:PASSWORD@HOST/NAME.",
    ),
]
RedisUrl: TypeAlias = Annotated[
    str | None,
    option(
        SERVICE,
        "--redis URL",
        "A Redis for conversations, working memory and events, which several services on one PostgreSQL share.",
    ),
]
ApprovalKeyFile: TypeAlias = Annotated[
    str | None,
    option(
        SERVICE,
        "--approval-key-file FILE",
        "The key that seals the log of approvals. Default: beside a store in a file; all services on one PostgreSQL "
        "need the same one to keep approvals.",
    ),
]
Host: TypeAlias = Annotated[
    str, option(LISTENING, "--host NAME", "Where to listen. Beyond this machine only with an API key.")
]
Port: TypeAlias = Annotated[
    int, option(LISTENING, "--port N", "The port; 0 for any that is free.", parser=whole_number)
]
FirstKey: TypeAlias = Annotated[
    bool,
    option(LISTENING, "--first-key", "If no key was ever made, make one that may do everything; it is printed once."),
]
StoreFailure: TypeAlias = Annotated[
    OnStoreFailure,
    option(
        SERVICE,
        "--on-store-failure WHAT",
        "What a turn does while conversations cannot be read or written: `continue` without its record, giving no "
        "skill that has tool rules or checkpoints, or `raise`, which answers 503.",
    ),
]
Unknown: TypeAlias = Annotated[
    WhenUnknown,
    option(
        SERVICE,
        "--when-unknown WHAT",
        "How a tool call is ruled while the rules of its conversation cannot be read: `deny`, or `allow`.",
    ),
]
Rate: TypeAlias = Annotated[
    str | None,
    option(LISTENING, "--rate N/minute", "Requests that each key may make in a minute, or `off`."),
]
TrustedProxies: TypeAlias = Annotated[
    list[str] | None,
    option(
        LISTENING,
        "--trusted-proxy ADDRESS-or-NETWORK",
        "A proxy whose X-Forwarded-For names the client. Repeatable; from nobody else does that header count.",
    ),
]
Drain: TypeAlias = Annotated[
    float,
    option(
        LISTENING,
        "--drain SECONDS",
        "After it is asked to stop, go on for so long while /readyz says that it is not ready, so that a load balancer "
        "can notice.",
    ),
]
Quiet: TypeAlias = Annotated[bool, option(LISTENING, "--no-access-log", "Log only what goes wrong, not each request.")]
Upstreams: TypeAlias = Annotated[
    list[str] | None,
    option(
        GATEWAY,
        "--upstream NAME=URL",
        "A provider that clients reach at /gateway/NAME/v1, with skills. Repeatable; a URL alone is called `default`.",
    ),
]
UpstreamKeys: TypeAlias = Annotated[
    list[str] | None,
    option(
        GATEWAY,
        "--upstream-key NAME=VARIABLE",
        "The variable that has the provider's key; then clients send a key of the service in its place. Repeatable.",
    ),
]
UpstreamPaths: TypeAlias = Annotated[
    list[str] | None,
    option(
        GATEWAY,
        "--upstream-path PATH",
        "A path beside those of models that passes too, such as embeddings.",
    ),
]
ApprovalWait: TypeAlias = Annotated[
    float,
    option(GATEWAY, "--approval-wait SECONDS", "How long a reply is held for a person's approval of a call."),
]
RequireConversation: TypeAlias = Annotated[
    bool,
    option(GATEWAY, "--require-conversation", "Refuse requests that name no conversation: without, rules hold less."),
]
KeyName: TypeAlias = Annotated[str, option(SERVICE, "--name TEXT", "What people know the key by.")]
KeyScopes: TypeAlias = Annotated[
    list[str] | None,
    option(
        SERVICE,
        "--scope NAME",
        "What it may do: read, weave (run turns), write (skills, entities), approve or admin (all). Repeatable. "
        "Default: read and weave",
    ),
]
KeyTenant: TypeAlias = Annotated[
    str,
    option(SERVICE, "--tenant NAME", "The tenant whose conversations and skills the key opens."),
]
CheckedLogs: TypeAlias = Annotated[
    str | None, option(SERVICE, "--tenant NAME", "The tenant whose log to check. Default: those of all tenants")
]
ShownLog: TypeAlias = Annotated[str, option(SERVICE, "--tenant NAME", "The tenant whose log to list.")]
