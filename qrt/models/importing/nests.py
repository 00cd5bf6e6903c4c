"""The place where loop nests are made for operators on floats.

A nest says the order of every sum and what is rounded, so that its results have the bits of the runtime's kernels where
these keep to one order.
"""

from qrt.ir.dialects.linalg.lowering import LoweringContext
from qrt.models.importing.node import Node


def lowering_context(node: Node) -> LoweringContext:
    """The end of the function, where nests are made."""
    return LoweringContext(node.graph.block, node.graph.location(node.op))
