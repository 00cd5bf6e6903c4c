"""`ub`: poison values and unreachable points, which are both errors at run time."""

from qrt.ir.core.attribute_kinds import ENUMERATIONS, enumeration
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.traits import PURE, TERMINATOR

_POISON = enumeration("ub.poison", "")

OPS = [
    Definition(
        "ub.poison",
        results=("result",),
        attributes={"value": AttributeSpec(kind=_POISON, default=ENUMERATIONS["ub.poison"].attribute())},
        traits={PURE},
        format="attr-dict (`<` $value^ `>`)? `:` type($result)",
    ),
    Definition("ub.unreachable", traits={TERMINATOR}, format="attr-dict"),
]
