"""`skillweave sign` and `verify`: bundles of OpenSSF Model Signing over every file of a skill."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from skillweave.commands import OUTPUT, Answer, option

EXAMPLES = {
    "sign": """
skillweave sign skills/release --key release.key
""",
    "verify": """
skillweave verify skills/release --key release.pem
skillweave verify skills/release --key release.pem --key other.pem --json
""",
}
_Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="The folder of one skill.")]


def sign(
    folder: _Folder, key: Annotated[str, option(OUTPUT, "--key FILE", "Your private key, PEM, on a P curve.")]
) -> Answer:
    """Sign every file of a skill, into skill.oms.sig beside them.

    Nothing is sent anywhere. Others verify it with your public key, also by the command of model-signing.
    """
    from skillweave_trust.commands.shown import Signed, signed_text
    from skillweave_trust.signing import sign_folder

    shown = Signed(folder, str(sign_folder(Path(folder), Path(key))), None)
    return Answer(lambda: shown, partial(signed_text, shown))


def verify(
    folder: _Folder, key: Annotated[list[str], option(OUTPUT, "--key FILE", "A public key, PEM. Repeatable.")]
) -> Answer:
    """Say whose signature covers every file of a skill as it is; exit code 1 where nobody's does."""
    from skillweave_trust.commands.shown import Signed, signed_text
    from skillweave_trust.signing import SIGNATURE, verify_folder

    found = verify_folder(Path(folder), [Path(one) for one in key])
    shown = Signed(folder, str(Path(folder) / SIGNATURE), str(found))
    return Answer(lambda: shown, partial(signed_text, shown))
