"""The log of the service: one line of JSON for each entry, in ASCII, so that nothing in it can forge another line."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from skillweave.values import without_secrets


class JsonLines(logging.Formatter):
    """An entry as `{at, level, logger, message}`, one of a request with its fields in place of the message."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"at": at, "level": record.levelname.lower(), "logger": record.name}
        request = getattr(record, "request", None)
        if isinstance(request, dict):
            line |= request
        else:
            line["message"] = without_secrets(record.getMessage())
        if record.exc_info:
            line["trace"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(line)


def write_log(stream: TextIO | None = None, *, requests: bool = True) -> None:
    """Have this process write its log as lines of JSON, to standard error unless it is said otherwise.

    With `requests` false what goes wrong is written, and no line for each request.
    """
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    for old in tuple(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("skillweave").setLevel(logging.INFO)
    logging.getLogger("skillweave.access").setLevel(logging.INFO if requests else logging.WARNING)
