"""The functions that export operations, by subject. `registry` lists them by operation."""
