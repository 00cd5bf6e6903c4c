"""Propagation: which type each port of each region has, so that every constraint of a target holds.

A *node* is a port of a region, or a place where a program fixes a type. A *value* is what a definition gives to its
uses; what `scf` and calls carry is one value (`graph`). The steps are those of the pass: a signature for each region
(`select`), nodes of one type as one class (`classes`), a range for each class (`ranges`), types from ranges and
constraints (`decide`), and a rescale where the ends of an edge have two types (`rescale`).
"""
