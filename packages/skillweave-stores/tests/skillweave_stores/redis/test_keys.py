from hypothesis import given
from hypothesis import strategies as st

from skillweave_stores.redis.keys import conversation_of, keys_of

NAMES = st.text(alphabet=st.sampled_from("ab:{}%/*?[]\\^ -ü3A"), min_size=1, max_size=8)
TENANTS = st.one_of(st.just(""), NAMES.map(str.strip))


def slot_part(key: str) -> str:
    """What a cluster takes of a key: what stands between its first brace and the next, else all of it."""
    inside = key.partition("{")[2].partition("}")[0]
    return inside or key


def test_the_default_tenant_has_the_names_that_other_programs_know() -> None:
    keys = keys_of("", "conv-001")
    assert (keys.ledger, keys.state) == ("skill:ledger:conv-001", "skillweave:state:{skill:ledger:conv-001}")
    assert keys_of("default", "conv-001") == keys


@given(TENANTS, NAMES)
def test_all_keys_of_a_conversation_have_one_slot(tenant: str, conversation: str) -> None:
    keys = keys_of(tenant, conversation)
    assert slot_part(keys.state) == slot_part(keys.decisions) == slot_part(keys.ledger) == keys.ledger


@given(TENANTS, NAMES, TENANTS, NAMES)
def test_no_two_conversations_share_a_key(tenant: str, conversation: str, other: str, another: str) -> None:
    ours, theirs = keys_of(tenant, conversation), keys_of(other, another)
    assert (ours == theirs) == ((tenant, conversation) == (other, another))


@given(TENANTS, NAMES)
def test_a_conversation_is_known_by_its_key(tenant: str, conversation: str) -> None:
    assert conversation_of(tenant, keys_of(tenant, conversation).state) == conversation


@given(NAMES.map(str.strip).filter(bool), NAMES)
def test_a_conversation_of_another_tenant_is_none_of_the_default_one(tenant: str, conversation: str) -> None:
    assert conversation_of("", keys_of(tenant, conversation).state) is None
