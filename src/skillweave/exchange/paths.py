"""Which form a request has, by its path."""

from skillweave.exchange.chat import Chat
from skillweave.exchange.forms import Form
from skillweave.exchange.messages import Messages
from skillweave.exchange.responses import Responses

CHAT, RESPONSES, MESSAGES = Chat(), Responses(), Messages()
_BY_END: tuple[tuple[str, Form, bool], ...] = (
    ("/chat/completions", CHAT, False),
    ("/responses", RESPONSES, False),
    ("/messages", MESSAGES, False),
    ("/messages/count_tokens", MESSAGES, True),
)


def form_of(path: str) -> tuple[Form, bool] | None:
    """Returns the form of requests to this path, and whether they only count; None where it has none of the three."""
    return next(((form, counts) for end, form, counts in _BY_END if path.endswith(end)), None)
