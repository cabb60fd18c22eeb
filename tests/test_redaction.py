"""What is hidden in a text before anybody sees it, and what must stay."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.redaction import without_keys, without_secrets
from skillweave_stores.access import new_key

SIGNS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1)


@given(SIGNS)
def test_a_password_in_a_url_is_hidden_whatever_signs_it_has(password: str) -> None:
    assert without_secrets(f"cannot reach postgresql://me:{password}@db/skills; try") == (
        "cannot reach postgresql://***@db/skills; try"
    )


@given(st.text(min_size=1))
def test_an_encoded_password_in_a_url_is_hidden(password: str) -> None:
    assert without_secrets(f"'redis://:{quote(password)}@db:6379/0'") == "'redis://***@db:6379/0'"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("'x://a:b/@c@h/0'", "'x://***@h/0'"),
        ("x://a:b@h?Token=t&b=1 y://c@h", "x://***@h?Token=***&b=1 y://***@h"),
        ("x://h/db?user=me&password=hush hush", "x://h/db?user=me&password=*** hush"),
        ("x://h/db?sslpassword=hush&sslmode=require", "x://h/db?sslpassword=***&sslmode=require"),
        ("postgresql://me:two words@h/db", "postgresql://***@h/db"),
        ("host=h password='two words' dbname=d", "host=h password=*** dbname=d"),
    ],
)
def test_a_secret_is_hidden_wherever_it_may_stand(said: str, shown: str) -> None:
    assert without_secrets(said) == shown


@pytest.mark.parametrize(
    "said",
    [
        "PostgreSQL at db:5432/skills does not answer; check that it runs",
        "redis://db:6379 does not answer; ask ann@example.org",
        "'--memory': 'x' is no KEY=VALUE; write for example entity_id=ship-7",
        "skill 'key-account-review' is not in the registry; did you mean 'sk-learn-pipeline'?",
        "give transcript= and token_estimate=5",
        "write postgresql://user:password@host:5432/name, or --store postgresql://USER:PASSWORD@HOST/NAME",
    ],
)
def test_what_is_no_secret_stays(said: str) -> None:
    assert without_secrets(said) == said


def test_the_keys_of_providers_are_hidden_where_models_are_asked() -> None:
    assert without_keys("refused sk-0123456789abcdef, x://a:b@h (Bearer abc") == "refused ***, x://***@h (Bearer ***"


def test_of_an_api_key_of_the_service_only_its_id_stays() -> None:
    _, spelled = new_key("agent", ["read"], now=1.0, random=bytes(range(40)))
    assert without_secrets(f"key {spelled!r} is refused") == "key 'sw_0001020304050607_***' is refused"
