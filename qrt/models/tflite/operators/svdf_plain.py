"""Import of SVDF on floats: a recurrent layer whose filters are products of feature weights and time weights.

A filter has one feature in each step, the product of the step's inputs and its feature weights. The state has the
features of the last steps, the oldest first; it is stored in a variable of the program.
"""

from collections.abc import Callable

from qrt.errors import shown
from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, Extent, LoweringContext
from qrt.models.importing.data_movement import joined, taken
from qrt.models.importing.float_products import total
from qrt.models.importing.node import lowering_context
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import finish, float_bias, require_floats, reshaped
from qrt.models.tflite.operators.operands import input_shape
from qrt.models.tflite.operators.recurrent_weights import Matrix, dequantized, matrix, products, require_one_dtype

_FEATURE, _TIME, _BIAS, _STATE = 1, 2, 3, 4
_LANES = 4
Factors = Callable[[LoopNest, Expression], tuple[Value, Value]]
"""Reads the two factors of the product with a given number in the body of a loop nest."""


def svdf(node: Node) -> None:
    """Import SVDF: run an SVDF layer on float32 inputs, with float32 or int8 weights."""
    rank = int(node.options["rank"])
    batch, filters, memory = _sizes(node, rank)
    require_one_dtype(node, _FEATURE, _TIME)
    require_floats(node, 0, _STATE)
    feature, time = matrix(node, _FEATURE), dequantized(node, _TIME)
    order, bias = node.rule("float_products", operator=node.op.name), float_bias(node, _BIAS, filters // rank)
    context = lowering_context(node)
    column = reshaped(node, _features(context, node.value(0), feature, order), (batch, filters, 1))
    state = reshaped(node, node.value(_STATE), (batch, filters, memory))
    after = column if memory == 1 else joined(node, [taken(node, state, 2, 1, memory - 1), column], 2)

    def factors(nest: LoopNest, k: Expression) -> tuple[Value, Value]:
        row, unit, *_ = nest.loops
        return nest.read(after, (row, unit, k)), nest.read(time, (unit, k))

    sums = _sums(context, [batch, filters], memory, factors, order)
    nest = LoopNest(context, "rank", [batch, filters // rank], [rank])
    row, unit, number = nest.loops
    term = nest.read(sums, (row, add(multiply(unit, rank), number)))
    (y,) = nest.finish(nest.value("arith.addf", (nest.running(F32, 0.0), term), F32))
    finish(node, context, y, bias)
    variable = node.graph.variable(node.input(_STATE))
    node.graph.store(node.op, variable, reshaped(node, after, (batch, filters * memory)))


def _sizes(node: Node, rank: int) -> tuple[int, int, int]:
    """Return the numbers of rows, filters and steps in the state. Raise an error if the shapes do not match."""
    x, feature, time = (input_shape(node, i) for i in (0, _FEATURE, _TIME))
    if len(x) != 2 or None in (*x, *feature, *time):
        node.refuse(f"inputs {node.type(0).shown()} with weights {node.type(_FEATURE).shown()}")
    batch, inputs = (size or 0 for size in x)
    filters, memory = feature[0] or 0 if feature else 0, time[1] or 0 if len(time) == 2 else 0
    if rank < 1 or filters % rank:
        node.fail(f"option rank must be a positive divisor of the number of filters, {filters}, got {rank}")
    shapes = {_FEATURE: (filters, inputs), _TIME: (filters, memory), _STATE: (batch, filters * memory)}
    for i, expected in shapes.items():
        if input_shape(node, i) != expected:
            node.fail(
                f"{shown(node.input(i).name)} must have the shape {list(expected)}, got {list(input_shape(node, i))}"
            )
    if not batch * inputs * filters * memory:
        node.refuse(f"inputs {node.type(0).shown()} with weights {node.type(_TIME).shown()}, which LiteRT does not run")
    if not node.input(_STATE).is_variable:
        node.fail(f"{shown(node.input(_STATE).name)} (a state) must be a variable")
    return batch, filters, memory


def _features(context: LoweringContext, x: Value, weights: Matrix, order: str) -> Value:
    """Return the products of the inputs ``x`` [batch, inputs] and the feature weights, [batch, filters]."""
    if weights.scale is not None:
        return products(context, x, weights)

    def factors(nest: LoopNest, k: Expression) -> tuple[Value, Value]:
        row, unit, *_ = nest.loops
        return nest.read(x, (row, k)), nest.read(weights.value, (unit, k))

    depth = context.extent(x, 1)
    assert isinstance(depth, int)
    return _sums(context, [context.extent(x, 0), context.extent(weights.value, 0)], depth, factors, order)


def _sums(context: LoweringContext, parallel: list[Extent], depth: int, factors: Factors, order: str) -> Value:
    """Return sums of ``depth`` products in the order of a profile's rule `float_products`.

    By the rule `fours_then_rest`, the first ``depth // 4 * 4`` products are added in four partial sums: partial sum p
    adds the products p, p + 4, p + 8, ... The partial sums are added in order, and then the other products.
    """
    if order != "fours_then_rest":
        return total(context, parallel, [depth], lambda nest: factors(nest, nest.loops[-1]), order, None)
    blocks, rest = divmod(depth, _LANES)
    start: Value | float = 0.0
    if blocks:

        def of_lane(nest: LoopNest) -> tuple[Value, Value]:
            *_, lane, block = nest.loops
            return factors(nest, add(multiply(block, _LANES), lane))

        lanes = total(context, [*parallel, _LANES], [blocks], of_lane, "products_then_bias", None)
        nest = LoopNest(context, "fours", parallel, [_LANES])
        added = nest.running(F32, 0.0), nest.read(lanes, nest.loops)
        (start,) = nest.finish(nest.value("arith.addf", added, F32))
    if rest:
        nest = LoopNest(context, "accumulate", parallel, [rest])
        product = nest.value("arith.mulf", factors(nest, add(nest.loops[-1], blocks * _LANES)), F32)
        (start,) = nest.finish(nest.value("arith.addf", (nest.running(F32, start), product), F32))
    assert isinstance(start, Value)  # there is at least one product
    return start
