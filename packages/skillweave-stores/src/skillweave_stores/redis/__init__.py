"""Conversation states on Redis, Valkey, or a cluster of them (spec 5.4).

`store.py` reads like the port; `keys.py` names the keys, `scripts.py` runs inside the server, `server.py` is the way
there and back, `place.py` its URL, `failures.py` what its errors mean, `durability.py` what it may lose.
"""
