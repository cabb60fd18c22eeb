"""Adapters: each translates one Injection into a host's types and a host's state into a Turn; it decides nothing."""
