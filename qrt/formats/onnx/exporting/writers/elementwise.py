"""Two operands element by element."""

from qrt.formats.onnx.exporting.group import Group

_OPERATORS = {
    "qrt.add": "Add",
    "qrt.sub": "Sub",
    "qrt.mul": "Mul",
    "qrt.div": "Div",
    "qrt.maximum": "Max",
    "qrt.minimum": "Min",
}


def binary(group: Group) -> None:
    """The operator on floats, with NumPy's broadcasting."""
    order = group.common_order()
    operands = [group.broadcast(i, order) for i in range(2)]
    group.set_real(group.node(_OPERATORS[group.op.name], *operands), order)


def squared_difference(group: Group) -> None:
    """Sub, and a product with itself."""
    order = group.common_order()
    apart = group.node("Sub", *(group.broadcast(i, order) for i in range(2)), is_part=True)
    group.set_real(group.node("Mul", apart, apart), order)
