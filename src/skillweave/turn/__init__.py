"""One turn, from what the conversation holds to the Injection: a step a file, `run.py` their order (spec 5)."""
