"""What values are made of: findings, JSON, frozen values, checks of arguments, secrets left out."""

from skillweave.cachefile import CacheFolder
from skillweave.checking import Checked, shown
from skillweave.closing import ClosedOnExit, close_all
from skillweave.codec import Portable, read, write
from skillweave.diagnostics import Location, has_errors
from skillweave.frontmatter.codes import Code
from skillweave.frontmatter.documents import Document, read_json, read_yaml
from skillweave.frontmatter.yaml_text import Keys, Limits, resolved
from skillweave.frozen import EMPTY, FrozenDict, FrozenJson, Json, as_json, freeze_mapping, thaw
from skillweave.redaction import HIDDEN, without_keys, without_secrets
from skillweave.schemas import Definitions, Purpose, schema_of
from skillweave.tenants import DEFAULT_TENANT, tenant_of

__all__ = [
    "DEFAULT_TENANT",
    "EMPTY",
    "HIDDEN",
    "CacheFolder",
    "Checked",
    "ClosedOnExit",
    "Code",
    "Definitions",
    "Document",
    "FrozenDict",
    "FrozenJson",
    "Json",
    "Keys",
    "Limits",
    "Location",
    "Portable",
    "Purpose",
    "as_json",
    "close_all",
    "freeze_mapping",
    "has_errors",
    "read",
    "read_json",
    "read_yaml",
    "resolved",
    "schema_of",
    "shown",
    "tenant_of",
    "thaw",
    "without_keys",
    "without_secrets",
    "write",
]
