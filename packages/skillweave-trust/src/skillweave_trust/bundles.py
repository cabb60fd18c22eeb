"""The package that makes and reads the bundles, imported when one is there to be made or read."""

from pathlib import Path
from typing import TYPE_CHECKING

from skillweave.errors import SkillweaveError

if TYPE_CHECKING:
    from model_signing.hashing import Config as Hashing
    from model_signing.signing import Config as Signing
    from model_signing.verifying import Config as Verifying

__all__ = ["hashing", "signing", "verifying"]

_INSTALL = "signatures need the package model-signing: `pip install model-signing pyopenssl`"


def hashing(signature: Path) -> "Hashing":
    """How files are hashed: each, but for the signature itself and what git keeps."""
    try:
        from model_signing.hashing import Config
    except ImportError:
        raise SkillweaveError(_INSTALL) from None
    config = Config()  # type: ignore[no-untyped-call]
    return config.set_ignored_paths(paths=[signature], ignore_git_paths=True)


def signing() -> "Signing":
    """What signs."""
    try:
        from model_signing.signing import Config
    except ImportError:
        raise SkillweaveError(_INSTALL) from None
    return Config()  # type: ignore[no-untyped-call]


def verifying() -> "Verifying":
    """What verifies."""
    try:
        from model_signing.verifying import Config
    except ImportError:
        raise SkillweaveError(_INSTALL) from None
    return Config()  # type: ignore[no-untyped-call]
