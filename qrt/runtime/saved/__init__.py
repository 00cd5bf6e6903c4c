"""Saved programs: what a plan binds, with its packed weights, in a file that is mapped.
docs/internals/saved_programs.md says what stands where."""
