"""Operators on floats, element by element."""

from qrt.formats.tflite.node import Node
from qrt.formats.tflite.operators.float_nests import activated, site_of
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import F32, broadcast, broadcast_indices

BINARY = {
    "ADD": "arith.addf",
    "SUB": "arith.subf",
    "MUL": "arith.mulf",
    "DIV": "arith.divf",
    "MAXIMUM": "arith.maximumf",
    "MINIMUM": "arith.minimumf",
}
UNARY = {
    "ABS": "math.absf",
    "CEIL": "math.ceil",
    "COS": "math.cos",
    "EXP": "math.exp",
    "FLOOR": "math.floor",
    "LOG": "math.log",
    "NEG": "arith.negf",
    "ROUND": "math.roundeven",
    "RSQRT": "math.rsqrt",
    "SIN": "math.sin",
    "SQRT": "math.sqrt",
    "TANH": "math.tanh",
}


def binary(node: Node) -> None:
    """An op of two operands, which broadcast."""
    site = site_of(node)
    values = [node.value(0), node.value(1)]
    extents = [site.extents(value) for value in values]
    nest = Nest(site, "elements", broadcast(site, *extents))
    a, b = (
        nest.read(value, broadcast_indices(sizes, len(nest.loops)))
        for value, sizes in zip(values, extents, strict=True)
    )
    if node.op.name == "SQUARED_DIFFERENCE":
        apart = nest.emit("arith.subf", (a, b), F32)
        scalar = nest.emit("arith.mulf", (apart, apart), F32)
    else:
        scalar = nest.emit(BINARY[node.op.name], (a, b), F32)
    activation = node.options.get("fused_activation_function", "NONE")
    node.set(0, nest.finish(activated(node, nest, scalar, activation))[0])


def unary(node: Node) -> None:
    """A function, correctly rounded, or an activation by itself."""
    site = site_of(node)
    nest = Nest(site, "elements", site.extents(node.value(0)))
    x = nest.read(node.value(0), nest.loops)
    if node.op.name == "LOGISTIC":
        one = nest.constant(1.0, F32)
        below = nest.emit("math.exp", (nest.emit("arith.negf", (x,), F32),), F32)
        made = nest.emit("arith.divf", (one, nest.emit("arith.addf", (one, below), F32)), F32)
    elif node.op.name in UNARY:
        made = nest.emit(UNARY[node.op.name], (x,), F32)
    else:
        made = activated(node, nest, x, node.op.name)
    node.set(0, nest.finish(made)[0])
