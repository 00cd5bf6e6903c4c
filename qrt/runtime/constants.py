"""Evaluators for `ConstantFolder`, which compute operations on constants before the program runs."""

from collections.abc import Mapping
from math import prod

import numpy as np

from qrt.errors import QuantError
from qrt.ir import Operation, Value
from qrt.ir.constants import constant_array
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ops import family_of
from qrt.ops.core import Array, element_dtype, static_shape
from qrt.runtime.interpreter.core import Compiler, ModuleCode, Run, raise_located
from qrt.runtime.loops import extents
from qrt.runtime.operations import family_call
from qrt.runtime.values import RUN, as_tensor, empty, of_rank
from qrt.tensor.storage import ready

MOST_STEPS, MOST_ELEMENTS, MOST_ITERATIONS = 1 << 16, 1 << 24, 1 << 28
"""The limits of folding: steps of the interpreter, elements of a value, iterations of a `linalg` op."""


def interpret_constants(code: ModuleCode, op: Operation, known: Mapping[Value, Array]) -> list[Array] | None:
    """Return the results of an op on constant operands (``known``), computed by the interpreter.

    Return None if a result is too large, the op takes too many steps, or it raises an error: the program then raises
    the error when it runs.
    """
    compiler = Compiler(code)
    inputs = [(compiler.slot(value), of_rank(array, value.type)) for value, array in known.items()]
    try:
        is_array = op.name == "arith.constant" or all(isinstance(value.type, RUN) for value in op.results)
        if not is_array or not all(map(_is_small, op.walk())):
            return None
        steps = compiler.steps([op])
        frame = compiler.template.copy()
        frame[0] = Run(MOST_STEPS)
        for slot, value in inputs:
            frame[slot] = value
        with np.errstate(all="ignore"):
            for step in steps:
                step(frame)
    except (QuantError, RecursionError, MemoryError):
        return None
    arrays = [ready(np.asarray(frame[compiler.slot(value)])) for value in op.results]
    return None if any(array.size > MOST_ELEMENTS for array in arrays) else arrays


def _is_small(op: Operation) -> bool:
    """Return False if an op's types show that it has more elements or iterations than constant folding allows."""
    shapes = [getattr(value.type, "shape", ()) for value in (*op.operands, *op.results)]
    known = [tuple(size for size in shape or () if size is not None) for shape in shapes]
    if any(prod(shape) > MOST_ELEMENTS for shape in known):
        return False
    if not isinstance(op, StructuredOp) or any(shape is None or None in shape for shape in shapes):
        return True
    return prod(extents(op.indexing_maps, known[: len(op.operands)])) <= MOST_ITERATIONS


def plan_constants(
    code: ModuleCode, function: Operation, op: Operation, known: Mapping[Value, Array]
) -> list[Array] | None:
    """Return the results of an op on constant operands (``known``), computed by its kernel or else by the interpreter.

    Kernels give the interpreter's bits in less time and without limits. Raise the error of a family's op whose types do
    not fit, or of a constant that the runtime does not support. Inside a region of the function, return None instead,
    because the region may never run.
    """
    is_constant = op.name == "arith.constant"
    try:
        if is_constant:
            return [constant_array(op)] if isinstance(op.results[0].type, RUN) else None
        if family_of(op) is None:
            return interpret_constants(code, op, known)
        return _kernel_results(op, [known[value] for value in op.operands])
    except QuantError as problem:
        error = problem
    except MemoryError as problem:
        if not is_constant:  # the run raises it
            return None
        error = QuantError(f"needs more memory than is available: {problem}")  # a splat has a small text
    if op.parent_operation is function:
        raise_located(op, error)
    return None


def _kernel_results(op: Operation, arrays: list[Array]) -> list[Array]:
    types = tuple(as_tensor(v.type).with_(shape=a.shape) for v, a in zip(op.operands, arrays, strict=True))
    family, attributes, results = family_call(op, types)
    if len(results) == 1 and (offset := family.view_offset(types, results[0], attributes)) is not None:
        dtype, shape = element_dtype(results[0].element), static_shape(results[0], op.name)
        return [arrays[0].view(dtype).reshape(-1)[offset : offset + prod(shape)].reshape(shape)]
    outputs = [empty(result) for result in results]
    family.call(types, results, attributes)[0](*arrays, *outputs)
    return outputs
