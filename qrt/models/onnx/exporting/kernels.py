"""Replacement of a program's float loop nests by operations of `qrt`, such as `qrt.conv2d`, before the export.

The pass `fuse-kernels` recognizes most of these loop nests. During the export, the operations that replace them have
float operands, which no operation of `qrt` in a program may have.
"""

from collections.abc import Sequence
from typing import Any

from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.core.attributes import attribute
from qrt.ir.core.constraints import element_of
from qrt.models.onnx.exporting.averages import average_of
from qrt.models.onnx.exporting.programs import ExportedProgram, Programs, text_between, text_of
from qrt.quantization.forms import KernelForm, form_of
from qrt.quantization.forms.products import integer_products
from qrt.quantization.fusion.fuse_kernels import FuseKernels
from qrt.types import TensorType

_FLOATS = ("linalg.", "tensor.")
"""Dialects whose operations have no writers of their own."""
KERNEL = "quant.region"
Operand = tuple[Value, tuple[int, ...] | None]


def with_kernels(module: Module) -> tuple[Module, Programs]:
    """Return a copy of the module with operations of `qrt` in place of loop nests.

    Also return, for each of these operations, the program of the loop nests that it replaces. A module without loop
    nests is not copied.
    """
    if not any(op.name.startswith(_FLOATS) and op.name != "tensor.bitcast" for op in module.operation.walk()):
        return module, {}
    copy = Module(module.operation.clone({}))
    programs: dict[Operation, ExportedProgram] = {}
    _replace_nests(copy, programs)
    FuseKernels().run(copy)
    for op in copy.operation.walk():
        if op.name == KERNEL and len(op.results) == 1:
            form = form_of(op.regions[0].blocks[0], str(op.attributes["kernel"].python))
            if form is None or form.family == "lookup" or _is_one_op(op):
                _put_back(op)
            else:
                _replace(op, form, programs)
    return copy, programs


def _replace_nests(module: Module, programs: dict[Operation, ExportedProgram]) -> None:
    """Replace the loop nests that the pass `fuse-kernels` does not recognize by operations of `qrt`.

    These are averages that add elements in the order of a runtime, and sums of products of integers.
    """
    for op in reversed(module.operation.walk()):
        if op.name != "linalg.generic" or op.parent is None or len(op.results) != 1:
            continue
        average = average_of(op.results[0])
        if average is not None:
            attributes = {"kernel": average.kernel, "strides": average.strides}
            _replace_one(op, "avg_pool2d", [(average.source, None)], average.operations, attributes, programs)
            continue
        for reading in integer_products(op.results[0])[:1]:
            _replace_one(op, reading.family, reading.operands, reading.operations, reading.attributes, programs)


def _replace_one(
    root: Operation,
    family: str,
    operands: Sequence[Operand],
    operations: Sequence[Operation],
    attributes: Any,
    programs: dict[Operation, ExportedProgram],
) -> None:
    text = text_between([value for value, _ in operands], operations, root.results)
    if text is None:
        return
    builder = Builder(root)
    values = [_permuted(builder, value, permutation) for value, permutation in operands]
    kernel = _emit(builder, f"qrt.{family}", values, root.results[0], dict(attributes))
    arguments = tuple((i, permutation) for i, (_, permutation) in enumerate(operands))
    programs[kernel] = ExportedProgram(text, arguments)
    root.results[0].replace_all_uses(kernel.result)
    for operation in reversed(operations):
        operation.erase()


def _is_one_op(region: Operation) -> bool:
    """Return True if a region's body is a single operation of `qrt`.

    The export keeps this operation: a new operation created from the region would lack some attributes.
    """
    names = [operation.name for operation in region.regions[0].blocks[0]]
    return len(names) == 2 and names[0].startswith("qrt.")


def _put_back(region: Operation) -> None:
    """Replace a `quant.region` by the operations of its body."""
    body = region.regions[0].blocks[0]
    values = dict(zip(body.arguments, region.operands, strict=True))
    *operations, last = body
    assert region.parent is not None
    for operation in operations:
        region.parent.insert_before(region, operation.clone(values))
    returned = last.operands[0]
    region.results[0].replace_all_uses(values.get(returned, returned))
    region.erase()


def _replace(region: Operation, form: KernelForm, programs: dict[Operation, ExportedProgram]) -> None:
    builder, (result,) = Builder(region), region.results
    operands = [_permuted(builder, region.operands[operand.number], operand.permutation) for operand in form.operands]
    operation = last = _emit(builder, f"qrt.{form.family}", operands, result, dict(form.attributes))
    clamp = None
    if (form.low, form.high) != (None, None):
        last = clamp = _emit(builder, "qrt.clamp", [operation.result], result, {"min": form.low, "max": form.high})
    arguments = {operand.number: (i, operand.permutation) for i, operand in enumerate(form.operands)}
    if len(arguments) == len(region.operands):
        programs[operation] = ExportedProgram(
            _text_in(region), tuple(arguments[i] for i in range(len(arguments))), clamp
        )
    result.replace_all_uses(last.result)
    region.erase()


def _text_in(region: Operation) -> str:
    block = region.clone({}).regions[0].blocks[0]
    assert block.last is not None
    results = list(block.last.operands)
    block.last.erase()
    return text_of(block, results)


def _emit(builder: Builder, name: str, operands: list[Value], result: Value, attributes: dict[str, Any]) -> Operation:
    given = {key: attribute(value) for key, value in attributes.items() if value is not None}
    return builder.emit(name, operands, [result.type], given)


def _permuted(builder: Builder, value: Value, permutation: tuple[int, ...] | None) -> Value:
    if permutation is None or not isinstance(value.type, TensorType) or value.type.shape is None:
        return value
    kind = TensorType(tuple(value.type.shape[axis] for axis in permutation), element_of(value.type))
    return builder.emit("qrt.transpose", [value], [kind], {"permutation": attribute(permutation)}).result
