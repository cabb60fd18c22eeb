"""Whose conversations and skills these are: the default tenant by its two names, and what a tenant may be called."""

from skillweave.errors import InvalidValue

DEFAULT_TENANT = "default"
"""The name of the default tenant for databases and people; in code it is the empty text, which means the same."""
LONGEST_TENANT = 200
"""Characters that the name of a tenant may have."""


def tenant_of(tenant: str) -> str:
    """The tenant as ports know it, so that the default tenant is one tenant whichever name it is given by.

    Every store of conversations or skills calls this where a tenant enters. Raises InvalidValue for a name that is too
    long, holds what cannot be printed, or begins or ends with a space.
    """
    if not isinstance(tenant, str):
        raise InvalidValue(f"tenant is {tenant!r:.60}; give a text, such as 'acme', or '' for the default tenant")
    if tenant in ("", DEFAULT_TENANT):
        return ""
    if len(tenant) > LONGEST_TENANT:
        raise InvalidValue(f"tenant {tenant[:40]!r}… has {len(tenant)} characters; give at most {LONGEST_TENANT}")
    if not tenant.isprintable():
        raise InvalidValue(f"tenant {tenant!r} holds an unprintable character; remove it")
    if tenant != tenant.strip():
        raise InvalidValue(f"tenant {tenant!r} begins or ends with an unseen space; write {tenant.strip()!r}")
    return tenant
