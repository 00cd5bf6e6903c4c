"""Constant folding by the interpreter."""

from dataclasses import dataclass
from math import prod

from qrt.dialects.quant.constant_casts import MAX_ELEMENTS, constant_attribute
from qrt.errors import QuantError
from qrt.execute.constants import MOST_ELEMENTS, SCALARS, captured, compute
from qrt.execute.interpret import TABLES
from qrt.execute.interpret.core import Compiler, ModuleCode
from qrt.execute.operations import constant_array
from qrt.execute.values import as_tensor
from qrt.ir import Attribute, Builder, Module, Operation, Value
from qrt.ir.core.constraints import with_element
from qrt.ir.core.matching import constant_of, cyclic_operations
from qrt.ir.core.rewrite import erase_dead, replace
from qrt.ops.core import Array
from qrt.passes.options import option
from qrt.types import IntegerType, TensorType, Type, UniformType


@dataclass(frozen=True)
class ConstantFold:
    """Computes operations that read constants only, whole ones with their regions. Preserves every value.

    The interpreter computes them. A quantized value becomes an integer constant and a `quant.scast`. What stays: an
    operation with effects; one with a result that is no scalar or tensor of static shape, or of more elements than
    `max-elements`; one whose execution is an error, or takes more than 65,536 steps.
    """

    max_elements: int = option(MAX_ELEMENTS, "the most elements of a result that is computed")

    def run(self, module: Module) -> None:
        folding = _Folding(module, self.max_elements)
        while folding.sweep():
            pass


class _Folding:
    def __init__(self, module: Module, max_elements: int) -> None:
        self.root = module.operation
        self.code = ModuleCode(module, TABLES, saturating=False)
        self.max_elements = max_elements
        self.refused: set[Operation] = set(cyclic_operations(self.root.walk()))
        """Operations that depend on themselves, and those whose fold was tried in vain."""

    def sweep(self) -> bool:
        """Folds operations once through, and returns whether any was folded. Another sweep finds an operation that
        stands in the text before one that it reads.
        """
        changed = False
        pending = [self.root]
        while pending:
            operation = pending.pop()
            if self.may_fold(operation) and self.fold(operation):
                changed = True
                continue
            inside = [child for region in operation.regions for block in region.blocks for child in block]
            pending.extend(reversed(inside))
        return changed

    def may_fold(self, operation: Operation) -> bool:
        """Whether an operation may be folded: constants, and casts of their storage, stay."""
        if not operation.results or not (operation.operands or operation.regions) or operation in self.refused:
            return False
        return not _is_quantized_constant(operation) and all(
            map(self.has_constants, (v.type for v in operation.results))
        )

    def has_constants(self, type: Type) -> bool:
        if not isinstance(type, (TensorType, *SCALARS)):
            return False
        tensor = as_tensor(type)
        if tensor.shape is None or not tensor.has_static_shape or tensor.encoding is not None:
            return False
        if isinstance(tensor.element, IntegerType) and not tensor.element.is_signless:
            return False
        return prod(size or 0 for size in tensor.shape) <= self.max_elements

    def fold(self, operation: Operation) -> bool:
        """Put constants in the place of an operation that reads only constants. Returns whether it did."""
        known: dict[Value, Array] = {}
        for value in captured(operation):
            array = self.value(value)
            if array is None:
                return False
            known[value] = array
        made = self.attributes(operation, known)
        if made is None:
            self.refused.add(operation)
            return False
        builder = Builder(operation)
        replace(operation, [builder.constant(each, v.type) for each, v in zip(made, operation.results, strict=True)])
        erase_dead([value.operation for value in known if value.operation is not None])
        return True

    def value(self, value: Value) -> Array | None:
        """The array of a known value: a constant, quantized or not, or a tensor whose elements nothing has set."""
        source = value.operation
        known: dict[Value, Array] = {}
        if source is None or prod(size or 0 for size in getattr(value.type, "shape", None) or ()) > MOST_ELEMENTS:
            return None
        try:
            if source.name == "arith.constant":
                return constant_array(source)
            if _is_quantized_constant(source):
                known = {operand: constant_array(operand.operation) for operand in source.operands if operand.operation}
            elif source.name != "tensor.empty" or source.operands:
                return None
        except QuantError:  # elements that do not run
            return None
        made = compute(source, known, Compiler(self.code))
        return None if made is None else made[0]

    def attributes(self, operation: Operation, known: dict[Value, Array]) -> list[Attribute] | None:
        """The results as constants; None where there are none."""
        arrays = compute(operation, known, Compiler(self.code))
        if arrays is None:
            return None
        try:
            return [constant_attribute(a, _stored(v.type)) for a, v in zip(arrays, operation.results, strict=True)]
        except QuantError:  # elements that are kept in no array
            return None


def _is_quantized_constant(operation: Operation) -> bool:
    is_cast = operation.name == "quant.scast" and isinstance(as_tensor(operation.results[0].type).element, UniformType)
    return is_cast and constant_of(operation.operands[0]) is not None


def _stored(type: Type) -> Type:
    """The type of the constant that a value of `type` is made of."""
    element = as_tensor(type).element
    return with_element(type, element.storage_type) if isinstance(element, UniformType) else type
