"""What commands print: an answer as JSON, or as text for people."""
