"""What an operation that stays float is near to: a kernel, and the port that keeps it from being one."""

from qrt.ir import Operation
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.quantization.forms.elements import body_expression, elements_of, splat_of
from qrt.quantization.forms.elementwise import BINARY
from qrt.quantization.forms.reductions import reduction_of

_SUM = "arith.addf"


def nearest(operation: Operation) -> str:
    """The nearest kernel, and the port of it that fails."""
    if isinstance(operation, StructuredOp) and "reduction" in operation.iterators:
        return _nearest_sum(operation)
    elements = elements_of(operation.results[0])
    if elements is None:
        return "no kernel is near to it"
    if elements.is_copy:
        return "the nearest kernel is 'transpose', whose port 'q' has each element once"
    tensors = elements.simplified().inputs
    if len(tensors) == 1:
        return "the nearest kernel is 'lookup', whose port 'q' has the shape and the type of the result"
    if len(tensors) > 2:
        return "the nearest kernel is 'lookup', whose port 'q' is the only tensor that is not constant"
    name = BINARY.get(str(elements.computed[0]))
    if name is not None:
        return f"the nearest kernel is '{name}', whose port 'b' broadcasts along the first axes"
    return "the nearest kernel is 'mul', whose port 'y' is a sum, a difference or a product of the others"


def _nearest_sum(operation: StructuredOp) -> str:
    computed = body_expression(operation)
    windows = any(isinstance(r, tuple) and r[0] != "d" for r in operation.indexing_maps[0].results)
    if operation.input_count == 2 and computed is not None and "arith.mulf" in str(computed):
        name, images = ("conv2d", "'x' is NHWC") if windows else ("matmul", "'a' has its rows before what is summed")
        start = splat_of(operation.operands[-1])
        if start != 0:
            return f"the nearest kernel is '{name}', whose port 'bias' is a vector of the last axis, or absent"
        return f"the nearest kernel is '{name}', whose port {images}"
    reduction = reduction_of(operation.results[0])
    if computed is not None and computed[0] == _SUM:
        name = "avg_pool2d" if windows else "mean"
        return f"the nearest kernel is '{name}', whose port 'y' is the sum divided by the number of elements"
    if windows:
        why = "begins with the least float" if reduction is None else "is NHWC"
        return f"the nearest kernel is 'max_pool2d', whose port 'q' {why}"
    return "the nearest kernel is 'max_pool2d', whose port 'q' is of rank 4"
