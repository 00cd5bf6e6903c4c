"""Type constraints of operands and results, and relations by which one type is inferred from another.

An op's declaration names a constraint after a colon: `"indices*: index"`. A `Relation` infers a type that a custom form
omits, and verifies a type that the text gives.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qrt.types import FloatType, IndexType, IntegerType, MemRefType, TensorType, Type, VectorType

INDEX, I1 = IndexType(), IntegerType(1)
Shaped = TensorType | VectorType | MemRefType


def element_of(type: Type) -> Type:
    """Return the element type of a tensor, vector or memref type; return any other type unchanged."""
    return type.element if isinstance(type, Shaped) else type


def with_element(type: Type, element: Type) -> Type:
    """Return a tensor, vector or memref type with another element type; for a scalar type, return `element`."""
    match type:
        case TensorType() | MemRefType():
            return type.with_(element=element)
        case VectorType():
            return VectorType(type.shape, element, type.scalable)
    return element


def is_float(type: Type) -> bool:
    """Return True for a float type, and for a tensor or vector of floats."""
    return isinstance(element_of(type), FloatType) and not isinstance(type, MemRefType)


def is_integer(type: Type) -> bool:
    """Return True for a signless integer type, for `index`, and for a tensor or vector of them."""
    return _is_signless_or_index(element_of(type)) and not isinstance(type, MemRefType)


def _is_signless(type: Type) -> bool:
    return isinstance(type, IntegerType) and type.is_signless


def _is_signless_or_index(type: Type) -> bool:
    return isinstance(type, IndexType) or _is_signless(type)


def is_ranked_tensor(type: Type) -> bool:
    return isinstance(type, TensorType) and type.shape is not None


# -- constraints on one type -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeConstraint:
    """Predicate `holds` on types, with the description that errors print.

    If exactly one type satisfies the constraint, `only` is that type, and a custom form may omit it.
    """

    description: str
    holds: Callable[[Type], bool]
    only: Type | None = None


_CONSTRAINTS: dict[str, TypeConstraint] = {}


def add_type_constraint(name: str, holds: Callable[[Type], bool], description: str | None = None) -> None:
    """Register a type constraint under a name that op declarations can use.

    Errors print `description`, or the name if there is none. Raises ValueError if the name is already registered.
    """
    if name in _CONSTRAINTS:
        raise ValueError(f"add_type_constraint: a type constraint named {name!r} is already registered")
    _CONSTRAINTS[name] = TypeConstraint(name if description is None else description, holds)


def type_constraint(name: str) -> TypeConstraint:
    """Return the type constraint registered as `name`. Raise ValueError if there is none.

    >>> type_constraint("signless-integer-like").holds(VectorType((4,), IntegerType(8)))
    True
    """
    if name not in _CONSTRAINTS:
        raise ValueError(
            f"an op declaration names the type constraint {name!r}, which is not registered by add_type_constraint"
        )
    return _CONSTRAINTS[name]


def _only(name: str, type: Type, description: str) -> None:
    _CONSTRAINTS[name] = TypeConstraint(description, lambda given: given is type, type)


def _shaped(name: str, holds: Callable[[Type], bool]) -> None:
    add_type_constraint(name, holds, f"{name} of any type values")


_only("index", INDEX, "index")
for _width in (1, 8, 16, 32, 64):
    _only(f"i{_width}", IntegerType(_width), f"{_width}-bit signless integer")
for _width in (16, 32, 64):
    _only(f"f{_width}", FloatType(f"f{_width}"), f"{_width}-bit float")

add_type_constraint("any", lambda type: True, "any type")
add_type_constraint("integer", lambda t: isinstance(t, IntegerType))
add_type_constraint("signless integer", _is_signless)
add_type_constraint("signless integer or index", _is_signless_or_index)
add_type_constraint("floating-point", lambda type: isinstance(type, FloatType))
add_type_constraint("signless-integer-like", is_integer)
add_type_constraint("floating-point-like", is_float)
add_type_constraint("bool-like", lambda type: is_integer(type) and element_of(type) is I1)

_shaped("tensor", lambda type: isinstance(type, TensorType))
_shaped("ranked tensor", is_ranked_tensor)
_shaped("statically shaped tensor", lambda type: isinstance(type, TensorType) and type.has_static_shape)
add_type_constraint(
    "non-0-ranked or unranked tensor", lambda type: isinstance(type, TensorType) and type.shape != (), None
)
add_type_constraint(
    "1D tensor of signless integer or index",
    lambda type: isinstance(type, TensorType) and type.rank == 1 and _is_signless_or_index(type.element),
    "1D tensor of signless integer or index values",
)
_shaped("memref", lambda type: isinstance(type, MemRefType) and type.shape is not None)
_shaped("ranked or unranked memref", lambda type: isinstance(type, MemRefType))
_shaped("unranked memref", lambda type: isinstance(type, MemRefType) and type.shape is None)
add_type_constraint(
    "tensor or memref", lambda type: isinstance(type, TensorType | MemRefType), "shaped of any type values"
)
_shaped("vector", lambda type: isinstance(type, VectorType))
_shaped("shaped", lambda type: isinstance(type, Shaped))


# -- relations between types -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Relation:
    """Rule that computes the type of one operand or result (the target) from the type of another value (the source).

    `source` is the name of an operand, of a result, or of an attribute that has a type; None if the type is constant.
    `description` completes the error `failed to verify that ...` and may contain `{target}` and `{source}`.
    """

    source: str | None
    compute: Callable[[Type], Type]
    description: str
    is_same: bool = False
    """True for "equals the type of `source`": one error then names all operands and results with this relation."""

    def expected(self, sources: Sequence[Type]) -> list[Type]:
        """Return the type that the target must have, once for each type in `sources`.

        A variadic source has several types.
        """
        return [self.compute(type) for type in ((INDEX,) if self.source is None else sources)]

    def describe(self, target: str) -> str:
        return self.description.format(target=target, source=self.source)


def same_as(source: str) -> Relation:
    """Return the relation "equals the type of `source`"; its error is worded as upstream MLIR's `AllTypesMatch`."""
    return Relation(source, lambda type: type, "all of {{{source}, {target}}} have same type", is_same=True)


def element_type_of(source: str, description: str = "{target} type matches element type of {source}") -> Relation:
    """Return the relation "equals the element type of `source`".

    `description` completes the error, because upstream MLIR words it differently for some ops.
    """
    return Relation(source, element_of, description)


def with_element_type(
    source: str, element: Type, description: str = "{target} has the shape of {source}, of its own element type"
) -> Relation:
    """Return the relation "has the shape of `source` and this element type"."""
    return Relation(source, lambda type: with_element(type, element), description)


def always(type: Type) -> Relation:
    """Return the relation "equals `type`", which has no source."""
    return Relation(None, lambda _: type, f"{{target}} is of type '{type}'")
