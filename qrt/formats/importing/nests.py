"""The place where loop nests are made for operators on floats.

A nest says the order of every sum and what is rounded, so that its results have the bits of the runtime's kernels where
these keep to one order.
"""

from qrt.formats.importing.node import Node
from qrt.ir.builder import Builder
from qrt.passes.lower_qrt.site import Site


def site_of(node: Node) -> Site:
    """The end of the function, where nests are made."""
    return Site(Builder(node.graph.block, node.graph.location(node.op)), loops=False, in_loop=False)
