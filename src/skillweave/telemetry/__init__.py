"""Observers for the telemetry systems of hosts, each behind an extra of its own."""
