"""Functions of one variable that have a name, in the ways in which they are written."""

from qrt.ops import FAMILIES
from qrt.quantization.forms.elements import MAX_OPERATIONS, Elements, Expression, elements_of
from qrt.quantization.forms.model import KernelMatch

_X: Expression = ("input", 0)
_ONE: Expression = ("constant", 1.0)


def _either(name: str, left: Expression, right: Expression) -> tuple[Expression, Expression]:
    return (name, left, right), (name, right, left)


_NEGATIVE = (
    ("arith.negf", _X),
    ("arith.subf", ("constant", 0.0), _X),
    *_either("arith.mulf", _X, ("constant", -1.0)),
)
_FUNCTIONS: dict[Expression, str] = {
    **{
        (family.traits.float_op, _X): name
        for name, family in FAMILIES.items()
        if family.traits.float_op and len(family.declaration.operands) == 1
    },
    **{
        ("arith.divf", _ONE, denominator): "logistic"
        for negative in _NEGATIVE
        for denominator in _either("arith.addf", ("math.exp", negative), _ONE)
    },
}


def name_of_function(reading: KernelMatch) -> str | None:
    """The family of the function that a `lookup` has for a table, such as `tanh` or `logistic`."""
    if len(reading.operations) > MAX_OPERATIONS:
        return None
    ((source, _),) = reading.operands
    whole = elements_of(reading.operations[-1].results[0])
    while whole is not None:
        whole = whole.simplified()
        if len(whole.inputs) != 1:
            return None
        if whole.inputs[0] is source:
            return _FUNCTIONS.get(whole.computed)
        inner: Elements | None = elements_of(whole.inputs[0])
        whole = None if inner is None else whole.with_input(0, inner)
    return None
