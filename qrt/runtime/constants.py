"""Operations on constants, computed before the program runs: the evaluators of `ConstantFolder`."""

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
from qrt.runtime.planner.slots import empty
from qrt.runtime.values import RUN, as_tensor, of_rank
from qrt.tensor.storage import ready

MOST_STEPS, MOST_ELEMENTS, MOST_ITERATIONS = 1 << 16, 1 << 24, 1 << 28
"""Bounds of what is computed: the interpreter's steps, the elements of a value, the iterations of a `linalg` op."""


def interpret_constants(code: ModuleCode, op: Operation, known: Mapping[Value, Array]) -> list[Array] | None:
    """Return the results of an op by the interpreter. None if they are too large or take too long, or if running it is
    an error: the error then comes when the program runs."""
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
    """Return True where an op is not too large, as far as its types say."""
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
    """Return the results of an op as the plan of a function computes them: by a kernel where there is one. It has the
    interpreter's bits, takes less time, and has no bounds. An op of a family whose types do not fit, and a constant
    that does not run, is an error at once, unless it stands in a region: it may never run."""
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
        if not is_constant:  # the run says so
            return None
        error = QuantError(f"needs more memory than is available: {problem}")  # one value stands for all in the text
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
