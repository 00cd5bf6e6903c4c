"""Import of REDUCE_WINDOW and STABLEHLO_REDUCE_WINDOW: reductions of windows along all axes."""

from collections.abc import Sequence

from qrt.ir import Value
from qrt.ir.core.affine import add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing.data_movement import reshaped
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import COMPARISONS, as_value, broadcast, shape_of, signless
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.dilation import padded
from qrt.models.tflite.operators.operands import finish, input_shape, raw
from qrt.types import FloatType

_DTYPES = ("int8", "uint8", "int16", "int32", "int64", "float32")
_FUNCTIONS = {
    "ADD": "ADD STABLEHLO_ADD", "MUL": "MUL STABLEHLO_MULTIPLY", "MAXIMUM": "MAXIMUM STABLEHLO_MAXIMUM",
    "MINIMUM": "MINIMUM STABLEHLO_MINIMUM", "ALL": "LOGICAL_AND STABLEHLO_AND", "ANY": "LOGICAL_OR STABLEHLO_OR",
}  # fmt: skip
"""The operators of a body of STABLEHLO_REDUCE_WINDOW that LiteRT reads as each function of REDUCE_WINDOW."""
_BY_OPERATOR = {name: function for function, names in _FUNCTIONS.items() for name in names.split()}


def reduce_window(node: Node) -> None:
    """Import REDUCE_WINDOW: reduce windows of integers or float32 values by ADD, MUL, MINIMUM, MAXIMUM, ALL or ANY.

    A reduction starts with a value of one element, and goes over its window in row-major order. Sizes, strides and
    dilations of windows must be known at import. If an operand of MINIMUM or MAXIMUM is a NaN, the result is the
    element of the window. ALL and ANY give 1 or 0.
    """
    sizes, strides, dilations = (node.integers(i, what) for i, what in ((2, "sizes"), (3, "strides"), (4, "dilations")))
    rank = len(_shape(node))
    _reduced(node, node.options["reduce_function"], [(0, 0, 0)] * rank, sizes, strides, dilations)


def stablehlo_reduce_window(node: Node) -> None:
    """Import STABLEHLO_REDUCE_WINDOW: pad a tensor with the value that starts reductions, then apply REDUCE_WINDOW.

    The body must be a subgraph of one operator, such as STABLEHLO_ADD or MAXIMUM.
    """
    names = ("window_dimensions", "window_strides", "window_dilations", "base_dilations", "padding")
    sizes, strides, dilations, bases, ends = (tuple(int(n) for n in node.options[name]) for name in names)
    rank = len(_shape(node))
    if len(bases) != rank or len(ends) != 2 * rank or min(bases, default=1) < 1:
        node.fail(
            f"base_dilations must have a positive number for each of {rank} axes and padding two numbers, got "
            f"{list(bases)} and {list(ends)}"
        )
    pads = [(low, base - 1, high) for low, base, high in zip(ends[::2], bases, ends[1::2], strict=True)]
    _reduced(node, _body(node), pads, sizes, strides, dilations)


def _shape(node: Node) -> tuple[int | None, ...]:
    if node.input(0).dtype not in _DTYPES:
        node.refuse(node.input(0).dtype)
    shape = input_shape(node)
    if not shape:
        node.fail("the input must have at least one axis, got a scalar")
    return shape


def _body(node: Node) -> str:
    """Return the function that the body computes, by its only operator."""
    number, subgraphs = node.options["body_subgraph_index"], node.graph.model.subgraphs
    if not 0 <= number < len(subgraphs):
        node.fail(f"its body is subgraph {number}, but the file has {len(subgraphs)}")
    names = [op.name for op in subgraphs[number].operators]
    if len(names) != 1 or names[0] not in _BY_OPERATOR:
        node.refuse(f"a body of {', '.join(names) or 'no operator'}")
    return _BY_OPERATOR[names[0]]


def _reduced(
    node: Node,
    function: str,
    pads: Sequence[tuple[int, int, int]],
    sizes: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> None:
    """Set the result to the reductions of all windows of the padded input."""
    rank = len(input_shape(node))
    if function not in _FUNCTIONS:
        node.refuse(f"reduce_function {function}")
    if {len(sizes), len(strides), len(dilations)} != {rank} or min(*sizes, *strides, *dilations) < 1:
        node.fail(
            f"sizes, strides and dilations of windows must have a positive number for each of {rank} axes, got "
            f"{list(sizes)}, {list(strides)} and {list(dilations)}"
        )
    x = padded(node, pads)
    outputs = []
    for count, size, stride, dilation in zip(shape_of(x), sizes, strides, dilations, strict=True):
        room = (count or 0) - (size - 1) * dilation - 1
        if room < 0:
            node.fail(f"a window of {size} elements with dilation {dilation} does not fit an axis of {count}")
        outputs.append(room // stride + 1)
    element, context = signless(node.type(0).element), lowering_context(node)
    start = reshaped(node, as_value(node, raw(node, 1), element), ())
    starts = as_value(node, broadcast(node, start, element, tuple(outputs)), element)
    nest = LoopNest(context, "accumulate", outputs, sizes)
    places = [
        add(multiply(at, stride), multiply(inside, dilation))
        for at, inside, stride, dilation in zip(nest.loops[:rank], nest.loops[rank:], strides, dilations, strict=True)
    ]
    reduced = _combined(nest, function, nest.running(element, starts), nest.read(x, places), node.input(0).dtype)
    finish(node, 0, nest.finish(reduced)[0])


def _combined(nest: LoopNest, function: str, a: Value, b: Value, dtype: str) -> Value:
    """Append a function such as "ADD" of two scalars, and return its result. Integers of ``dtype`` are signless."""
    element, is_float = a.type, isinstance(a.type, FloatType)
    if function in ("ADD", "MUL"):
        return nest.value(f"arith.{function.lower()}{'f' if is_float else 'i'}", (a, b), element)

    def compare(name: str, left: Value, right: Value) -> Value:
        of_integers, of_floats = COMPARISONS[name]
        return nest.compare_floats(of_floats, left, right) if is_float else nest.compare(of_integers, left, right)

    zero, one = nest.constant(0, element), nest.constant(1, element)
    if function in ("ALL", "ANY"):
        are_true = [compare("ne", scalar, zero) for scalar in (a, b)]
        both = nest.value("arith.andi" if function == "ALL" else "arith.ori", are_true, are_true[0].type)
        return nest.value("arith.select", (both, one, zero), element)
    sign = "u" if dtype[0] == "u" else "s"
    is_first = compare(f"{sign}{'ge' if function == 'MAXIMUM' else 'le'}", a, b)
    return nest.value("arith.select", (is_first, a, b), element)
