"""Rewriting of programs: patterns, the greedy driver that applies them, and folding of constants."""
