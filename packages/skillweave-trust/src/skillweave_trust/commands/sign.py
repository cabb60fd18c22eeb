"""`skillweave sign` and `verify`: bundles of OpenSSF Model Signing over every file of a skill."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from skillweave.commands import OUTPUT, Answer, Mistake, option

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
    folder: _Folder,
    key: Annotated[
        str | None, option(OUTPUT, "--key FILE", "Your private key, PEM, on P-256, P-384 or P-521. Needed.")
    ] = None,
) -> Answer:
    """Sign a skill with your key.

    Covers every file of its folder, in skill.oms.sig beside them. Nothing is sent anywhere. Others verify it with your
    public key, also by the command of model-signing.
    """
    from skillweave_trust.commands.shown import Signed, signed_text
    from skillweave_trust.signing import sign_folder

    if key is None:
        raise Mistake("name the file of your private key with --key FILE")
    shown = Signed(folder, str(sign_folder(Path(folder), Path(key))), None)
    return Answer(lambda: shown, partial(signed_text, shown))


def verify(
    folder: _Folder,
    key: Annotated[
        list[str] | None, option(OUTPUT, "--key FILE", "A public key, PEM, that may have signed. Repeatable. Needed.")
    ] = None,
) -> Answer:
    """Say whose signature a skill has.

    It has to cover every file of the folder as it is now. The exit code is 1 where none of the keys made it.
    """
    from skillweave_trust.commands.shown import Signed, signed_text
    from skillweave_trust.signing import SIGNATURE, verify_folder

    if not key:
        raise Mistake("name the file of a public key with --key FILE")
    found = verify_folder(Path(folder), [Path(one) for one in key])
    shown = Signed(folder, str(Path(folder) / SIGNATURE), str(found))
    return Answer(lambda: shown, partial(signed_text, shown))
