"""Propagation: the choice of a type for each port of each region, so that every constraint of a target holds.

A *node* is a port of a region, or a place where the program fixes a type. A *value* connects its definitions with its
uses; a value that `scf` operations or calls pass on stays one value (`graph`). The pass selects a signature for each
region (`select`), groups nodes that must have one type into classes (`classes`), finds a range for each class
(`ranges`), derives types from ranges and constraints (`decide`), and adds a rescale where the two ends of an edge have
different types (`rescale`).
"""
