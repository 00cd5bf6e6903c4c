"""The blocks of a program whose operations may be fused into regions."""

from collections.abc import Iterator

from qrt.ir import Block, Operation

KERNEL = "quant.kernel"
"""The attribute of a function that names the kernel that computes it."""
_OUTER = ("func.", "scf.", "affine.")
"""Prefixes of operations whose regions hold programs; the regions of other operations compute single elements."""


def blocks_of(module: Operation) -> Iterator[Block]:
    """Yield the blocks of all functions, loops and branches, except for functions with the attribute `quant.kernel`."""
    pending = [module]
    while pending:
        operation = pending.pop()
        for region in operation.regions:
            for block in region.blocks:
                if operation is not module:
                    yield block
                pending += [
                    inner for inner in block if inner.regions and inner.name.startswith((*_OUTER, "builtin.module"))
                    and KERNEL not in inner.attributes
                ]  # fmt: skip
