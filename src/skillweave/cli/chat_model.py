"""A chat model by its name, and what went wrong with it in words that say what to do."""

import os
import re
from typing import TYPE_CHECKING

from skillweave.cli.failure import Mistake
from skillweave.errors import MissingExtra
from skillweave.redaction import HIDDEN, without_keys

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_EXAMPLE = "anthropic:claude-sonnet-5"
_PACKAGE = re.compile(r"pip install (?:-U )?([\w.-]+)")
_KEYS = {
    "azure_openai": "AZURE_OPENAI_API_KEY",
    "bedrock": "AWS_ACCESS_KEY_ID",
    "bedrock_converse": "AWS_ACCESS_KEY_ID",
    "google_genai": "GOOGLE_API_KEY",
    "google_vertexai": "GOOGLE_APPLICATION_CREDENTIALS",
    "huggingface": "HUGGINGFACEHUB_API_TOKEN",
    "mistralai": "MISTRAL_API_KEY",
}
"""Where a provider's key is read, where it is not its name with _API_KEY."""
_SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_LONGEST = 300
_ABOUT_KEYS = re.compile(r"api[ _-]?key|credential|authenticat|unauthori[sz]ed|access token", re.IGNORECASE)
_ABOUT_NETWORK = re.compile(r"connect|timeout|timed ?out|network|resolv", re.IGNORECASE)


def open_model(named: str) -> "BaseChatModel":
    """The model that `provider:name` stands for, through LangChain's `init_chat_model`.

    Raises Mistake for a name of another form, an unknown provider and a missing key, each with the remedy; MissingExtra
    without LangChain.
    """
    provider, separator, model = named.partition(":")
    if not separator or not provider.strip() or not model.strip():
        raise Mistake(f"{named[:100]!r} names no model; give it as provider:name, such as {_EXAMPLE}")
    try:
        from langchain.chat_models import init_chat_model
    except ModuleNotFoundError:
        raise MissingExtra("a conversation with a model", "langchain", "langchain") from None
    try:
        return init_chat_model(model.strip(), model_provider=provider.strip())
    except ImportError as error:
        raise Mistake(_missing_package(provider, error)) from None
    except Exception as error:  # noqa: BLE001 - the providers' packages have no exception in common
        raise model_failure(error, named) from None


def model_failure(error: Exception, named: str) -> Mistake:
    """What a failure of the model means for its user; no key stands in it, and no traceback."""
    provider = named.partition(":")[0].strip().replace("-", "_").lower()
    known = _known_providers(str(error))
    if known:
        return Mistake(f"LangChain knows no provider {provider[:60]!r}; use one of {known}")
    status, kind, said = getattr(error, "status_code", None), type(error).__name__, _first_line(error)
    if status in (401, 403) or (status is None and _ABOUT_KEYS.search(f"{kind} {said}")):
        variable = _KEYS.get(provider, f"{provider.upper()}_API_KEY")
        return Mistake(f"{provider} got no key, or refuses the one that it got; set {variable} to a valid key")
    if status == 404 or kind == "NotFoundError":
        return Mistake(f"{provider} knows no model {named.partition(':')[2][:100]!r}; check its name ({said})")
    if status == 429 or "RateLimit" in kind:
        return Mistake(f"{provider} takes no more requests now (a rate limit or a quota); wait, then try again")
    if status is None and (isinstance(error, OSError) or _ABOUT_NETWORK.search(kind)):
        return Mistake(f"{provider} does not answer ({kind}); check the network, then try again")
    return Mistake(
        f"the model {named[:100]} failed with {kind}: {said or 'it does not say why'}; try again, or another model"
    )


def without_own_keys(text: str) -> str:
    """The text without what looks like a key, or is the value of a variable whose name says that it is one."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAMES.search(name):
            text = text.replace(value, HIDDEN)
    return without_keys(text)


def _first_line(error: BaseException) -> str:
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return without_own_keys(line)[:_LONGEST]


def _missing_package(provider: str, error: ImportError) -> str:
    found = _PACKAGE.search(str(error))
    package = found.group(1) if found else f"langchain-{provider.strip().replace('_', '-')}"
    cause = error.__cause__
    if cause is not None and not isinstance(cause, ModuleNotFoundError):
        return (
            f"the package {package} is installed and does not fit the other packages ({_first_line(cause)}); "
            f"pip install -U {package} 'skillweave[langchain]'"
        )
    return (
        f"models of {provider.strip()[:60]} need the package {package}, which is not installed: pip install {package}"
    )


def _known_providers(said: str) -> str:
    found = re.search(r"Supported model providers are: ([\w, ]+)", said)
    return found.group(1).strip() if found else ""
