"""Skills of others, copied into a folder of skills: from a folder, an archive or a git repository, and taken out again.

What came from where stands in a lock file beside them. Nothing of a skill is ever run.
"""
