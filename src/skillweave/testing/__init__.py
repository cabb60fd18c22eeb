"""Fakes for skillweave's own ports, and contract suites that every implementation of a port can inherit.

The contract suites need pytest with pytest-asyncio, the state machine needs Hypothesis; the fakes need nothing.
"""
