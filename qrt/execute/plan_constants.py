"""The constants of a plan: what is computed before it is planned, and the arrays with which constants run."""

from dataclasses import dataclass
from math import prod

from qrt.dialects.quant.constant_casts import constant_attribute
from qrt.errors import QuantError
from qrt.execute.constants import SCALARS, captured, compute
from qrt.execute.interpret import TABLES
from qrt.execute.interpret.core import Compiler, ModuleCode, raise_located
from qrt.execute.operations import ArrayAttr, constant_array, family_call, family_name
from qrt.execute.planning.slots import empty
from qrt.execute.ports import choose
from qrt.execute.values import as_tensor
from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.core.constraints import with_element
from qrt.ir.core.rewrite import erase_dead, replace
from qrt.ops.core import Array, element_dtype, static_shape
from qrt.passes.options import ENTRY, OBSERVING, SATURATING, option
from qrt.passes.planned import OBSERVED, planned_operations
from qrt.types import IntegerType, TensorType, Type, UniformType

_CASTS = ("quant.scast", "tensor.cast")
"""The ops by which a constant has a type that no `arith.constant` has."""


@dataclass(frozen=True)
class FoldPlanConstants:
    """Computes operations of the plan of a function that read constants only, as `qrt.compile` does. Preserves every
    value.

    `constant-fold` differs: it works on the whole program, regions of loops and callees included, computes everything
    in the interpreter, and only results of static shape. This pass works on the operations that are planned: those of
    one function, and of its `scf.if` and `scf.while`. Ops that have kernels are computed by these, with the same bits.
    A result may have up to 16777216 elements, and a shape that its type leaves open: it becomes a constant and a
    `tensor.cast`. A quantized one becomes an integer constant and a `quant.scast`. What stays: an operation with
    effects; one that takes more than 65,536 steps; one with a result that no constant writes; one whose execution is an
    error. An op of `qrt` whose types do not fit each other is an error at once, and so is a constant that does not run.
    """

    entry: str = option("", ENTRY)
    saturating: bool = option(False, SATURATING)
    observed: bool = option(False, OBSERVING)

    def run(self, module: Module) -> None:
        function = choose(module, self.entry or None)
        folding = _Folding(module, function, self.saturating, self.observed)
        read: list[Operation] = []
        for op in planned_operations(function):
            if op.name == "arith.constant":
                folding.array(op.result)  # the first that does not run is the error
                continue
            if (arrays := folding.results(op)) is None:
                continue
            if not all(map(_is_written, op.results)) or (op.name in _CASTS and not _is_plain(op.result.type)):
                folding.arrays.update(zip(op.results, arrays, strict=True))
                continue
            read += [source for value in captured(op) if (source := value.operation) is not None]
            builder = Builder(op)
            replace(op, [folding.written(builder, a, v.type) for a, v in zip(arrays, op.results, strict=True)])
        erase_dead(read)


def hold_constants(module: Module, function: Operation, saturating: bool, observed: bool) -> None:
    """Puts the array that runs into each constant of a plan, after `fold-plan-constants`: one constant in place of an
    `arith.constant` and its casts, and of an operation whose result no constant writes. A constant that does not run is
    a ModelError."""
    folding = _Folding(module, function, saturating, observed)
    for op in planned_operations(function):
        if op.name == "arith.constant":
            if (array := folding.array(op.result)) is not None:
                op.attributes["value"] = ArrayAttr(array)
        elif op.name in _CASTS or not all(map(_is_written, op.results)):
            arrays = folding.results(op)
            if arrays is not None:
                builder = Builder(op)
                replace(op, [_held(builder, a, v.type) for a, v in zip(arrays, op.results, strict=True)])
    for op in planned_operations(function):
        if op.name == "arith.constant" and not op.result.uses:
            op.erase()


def _held(builder: Builder, array: Array, type: Type) -> Value:
    """Make a constant whose value is the array that runs, which no text spells."""
    return builder.value("arith.constant", (), type, {"value": ArrayAttr(array)})


class _Folding:
    """The arrays of a plan's constants, and of what is computed of them."""

    def __init__(self, module: Module, function: Operation, saturating: bool, observed: bool) -> None:
        self.code = ModuleCode(module, TABLES, saturating)
        self.function = function
        self.observed = observed
        self.arrays: dict[Value, Array] = {}

    def array(self, value: Value) -> Array | None:
        """Return the array of a constant; None for any other value."""
        op = value.operation
        if value in self.arrays or op is None:
            return self.arrays.get(value)
        try:
            if op.name == "arith.constant" and isinstance(value.type, (TensorType, *SCALARS)):
                self.arrays[value] = constant_array(op)
        except QuantError as error:
            self._refuse(op, error)
        except MemoryError as error:  # one value stands for all elements in the text
            self._refuse(op, QuantError(f"needs more memory than there is: {error}"))
        return self.arrays.get(value)

    def results(self, op: Operation) -> list[Array] | None:
        """Return the results of an operation on constants; None where they are not computed."""
        if any(self.array(value) is None for value in op.operands):
            return None
        used = captured(op)
        known = {value: array for value in used if (array := self.array(value)) is not None}
        if len(known) < len(used) or (self.observed and any(inner.name == OBSERVED for inner in op.walk())):
            return None
        if family_name(op) is None:
            return compute(op, known, Compiler(self.code))
        try:
            return _kernel_results(op, [known[value] for value in op.operands])
        except QuantError as error:
            self._refuse(op, error)
            return None
        except MemoryError:  # the run says so
            return None

    def _refuse(self, op: Operation, error: QuantError) -> None:
        """Raises the error at an operation, but for one in a region: it may never run."""
        if op.parent_operation is self.function:
            raise_located(op, error)

    def written(self, builder: Builder, array: Array, type: Type) -> Value:
        """A constant that has a type and an array, with the casts that it needs."""
        static = type.with_(shape=array.shape) if isinstance(type, TensorType) else type
        element = as_tensor(type).element
        stored = with_element(static, element.storage_type) if isinstance(element, UniformType) else static
        constant = builder.constant(constant_attribute(array, stored), stored)
        self.arrays[constant] = array
        for name, wanted in zip(_CASTS, (static, type), strict=True):
            if constant.type is not wanted:
                constant = builder.value(name, (constant,), wanted)
                self.arrays[constant] = array
        return constant


def _is_written(value: Value) -> bool:
    """Return True where an `arith.constant` and casts make a value of this type, or nothing does: no memref is a
    constant."""
    if not isinstance(value.type, (TensorType, *SCALARS)):
        return True
    element = as_tensor(value.type).element
    if isinstance(element, UniformType):
        return element.is_storage_castable
    return isinstance(value.type, TensorType) or not isinstance(element, IntegerType) or element.is_signless


def _is_plain(type: Type) -> bool:
    """Return True for a type that an `arith.constant` may have."""
    tensor = as_tensor(type)
    return tensor.has_static_shape and not isinstance(tensor.element, UniformType)


def _kernel_results(op: Operation, arrays: list[Array]) -> list[Array]:
    """The results as the plan would compute them, which has the interpreter's bits and takes less time."""
    types = tuple(as_tensor(v.type).with_(shape=a.shape) for v, a in zip(op.operands, arrays, strict=True))
    family, attributes, results = family_call(op, types)
    if len(results) == 1 and (offset := family.view_offset(types, results[0], attributes)) is not None:
        dtype, shape = element_dtype(results[0].element), static_shape(results[0], op.name)
        return [arrays[0].view(dtype).reshape(-1)[offset : offset + prod(shape)].reshape(shape)]
    outputs = [empty(result) for result in results]
    family.call(types, results, attributes)[0](*arrays, *outputs)
    return outputs
