"""Sizes that a program reads from values on the way are read where they come from, so that no pattern ends there."""

from qrt.ir import Builder, IntegerAttr, Module
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import acyclic_operations, constant_of
from qrt.quantization.fusion.wrap_region import with_extent


def move_sizes(module: Module) -> None:
    """Makes each `tensor.dim` of an elementwise op, of a nest of loops or of a padded tensor one of the operand that
    has the extent."""
    for operation in acyclic_operations(module.operation):
        if operation.name != "tensor.dim":
            continue
        axis = constant_of(operation.operands[1])
        if not isinstance(axis, IntegerAttr):
            continue
        value, own = with_extent(operation.operands[0], axis.value)
        if value is not operation.operands[0]:
            operation.set_operands([value, Builder(operation).constant(own, INDEX)])
