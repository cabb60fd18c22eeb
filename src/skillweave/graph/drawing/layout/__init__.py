"""Where the boxes, labels and arrows of a layered drawing go: numbers only, no text and no format (spec 3.6)."""
