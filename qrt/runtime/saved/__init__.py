"""Saved programs: the kernel calls of plans, with packed weights, in a file that is mapped when loaded.

docs/internals/saved_programs.md describes the file.
"""
