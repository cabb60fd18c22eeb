"""API keys: their text, what opens them, and what they may do."""

from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skillweave.errors import InvalidValue
from skillweave_stores.access import ApiKey, KeyNotFound, Scope, id_in, new_key, opens

drawn = st.binary(min_size=40, max_size=40)
KEY, SPELLED = new_key("ours", [Scope.WEAVE], now=7.0, random=bytes(range(40)))


@given(drawn)
def test_the_text_of_a_key_has_its_id_and_opens_it(random: bytes) -> None:
    key, spelled = new_key("ours", [Scope.READ], tenant="acme", now=7.0, random=random)
    assert id_in(spelled) == key.id == random[:8].hex()
    assert opens(spelled, key)


@given(drawn, drawn)
def test_a_key_opens_no_other_one(random: bytes, other: bytes) -> None:
    assume(random != other)
    key, _ = new_key("ours", [Scope.READ], now=7.0, random=random)
    _, spelled = new_key("ours", [Scope.READ], now=7.0, random=other)
    assert not opens(spelled, key)


@given(drawn, drawn)
def test_a_secret_opens_only_the_key_with_its_id(random: bytes, other: bytes) -> None:
    assume(random[:8] != other[:8])
    key, _ = new_key("ours", [Scope.READ], now=7.0, random=random)
    _, spelled = new_key("ours", [Scope.READ], now=7.0, random=other[:8] + random[8:])
    assert not opens(spelled, key)


@given(st.text() | st.from_regex(r"sw_[0-9a-f]{16}_[A-Za-z0-9_-]{40,46}"))
def test_any_other_text_opens_nothing(text: str) -> None:
    assume(text != SPELLED)
    assert not opens(text, KEY)


@given(st.integers(0, len(SPELLED) - 1), st.characters())
def test_a_text_that_differs_by_a_letter_opens_nothing(place: int, letter: str) -> None:
    other = f"{SPELLED[:place]}{letter}{SPELLED[place + 1 :]}"
    assume(other != SPELLED)
    assert not opens(other, KEY)


@given(drawn)
def test_no_text_opens_a_key_that_is_not_there(random: bytes) -> None:
    assert not opens(new_key("ours", [Scope.READ], now=7.0, random=random)[1], None)


@pytest.mark.parametrize(
    "text", ["", SPELLED[:-1], f"{SPELLED}A", f" {SPELLED}", f"{SPELLED}\n", SPELLED.upper(), KEY.hash]
)
def test_what_is_nearly_a_key_has_no_id_and_opens_nothing(text: str) -> None:
    assert id_in(text) is None
    assert not opens(text, KEY)


def test_only_the_hash_of_the_secret_is_kept() -> None:
    secret = SPELLED[len("sw_") + 17 :]
    assert KEY.hash == sha256(secret.encode()).hexdigest()
    assert secret not in str(KEY.to_dict())
    assert ApiKey.from_dict(KEY.to_dict()) == KEY


def test_keys_are_drawn_anew_each_time() -> None:
    assert new_key("ours", [Scope.READ], now=7)[1] != new_key("ours", [Scope.READ], now=7)[1]


@pytest.mark.parametrize("scope", Scope)
def test_a_key_may_what_its_scopes_say_and_admin_everything(scope: Scope) -> None:
    assert replace(KEY, scopes=frozenset({Scope.ADMIN})).may(scope)
    assert KEY.may(scope) == (scope is Scope.WEAVE)
    assert not replace(KEY, scopes=frozenset({Scope.ADMIN}), revoked_at=8.0).may(scope)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "0123"),
        ("id", SPELLED),
        ("hash", "ß" * 64),
        ("hash", SPELLED),
        ("name", " "),
        ("name", "a" * 101),
        ("name", "a\nb"),
        ("scopes", ()),
        ("scopes", ("all",)),
        ("tenant", "a\nb"),
        ("created_at", float("nan")),
        ("revoked_at", "now"),
    ],
    ids=str,
)
def test_a_field_of_another_form_is_refused_without_its_secret(field: str, value: object) -> None:
    with pytest.raises(InvalidValue, match=field) as refused:
        replace(KEY, **{field: value})  # type: ignore[arg-type]
    assert SPELLED not in str(refused.value)


def test_an_unknown_key_is_named_by_its_id() -> None:
    assert "there is no API key 'abc'" in str(KeyNotFound("abc"))
