"""Skills of strangers: what a skill must show before it is given, signatures, scans, and scripts in a sandbox."""
