"""`complex`: only the ops that the bodies of named `linalg` ops use; they can be parsed and printed, but not run."""

from qrt.ir.core.constraints import Relation, add_type_constraint, element_of
from qrt.ir.core.define import Definition
from qrt.ir.core.traits import PURE
from qrt.ir.dialects.arith.ops import FASTMATH, elementwise, flag_attributes
from qrt.types import ComplexType, FloatType, Type

_COMPLEX = "complex type with floating-point elements"

add_type_constraint(_COMPLEX, lambda type: isinstance(type, ComplexType) and isinstance(type.element, FloatType))


def _part_of(type: Type) -> Type:
    return type.element if isinstance(type, ComplexType) else element_of(type)


def _part(source: str, description: str) -> Relation:
    """Return the relation "equals the float type of the complex `source`", such as f32 for complex<f32>."""
    return Relation(source, _part_of, description)


def _part_op(name: str) -> Definition:
    return Definition(
        name,
        operands=(f"complex: {_COMPLEX}",),
        results=(f"{name.partition('.')[2]}: floating-point",),
        attributes=flag_attributes(FASTMATH),
        infer={name.partition(".")[2]: _part("complex", "complex element type matches result type")},
        traits={PURE},
        format=f"$complex {FASTMATH} attr-dict `:` type($complex)",
    )


OPS = [
    *(elementwise(f"complex.{name}", ("lhs", "rhs"), _COMPLEX, FASTMATH) for name in ("add", "sub", "mul", "div")),
    Definition(
        "complex.create",
        operands=("real: floating-point", "imaginary: floating-point"),
        results=(f"complex: {_COMPLEX}",),
        infer={
            "real": _part("complex", "complex element type matches real operand type"),
            "imaginary": _part("complex", "complex element type matches imaginary operand type"),
        },
        traits={PURE},
        format="$real `,` $imaginary attr-dict `:` type($complex)",
    ),
    _part_op("complex.re"),
    _part_op("complex.im"),
]
