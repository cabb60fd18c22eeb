"""Taking passwords and keys out of a text before anybody sees it: the one place that knows what they look like."""

import re

HIDDEN = "***"
MOST_OF_AN_ERROR = 500
"""Characters of an error of somebody else's code that are told."""
_URL_USER = re.compile(
    # Up to the last @ of the word, as a password may hold any sign; over blanks too, unless a port comes first. What
    # messages give as the form of a URL stays.
    r"(?<=://)(?!(?i:user:password)@)(?:\S*@|[^\s@/:]*:(?!\d+(?:\W|$))[^@\n]*@)"
)
_IN_QUERY = re.compile(r"(?i)(?<=[?&])([\w.-]*(?:password|passwd|passphrase|secret|token|key))=[^&\s'\"]+")
_PASSWORD = re.compile(r"(?i)\b((?:password|passwd)\s*=\s*)(?:'[^'\n]*'|[^&\s'\"]+)")
"""As PostgreSQL's library writes one, outside of any URL."""
_KEY = re.compile(r"\b(?:sk|pk|gsk|xai|key|AIza)[-_A-Za-z0-9*.]{12,}|(?<=[Bb]earer )\S+")
"""How the keys of providers of models begin. Ids of skills may begin so too."""
_OWN_KEY = re.compile(r"\b(sw_[0-9a-f]{16}_)[A-Za-z0-9_-]{20,}")
"""An API key of the service; its id is no secret."""


def without_secrets(text: str) -> str:
    """The text with `***` for the user and password of a URL, for what is called a password, and for our API keys."""
    hidden = _IN_QUERY.sub(rf"\1={HIDDEN}", _URL_USER.sub(f"{HIDDEN}@", text))
    return _OWN_KEY.sub(rf"\g<1>{HIDDEN}", _PASSWORD.sub(rf"\g<1>{HIDDEN}", hidden))


def without_keys(text: str) -> str:
    """The text without secrets, and with `***` for what looks like the key of a provider."""
    return _KEY.sub(HIDDEN, without_secrets(text))


def error_in_words(error: BaseException) -> str:
    """The kind and the message of what somebody else's code raised: without secrets, and not all of a long one."""
    text = without_secrets(f"{type(error).__name__}: {str(error)[: 4 * MOST_OF_AN_ERROR]}")
    return text if len(text) <= MOST_OF_AN_ERROR else f"{text[: MOST_OF_AN_ERROR - 1]}…"
