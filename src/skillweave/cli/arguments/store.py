"""Which store of skills a command works on."""

from pathlib import Path
from typing import TYPE_CHECKING

from skillweave.cli.failure import Mistake
from skillweave.redaction import without_secrets

if TYPE_CHECKING:
    from skillweave.registry import WritableSource

_FORMS = "postgresql://USER:PASSWORD@HOST/NAME or sqlite:///FILE"


def named_store(url: str | None) -> "WritableSource":
    """The store of that URL, not opened yet.

    Raises Mistake where none is named and for what cannot be written to, and SkillweaveError for a URL that cannot be
    read or that nothing installed can open.
    """
    from skillweave.registry import WritableSource
    from skillweave.sources.named import SOURCES, source_of

    if url is None or not url.strip():
        raise Mistake(f"no store of skills is named; add --store {_FORMS}, or set `store` in skillweave.toml")
    if "://" not in url:
        # A user and a password may stand in what was meant as a URL.
        shown = url if "@" not in url else f"***@{url.rpartition('@')[2]}"
        raise Mistake(f"{shown!r} is no store of skills that can be written to; name a database, as {_FORMS}")
    scheme = url.partition("://")[0]
    if scheme not in SOURCES.names():
        raise Mistake(
            f"{without_secrets(url)} is no store of skills; name a database, as {_FORMS}, or install the package that "
            f"brings {scheme[:20]}://"
        )
    source = source_of(url)
    if not isinstance(source, WritableSource):
        raise Mistake(f"{without_secrets(url)} can be read and not written to; name a database, as {_FORMS}")
    return source


def existing_store(url: str | None) -> "WritableSource":
    """The store, which must be there already: none is made; raises Mistake where it is not, and like `named_store`."""
    store = named_store(url)
    scheme, _, rest = (url or "").partition("://")
    path = Path(rest.partition("?")[0].removeprefix("/"))
    if scheme == "sqlite" and not path.exists():
        raise Mistake(f"there is no store '{path}'; check its name, or fill one: skillweave seed --store {url}")
    return store
