"""Where conversations are kept: each backend is one file and passes the public contract suite."""
