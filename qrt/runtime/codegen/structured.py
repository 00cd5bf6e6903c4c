"""Emission of elementwise ops on scalars and tensors, and of the structured ops of ``linalg``, as loop nests."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir as ll

from qrt.errors import QuantError, UndefinedError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import plain_loops
from qrt.ir.dialects.arith.scalars import bind_operation
from qrt.ir.dialects.linalg.ops import STRUCTURED_OPS, StructuredOp
from qrt.runtime.codegen import floats, integers
from qrt.runtime.codegen.buffers import Buffer, Index, Shape
from qrt.runtime.codegen.elements import I32, element_form, is_buffer, scalar_type
from qrt.runtime.codegen.emitter import Emitter, Handler, is_index, not_emitted
from qrt.runtime.codegen.indices import evaluate, result_bounds
from qrt.runtime.codegen.integers import Emit, ScalarOp
from qrt.runtime.codegen.loop_order import structured_order
from qrt.runtime.loops import extents
from qrt.types import MemRefType, VectorType

OPS: Mapping[str, Emit] = {**integers.OPS, **floats.OPS}


# -- elementwise ops ---------------------------------------------------------------------------------------------------


def _elementwise(e: Emitter, op: Operation) -> None:
    if any(is_buffer(value.type) for value in op.results):
        _on_tensors(e, op)
        return
    known = [e.known(value) for value in op.operands]
    if all(number is not None for number in known) and (numbers := _evaluated(e, op, known)) is not None:
        for value, number in zip(op.results, numbers, strict=True):
            e.define_known(value, number)
        return
    operands = [e.register(value) for value in op.operands]
    if any(isinstance(value.type, VectorType) for value in (*op.operands, *op.results)):
        registers = _on_vectors(e, op, operands, known)
    else:
        registers = _applied(ScalarOp(e, op, operands, known))
    for value, register in zip(op.results, registers, strict=True):
        e.define(value, register, result_bounds(e, op) if is_index(value.type) else None)


def _evaluated(e: Emitter, op: Operation, known: Sequence[Any]) -> tuple[Any, ...] | None:
    """Compute an op on known operands, and return its results. Return None if the op is undefined for these operands.

    The caller then emits the op, so that the error is raised when the program runs.
    """
    try:
        with np.errstate(all="ignore"):
            results = bind_operation(op, saturating=e.saturating)(*known)
    except UndefinedError:
        return None
    return results if isinstance(results, tuple) else (results,)


def _applied(s: ScalarOp) -> tuple[Any, ...]:
    results = OPS[s.operation.name](s, *s.operands)
    return results if isinstance(results, tuple) else (results,)


def _on_vectors(e: Emitter, op: Operation, operands: Sequence[Any], known: Sequence[Any]) -> tuple[Any, ...]:
    """Emit an op on vectors: on whole vectors if the op is defined for all values, else lane by lane."""
    whole = ScalarOp(e, op, operands, known)
    if op.name in integers.ON_VECTORS and not whole.flags:
        return _applied(whole)
    forms = [element_form(value.type) for value in op.results]
    results = [ll.Constant(form.register, ll.Undefined) for form in forms]
    for lane in range(forms[0].register.count):
        parts = [
            e.builder.extract_element(register, I32(lane)) if isinstance(register.type, ll.VectorType) else register
            for register in operands
        ]
        numbers = [number[lane] if np.ndim(number) else number for number in known]
        values = _applied(ScalarOp(e, op, parts, numbers, is_lane=True))
        results = [e.builder.insert_element(r, v, I32(lane)) for r, v in zip(results, values, strict=True)]
    return tuple(results)


def _on_tensors(e: Emitter, op: Operation) -> None:
    shapes = {e.shape(value) for value in op.operands if is_buffer(value.type)}
    if len(shapes) != 1:
        raise not_emitted(op, f"has operands of different shapes: {', '.join(str(list(shape)) for shape in shapes)}")
    (shape,) = shapes
    sources = [e.buffer(value) if is_buffer(value.type) else e.register(value) for value in op.operands]
    results = [e.fresh(scalar_type(value.type), shape) for value in op.results]
    known = [e.known(value) for value in op.operands]
    pieces = [*(source for source in sources if isinstance(source, Buffer)), *results]
    flat = all(piece.is_contiguous or piece.splat is not None for piece in pieces)
    with e.nest((results[0].size,) if flat else shape) as indices:
        if indices is not None:
            operands = [_element(e, source, indices, flat) for source in sources]
            for result, register in zip(results, _applied(ScalarOp(e, op, operands, known)), strict=True):
                e.store(register, result.reshaped((result.size,)) if flat else result, indices)
    for value, result in zip(op.results, results, strict=True):
        e.set_buffer(value, result, owned=True)


def _element(e: Emitter, source: Any, indices: Sequence[Index], flat: bool) -> Any:
    if not isinstance(source, Buffer):
        return source
    return e.load(source.reshaped((source.size,)) if flat else source, indices)


# -- structured ops ----------------------------------------------------------------------------------------------------


def _structured(e: Emitter, op: Operation) -> None:
    assert isinstance(op, StructuredOp)  # other ops have other handlers
    try:
        loops = extents(op.indexing_maps, [e.shape(value) for value in op.operands])
    except QuantError as error:
        raise not_emitted(op, str(error)) from None
    inputs = [_operand(e, value) for value in op.inputs]
    outputs = [_output(e, op, number, loops) for number in range(len(op.outputs))]
    operands = [*inputs, *outputs]
    order = structured_order(op, operands, loops)
    with e.nest([loops[loop] for loop in order]) as ordered:
        if ordered is not None:
            indices = [ordered[order.index(loop)] for loop in range(len(loops))]
            _body(e, op, operands, indices)
    for value, output in zip(op.results, outputs, strict=False):
        e.set_buffer(value, output, owned=True)


def _operand(e: Emitter, value: Value) -> Any:
    return e.buffer(value) if is_buffer(value.type) else value


def _output(e: Emitter, op: StructuredOp, number: int, loops: Shape) -> Buffer:
    value = op.outputs[number]
    if isinstance(value.type, MemRefType):
        buffer = e.buffer(value)
        if buffer.is_read_only:
            raise not_emitted(op, "writes to constant memory")
        return buffer
    argument = op.regions[0].blocks[0].arguments[op.input_count + number]
    is_covered = plain_loops(op.indexing_maps[op.input_count + number]) is not None and 0 not in loops
    return e.writable(value, op, is_read=bool(argument.uses) or not is_covered)


def _body(e: Emitter, op: StructuredOp, operands: Sequence[Any], indices: list[Index]) -> None:
    """Emit one iteration: loads, the body, stores."""
    block, maps = op.regions[0].blocks[0], op.indexing_maps
    places = [[evaluate(e, op, result, indices) for result in map.results] for map in maps]
    for argument, operand, place in zip(block.arguments, operands, places, strict=True):
        if not argument.uses:
            continue
        if isinstance(operand, Value):
            e.alias(argument, operand)
        else:
            e.define(argument, e.load(operand, place))
            if operand.splat is not None:
                e.define_known(argument, operand.splat)
    outer, e.loop_indices = e.loop_indices, indices
    results = e.block(block)
    e.loop_indices = outer
    first = op.input_count
    registers = [e.register(value) for value in results]
    for register, output, place in zip(registers, operands[first:], places[first:], strict=True):
        e.store(register, output, place)


def _loop_index(e: Emitter, op: Operation) -> None:
    index = e.loop_indices[op.attributes["dim"].python]
    e.define(op.result, index.value, (index.low, index.high))
    if index.is_constant:
        e.define_known(op.result, np.int64(index.low))


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(OPS, _elementwise),
    **dict.fromkeys(STRUCTURED_OPS, _structured),
    "linalg.index": _loop_index,
}
