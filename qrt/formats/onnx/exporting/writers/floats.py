"""Elementwise ops of `arith` and `math` on tensors of floats."""

from qrt.formats.onnx.exporting.group import Group

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
}


def elementwise(group: Group) -> None:
    """The operator of the same meaning."""
    order = group.common_order()
    operands = [group.broadcast(i, order) for i in range(group.count)]
    group.set_real(group.node(OPERATORS[group.op.name], *operands), order)
