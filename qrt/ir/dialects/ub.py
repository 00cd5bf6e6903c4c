"""`ub`: what has no value, and what is never reached. Either is an error where it runs."""

from qrt.ir.attribute_kinds import ENUMERATIONS, enumeration
from qrt.ir.define import TERMINATOR, AttributeSpec, Definition
from qrt.ir.traits import NO_MEMORY_EFFECT

_POISON = enumeration("ub.poison", "")

OPS = [
    Definition(
        "ub.poison",
        results=("result",),
        attributes={"value": AttributeSpec(kind=_POISON, default=ENUMERATIONS["ub.poison"].attribute())},
        traits={NO_MEMORY_EFFECT},  # upstream's is pure; here it is not moved to where it would run and be an error
        format="attr-dict (`<` $value^ `>`)? `:` type($result)",
    ),
    Definition("ub.unreachable", traits={TERMINATOR}, format="attr-dict"),
]
