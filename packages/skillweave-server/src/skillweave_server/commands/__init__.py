"""Commands of the service: serve, keys, approvals."""
