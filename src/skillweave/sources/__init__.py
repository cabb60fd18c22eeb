"""Where skills come from: folders, packs and code; one source per file."""
