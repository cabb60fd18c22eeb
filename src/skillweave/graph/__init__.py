"""Where a conversation stands among its skills. The cursor is part of every State; the graph itself comes later."""
