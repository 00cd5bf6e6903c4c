"""The export of regions as a target's own operations, by its legalization functions or by the kernels' names."""

from collections.abc import Sequence

from qrt.errors import QuantTypeError, VerifyError, plural
from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.core import registry
from qrt.ir.core.folding import Folds
from qrt.ir.core.verifier import verify_alone
from qrt.ir.dialects.linalg.lowering import tensor_type
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.rewriting.greedy import rewrite_greedily
from qrt.ir.rewriting.rewrite import Pattern
from qrt.ops.movement import transposed_element
from qrt.quantization.checking.kernels import fitting_signature
from qrt.quantization.export.casts import Casts
from qrt.quantization.export.ports import inputs, outputs
from qrt.quantization.targets.legalization import RegionCall, Rewrite, write_operation
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.quantization.targets.patterns import body_form, name_of, text_of
from qrt.types import TensorType, UniformType

Layout = Sequence[int] | None


def has_own_operation(target: Target | None, kernel: str) -> bool:
    """Return True if a target has a legalization function for a kernel, or an operation with the kernel's name."""
    signatures = () if target is None else target.signatures(kernel)
    is_registered = bool(signatures) and registry.find(kernel) is not None
    return is_registered or any(signature.legalize is not None for signature in signatures)


def legalize(region: RegionOp, target: Target, casts: Casts) -> list[Value]:
    """Emit the target's operations for a region whose ports are all quantized, and return the values of its results.

    Raises QuantTypeError, with the name of the legalization function, if the function fails or writes invalid
    operations.
    """
    kernel = fitting_signature(region, target)
    builder = Builder(region)
    call, layouts = _call_of(region, kernel, target, builder, casts)
    function = kernel.legalize or write_operation
    name = "the operation of its name" if kernel.legalize is None else f"legalization '{name_of(function)}'"
    block, before = region.parent, region.previous
    assert block is not None
    try:
        values = function(call)
    except Exception as error:  # a target's function may raise any exception
        raise QuantTypeError(f"{name} of target '{target.name}' fails: {text_of(error)}") from error
    written = _between(block.first if before is None else before.next, region)
    _check(call, values, written, f"{name} of target '{target.name}'")
    casts.operations += [operation for operation in written if operation.name.startswith("qrt.")]
    return [_restored(builder, value, layout, casts) for value, layout in zip(values, layouts, strict=True)]


def _call_of(
    region: RegionOp, kernel: TargetKernel, target: Target, builder: Builder, casts: Casts
) -> tuple[RegionCall, list[Layout]]:
    """Return the argument of a legalization function for a region, and the axis order of each result."""
    form = body_form(region.body, region.kernel, target)
    is_read = form is not None and (callable(kernel.pattern) or form.family == kernel.family)
    orders: list[tuple[int, Layout]] = [(n, None) for n in range(len(region.operands))]
    if form is not None and is_read:
        orders = [(operand.number, operand.permutation) for operand in form.operands]
    ports = kernel.ports(len(orders), len(region.results))
    if ports is None:
        raise QuantTypeError(f"kernel '{kernel.name}' of target '{target.name}' takes other operands than the body has")
    operands = []
    for (number, permutation), taken in zip(orders, ports[0], strict=True):
        port = inputs(region)[number]
        assert isinstance(port.spec, UniformType)  # the caller exports regions with float ports elsewhere
        operands.append(casts.stored(port.value, port.spec, _composed(permutation, taken, port.value)))
    layouts: list[Layout] = [
        _composed(None, taken, port.value) for port, taken in zip(outputs(region), ports[1], strict=True)
    ]
    results = tuple(
        _in_layout(tensor_type(port.value).with_(element=port.spec), layout)
        for port, layout in zip(outputs(region), layouts, strict=True)
    )
    given = {} if form is None or not is_read else {k: v for k, v in form.attributes.items() if v is not None}
    low, high = (form.low, form.high) if form is not None and is_read else (None, None)
    return RegionCall(region.kernel, builder, tuple(operands), results, given, low, high), layouts


def _composed(permutation: Sequence[int] | None, port: TargetPort, value: Value) -> tuple[int, ...] | None:
    """Return the permutation that transposes a value to the axis order of the target's port; None if no axis moves.

    ``permutation`` transposes the value to the axis order of the op family. The layout of the port is applied after it.
    """
    if port.layout is None:
        return None if permutation is None else tuple(permutation)
    rank = tensor_type(value).rank
    if rank != len(port.layout):
        raise QuantTypeError(
            f"port '{port.name}' has layout {','.join(map(str, port.layout))}, and the value rank {rank}"
        )
    return tuple(port.layout if permutation is None else (permutation[axis] for axis in port.layout))


def _in_layout(type: TensorType, layout: Layout) -> TensorType:
    if layout is None or type.shape is None:
        return type
    assert isinstance(type.element, UniformType)
    return TensorType(tuple(type.shape[axis] for axis in layout), transposed_element(type.element, layout))


def _restored(builder: Builder, value: Value, layout: Layout, casts: Casts) -> Value:
    """Transpose a result from the axis order ``layout`` of the target's operation back to that of the program."""
    if layout is None:
        return value
    inverse = [list(layout).index(axis) for axis in range(len(layout))]
    transposed = builder.create("qrt.transpose", value, permutation=inverse)
    casts.operations.append(transposed)
    return transposed.results[0]


def _between(first: Operation | None, last: Operation) -> list[Operation]:
    operations = []
    while first is not None and first is not last:
        operations.append(first)
        first = first.next
    return operations


def _check(call: RegionCall, values: object, written: Sequence[Operation], name: str) -> None:
    """Raise QuantTypeError if a legalization wrote invalid operations, or returned values of wrong number or type."""
    for operation in written:
        try:
            verify_alone(operation)
        except VerifyError as error:
            raise QuantTypeError(f"{name} writes invalid IR: {error.message}") from None
    if not isinstance(values, list | tuple) or not all(isinstance(value, Value) for value in values):
        raise QuantTypeError(f"{name} must return a list of {plural(len(call.results), 'value')}, one for each result")
    if len(values) != len(call.results):
        raise QuantTypeError(
            f"{name} must return {plural(len(call.results), 'value')}, one for each result, got {len(values)}"
        )
    for value, type in zip(values, call.results, strict=True):
        if value.type is not type:
            raise QuantTypeError(f"{name} must return a value of type {type}, the type of the result, got {value.type}")


def apply_rewrites(module: Module, target: Target) -> None:
    """Apply a target's rewrite patterns to an exported program until none applies.

    Raises VerifyError, with the name of the pattern, if a pattern fails, writes invalid IR, or never stops applying.
    """
    if target.rewrites:
        patterns = [_checked(rewrite, target) for rewrite in target.rewrites]
        rewrite_greedily(module.operation, Folds(), lambda operation: patterns)


def _checked(rewrite: Rewrite, target: Target) -> Pattern:
    name = f"rewrite '{name_of(rewrite)}' of target '{target.name}'"

    def checked(operation: Operation, builder: Builder) -> list[Value] | None:
        types = [value.type for value in operation.results]
        try:
            values = rewrite(operation, builder)
        except Exception as error:  # a target's function may raise any exception
            raise operation.op_error(f"{name} fails: {text_of(error)}") from error
        for value in values or ():
            if isinstance(value, Value) and value.operation is not None:
                try:
                    verify_alone(value.operation)
                except VerifyError as error:
                    raise operation.op_error(f"{name} writes invalid IR: {error.message}") from None
        if values and [getattr(value, "type", None) for value in values] != types:
            raise operation.op_error(
                f"{name} must return values of the types {', '.join(map(str, types))}, those of the results"
            )
        return values

    checked.__name__ = name_of(rewrite)
    return checked
