"""The choice of a type for each operand and result of each ``quant.region``, so that a target's constraints hold.

A *port* is an operand or a result of a region. A *node* of the graph (`graph`) is a port, or a cast of the program that
fixes a type. A *value* connects the node that defines it with the nodes that use it, also through `scf` operations and
calls.

The pass has five steps:

1. `select` chooses a kernel signature for each region.
2. `classes` groups nodes that must have one type into classes.
3. `ranges` finds a range for each class.
4. `decide` derives types from ranges and constraints.
5. `rescale` inserts a rescale where a value is defined with one type and used with another.
"""
