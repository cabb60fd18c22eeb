"""Who asks what of a skill: rules by origin in the user's own `trust.toml`; a word that means nothing is refused."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from skillweave.errors import InvalidValue, nearest_names

__all__ = ["ASKING", "Need", "Policy", "Rule", "policy_from", "read_policy"]


class Need(StrEnum):
    """What a skill has to show before an agent may get it."""

    NOTHING = "nothing"
    LOCKED = "locked"
    SIGNED = "signed"
    APPROVED = "approved"


@dataclass(frozen=True, slots=True)
class Rule:
    """What skills of matching origins need; `keys` are the files of the public keys that may sign them.
    With `scan`, what has an error in a scan is held back all the same, until a person lets it in.

    `origin` is a pattern with `*` on the text `kind:source`, such as `git:https://github.com/owner/*` or `folder:*`.
    """

    origin: str
    needs: Need
    keys: tuple[Path, ...] = ()
    scan: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules in their order; the first that matches decides, and what none matches needs an approval."""

    rules: tuple[Rule, ...] = ()

    def rule_for(self, origin: str) -> Rule:
        """Returns what is asked of skills of that origin."""
        found = next((rule for rule in self.rules if fnmatchcase(origin, rule.origin)), None)
        return found or Rule("*", Need.APPROVED)


ASKING = Policy((Rule("folder:*", Need.NOTHING), Rule("pack:*", Need.NOTHING), Rule("code:*", Need.NOTHING)))
"""Trusts what the user has on this machine and asks for everything else: git, archives, HTTP, MCP."""
_KEYS = ("origin", "needs", "keys", "scan")


def read_policy(path: Path) -> Policy:
    """Returns the policy of a `trust.toml`. Raises InvalidValue naming the file, the place and the nearest word."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidValue(f"{path} cannot be read: {error}; correct it, nothing is trusted until then") from None
    try:
        return policy_from(data, path.parent)
    except InvalidValue as error:
        raise InvalidValue(f"{path}: {error}") from None


def policy_from(data: Mapping[str, object], folder: Path) -> Policy:
    """Returns the policy that the data describes, files of keys relative to the folder. Raises InvalidValue."""
    _require_known(data, ("rule",), "at the top")
    rules = data.get("rule", [])
    if not isinstance(rules, list):
        raise InvalidValue("rule is a table; write it as a list, with [[rule]]")
    own = tuple(_rule(rule, f"in rule {number}", folder) for number, rule in enumerate(rules, 1))
    return Policy((*own, *ASKING.rules))


def _rule(data: object, place: str, folder: Path) -> Rule:
    if not isinstance(data, Mapping):
        raise InvalidValue(f"{place} stands no table; write [[rule]] with origin and needs")
    _require_known(data, _KEYS, place)
    origin, needs, keys = data.get("origin"), data.get("needs"), data.get("keys", [])
    if not isinstance(origin, str) or not origin:
        raise InvalidValue(f'{place} origin is missing or no text; write one such as "git:https://example.org/*"')
    if needs not in tuple(Need):
        raise InvalidValue(f"{place} needs is {needs!r}; {_nearest(str(needs), tuple(Need))}")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise InvalidValue(f"{place} keys is no list of texts; name the files of public keys")
    need = Need(str(needs))
    if bool(keys) != (need is Need.SIGNED):
        fix = "name the keys that may sign" if need is Need.SIGNED else "leave them out, or say needs = 'signed'"
        raise InvalidValue(f"{place} keys and needs = '{need.value}' do not go together; {fix}")
    scan = data.get("scan", False)
    if not isinstance(scan, bool):
        raise InvalidValue(f"{place} scan is {scan!r}; write true or false")
    return Rule(origin, need, tuple(folder / key for key in keys), scan)


def _require_known(data: Mapping[str, object], known: Iterable[str], place: str) -> None:
    for key in data:
        if key not in known:
            raise InvalidValue(f"{place} {key!r} means nothing; {_nearest(key, tuple(known))}")


def _nearest(word: str, known: tuple[str, ...]) -> str:
    near = nearest_names(word, known)
    return f"did you mean '{near[0]}'?" if near else f"write one of {', '.join(known)}"
