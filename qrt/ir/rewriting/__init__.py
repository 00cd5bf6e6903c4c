"""Rewriting of programs by patterns, which make operations with a builder."""
