"""What `doctor` looks at, one file for each kind of thing; each looks for itself, and none stops the others."""
