"""The HTTP service: the same engine behind an API, for any number of tenants and replicas (spec 8)."""
