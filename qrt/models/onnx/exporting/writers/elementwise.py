"""The export of casts, clamps and elementwise operations, on floats or between DequantizeLinear and QuantizeLinear."""

from qrt.models.onnx.exporting.group import Group

OPERATORS = {
    "arith.addf": "Add",
    "arith.subf": "Sub",
    "arith.mulf": "Mul",
    "arith.divf": "Div",
    "arith.maximumf": "Max",
    "arith.minimumf": "Min",
    "arith.negf": "Neg",
    "math.absf": "Abs",
    "math.ceil": "Ceil",
    "math.cos": "Cos",
    "math.erf": "Erf",
    "math.exp": "Exp",
    "math.floor": "Floor",
    "math.log": "Log",
    "math.roundeven": "Round",
    "math.sin": "Sin",
    "math.sqrt": "Sqrt",
    "math.tanh": "Tanh",
    "qrt.add": "Add",
    "qrt.sub": "Sub",
    "qrt.mul": "Mul",
    "qrt.div": "Div",
    "qrt.maximum": "Max",
    "qrt.minimum": "Min",
    "qrt.logistic": "Sigmoid",
    "qrt.tanh": "Tanh",
}


def operator(group: Group) -> None:
    """Export the operation as its ONNX operator in `OPERATORS`, with NumPy's broadcasting.

    If `OPERATORS` lacks an operation of `qrt`, use the operator for the same function of floats, such as `math.exp`.
    """
    order, name = group.common_order(), group.op.name
    if name not in OPERATORS and group.family is not None:
        name = group.family.traits.float_op
    operands = [group.broadcast(i, order) for i in range(group.count)]
    group.set_real(group.node(OPERATORS[name], *operands), order)


def squared_difference(group: Group) -> None:
    """Export the operation as Sub, and Mul of the difference with itself."""
    order = group.common_order()
    apart = group.node("Sub", *(group.broadcast(i, order) for i in range(2)), is_part=True)
    group.set_real(group.node("Mul", apart, apart), order)


def quantize(group: Group) -> None:
    """Export the operation as QuantizeLinear, after a DequantizeLinear if the operand is quantized."""
    order = group.common_order()
    group.set_real(group.real(0, order), order)


def dequantize(group: Group) -> None:
    """Export the operation as DequantizeLinear."""
    order = group.common_order()
    group.set_real(group.real(0, order), order)


def clamp(group: Group) -> None:
    """Export the operation as Relu or Clip."""
    order = group.common_order()
    group.set_real(group.clipped(group.real(0, order), group.op), order)
