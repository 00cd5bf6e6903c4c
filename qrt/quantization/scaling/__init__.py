"""The passes `fold-scales` and `equalize-scales`, which move constant factors of channels into and between weights."""
