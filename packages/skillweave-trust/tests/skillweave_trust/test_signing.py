import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from skillweave import Status
from skillweave.errors import InvalidValue
from skillweave.sources import source_of
from skillweave_trust import Approvals, NotSigned, Trusted, sign_folder, verify_folder
from skillweave_trust.policy import policy_from

REFERENCE = [sys.executable, "-m", "model_signing"]
"""The command of the package that the format comes from."""


def write_keys(folder: Path, name: str, kind: str = "ec") -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1()) if kind == "ec" else ed25519.Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.key", folder / f"{name}.pem"
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    public.write_bytes(
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "greet"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nSay bonjour.\n")
    (folder / "scripts" / "hello.py").write_text("print('bonjour')")
    return folder


def test_what_was_signed_verifies_with_its_key_and_with_no_other(skill: Path, tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, "mine")
    _, other = write_keys(tmp_path, "other")
    sign_folder(skill, private)
    assert verify_folder(skill, [other, public]) == public
    with pytest.raises(NotSigned, match=r"other\.pem"):
        verify_folder(skill, [other])


@pytest.mark.parametrize("change", ["edited", "added", "removed"])
def test_a_file_that_changed_appeared_or_went_ends_a_signature(skill: Path, tmp_path: Path, change: str) -> None:
    private, public = write_keys(tmp_path, "mine")
    sign_folder(skill, private)
    script = skill / "scripts" / "hello.py"
    if change == "edited":
        script.write_text("print('stolen')")
    elif change == "added":
        (skill / "scripts" / "more.py").write_text("x")
    else:
        script.unlink()
    with pytest.raises(NotSigned):
        verify_folder(skill, [public])


def test_a_signature_of_ours_verifies_with_the_reference_command(skill: Path, tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, "mine")
    bundle = sign_folder(skill, private)
    command = [*REFERENCE, "verify", "key", str(skill), "--signature", str(bundle), "--public_key", str(public)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    (skill / "SKILL.md").write_text("changed")
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_a_signature_of_the_reference_command_verifies_with_ours(skill: Path, tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, "mine")
    bundle = skill / "skill.oms.sig"
    command = [*REFERENCE, "sign", "key", str(skill), "--signature", str(bundle), "--private_key", str(private)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert verify_folder(skill, [public]) == public


@pytest.mark.parametrize("cut", [0, 10, 500])
def test_a_truncated_bundle_is_no_signature(skill: Path, tmp_path: Path, cut: int) -> None:
    private, public = write_keys(tmp_path, "mine")
    bundle = sign_folder(skill, private)
    bundle.write_bytes(bundle.read_bytes()[:cut])
    with pytest.raises(NotSigned):
        verify_folder(skill, [public])


def test_a_key_of_the_wrong_kind_does_not_sign_and_the_error_says_which_do(skill: Path, tmp_path: Path) -> None:
    private, _ = write_keys(tmp_path, "wrong", "ed25519")
    with pytest.raises(InvalidValue, match="P-256"):
        sign_folder(skill, private)
    assert not (skill / "skill.oms.sig").exists()


async def test_a_policy_that_asks_for_a_signature_lets_in_what_its_key_signed(skill: Path, tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, "mine")
    policy = policy_from({"rule": [{"origin": "git:*", "needs": "signed", "keys": [public.name]}]}, tmp_path)
    source = Trusted(source_of(skill.parent), policy, origin="git:x", approvals=Approvals(tmp_path / "settings"))
    (held,) = (await source.load()).skills
    assert "it has no skill.oms.sig" in str(held.extra["held_back"])
    sign_folder(skill, private)
    assert (await source.load()).skills[0].status is Status.ACTIVE
    shutil.rmtree(skill / "scripts")
    assert (await source.load()).skills[0].status is Status.QUARANTINED
