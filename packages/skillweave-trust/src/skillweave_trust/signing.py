"""Signatures of skills as OpenSSF Model Signing bundles, made and verified offline with keys on NIST P curves."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from skillweave.errors import InvalidValue
from skillweave.manifest import Manifest
from skillweave_trust.scripts.staging import staged

__all__ = ["SIGNATURE", "NotSigned", "require_signed", "sign_folder", "verify_folder"]

SIGNATURE = "skill.oms.sig"
"""The bundle's place in a skill's folder; it covers every other file there."""
_MOST_BYTES = 4 * 1024 * 1024


class NotSigned(InvalidValue):
    """A skill without a signature that holds; the text says what is wrong."""


def sign_folder(folder: Path, key: Path) -> Path:
    """Signs every file of a skill's folder with the private key and returns the bundle's path. Raises InvalidValue."""
    from skillweave_trust.bundles import hashing, signing

    place = folder / SIGNATURE
    if not (folder / "SKILL.md").is_file():
        raise InvalidValue(f"{folder} has no SKILL.md; name the folder of a skill")
    with tempfile.TemporaryDirectory() as beside:
        made = Path(beside) / SIGNATURE
        try:
            config = signing().use_elliptic_key_signer(private_key=key)
            config.set_hashing_config(hashing(place)).sign(folder, made)
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise InvalidValue(
                f"{folder} is not signed: {error}; a private key on P-256, P-384 or P-521 signs"
            ) from None
        place.write_bytes(made.read_bytes())
    return place


def verify_folder(folder: Path, keys: Sequence[Path]) -> Path:
    """Returns the key whose signature covers every file of the folder as it is. Raises NotSigned."""
    from skillweave_trust.bundles import hashing, verifying

    place = folder / SIGNATURE
    if not place.is_file():
        raise NotSigned(f"{folder} has no {SIGNATURE}")
    if place.stat().st_size > _MOST_BYTES:
        raise NotSigned(f"{SIGNATURE} has more than {_MOST_BYTES >> 20} MiB")
    problems: list[str] = []
    for key in keys:
        config, hashed = verifying(), hashing(place)
        try:
            config.use_elliptic_key_verifier(public_key=key).set_hashing_config(hashed).verify(folder, place)
        except Exception as error:  # noqa: BLE001 - a bundle of a stranger can break its reader in any way
            problems.append(f"{key.name}: {str(error)[:200] or type(error).__name__}")
        else:
            return key
    raise NotSigned(f"its signature holds for none of the keys ({'; '.join(problems) or 'no key was named'})")


def require_signed(files: Mapping[str, bytes], manifest: Manifest, keys: Sequence[Path]) -> Path:
    """Returns the key that signed these bytes, on a copy that nobody else can change. Raises NotSigned."""
    try:
        with staged(files, manifest) as stage:
            return verify_folder(stage.skill, keys)
    except NotSigned:
        raise
    except InvalidValue as error:
        raise NotSigned(str(error)) from None
