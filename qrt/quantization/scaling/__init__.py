"""The passes `fold-scales` and `equalize-scales`, which move constant factors between weights."""
