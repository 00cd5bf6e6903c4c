"""The choice of a type for each operand and result of each ``quant.region``, so that a target's constraints hold.

A *port* is an operand or a result of a region. A *node* of the graph (`graph`) is a port, or a cast of the program that
fixes a type. A *value* connects the node that defines it with the nodes that use it, also through `scf` operations and
calls.

The pass selects a kernel signature for each region (`select`), groups nodes that must have one type into classes
(`classes`), finds a range for each class (`ranges`), derives types from ranges and constraints (`decide`), and inserts
a rescale where a value is defined with one type and used with another (`rescale`).
"""
