"""Bodies of named `linalg` ops, with the same operations that upstream builds.

The arguments of a body are one element of each operand; the last argument is the output's element. Values are cast to
the output's element type, as signed values unless the op has `cast = #linalg.type_fn<cast_unsigned>`.
"""

from collections.abc import Callable, Sequence

from qrt.errors import QuantTypeError
from qrt.ir.builder import Builder
from qrt.ir.core.attribute_kinds import ENUMERATIONS, enumeration
from qrt.ir.core.attributes import Attribute
from qrt.ir.core.operations import NOWHERE, Block, Region, Value
from qrt.types import ComplexType, FloatType, IndexType, IntegerType, Type
from qrt.types.scanner import Location

_UNARY = {
    "exp": "math.exp",
    "log": "math.log",
    "abs": "math.absf",
    "ceil": "math.ceil",
    "floor": "math.floor",
    "negf": "arith.negf",
    "reciprocal": "",
    "round": "math.round",
    "sqrt": "math.sqrt",
    "rsqrt": "math.rsqrt",
    "square": "",
    "tanh": "math.tanh",
    "erf": "math.erf",
}
"""Functions of floats only."""
_BINARY = {
    "add": ("arith.addf", "arith.addi", "arith.ori", "complex.add"),
    "sub": ("arith.subf", "arith.subi", None, "complex.sub"),
    "mul": ("arith.mulf", "arith.muli", "arith.andi", "complex.mul"),
    "div": ("arith.divf", "arith.divsi", None, "complex.div"),
    "div_unsigned": (None, "arith.divui", None, None),
    "max_signed": ("arith.maximumf", "arith.maxsi", "arith.maxsi", None),
    "min_signed": ("arith.minimumf", "arith.minsi", "arith.minsi", None),
    "max_unsigned": (None, "arith.maxui", None, None),
    "min_unsigned": (None, "arith.minui", None, None),
    "powf": ("math.powf", None, None, None),
}
"""The ops for floats, integers, i1 and complex numbers."""

FUNCTIONS = {**dict.fromkeys(_UNARY, 1), **dict.fromkeys(_BINARY, 2), "select": 3}
"""The element-wise functions, with the number of their arguments."""
ELEMENTWISE_KIND = enumeration("linalg.elementwise_kind", " ".join(FUNCTIONS))
CAST = enumeration("linalg.type_fn", "cast_signed cast_unsigned")


def kind_name(kind: Attribute) -> str:
    """Return the name of the element-wise function in an attribute: "add" for `#linalg.elementwise_kind<add>`."""
    (name,) = ENUMERATIONS["linalg.elementwise_kind"].flags(kind)
    return name


class IterationBody(Builder):
    """Builder of the body of a named op: casts to the output's element type, and element-wise functions."""

    __slots__ = ("target", "unsigned")

    def __init__(self, block: Block, unsigned: bool) -> None:
        super().__init__(block)
        self.unsigned = unsigned
        self.target = block.arguments[-1].type

    def cast(self, value: Value) -> Value:
        """Cast a value to the output's element type; raise QuantTypeError if there is no such cast."""
        target = self.target
        if value.type is target or not isinstance(target, ComplexType):
            return self._part_cast(value, target)
        if isinstance(value.type, ComplexType):
            parts = [self.value(f"complex.{part}", [value], value.type.element) for part in ("re", "im")]
            parts = [self._part_cast(part, target.element) for part in parts]
        elif isinstance(target.element, FloatType):
            real = self._part_cast(value, target.element)
            parts = [real, self.constant(0.0, target.element)]
        else:
            raise QuantTypeError(f"cannot cast {value.type} to {target}")
        return self.value("complex.create", parts, target)

    def _part_cast(self, value: Value, target: Type) -> Value:
        name = _cast_name(value.type, target, self.unsigned)
        return value if not name else self.value(name, [value], target)

    def apply(self, name: str, *values: Value) -> Value:
        """Apply a function such as "add" to values of one type; raise QuantTypeError if it does not accept the type."""
        type = values[-1].type
        if name == "select":
            operation = "arith.select"
        elif name == "square":
            operation, values = "arith.mulf", values * 2
        elif name == "reciprocal" and isinstance(type, FloatType):
            operation, values = "arith.divf", (self.constant(1.0, type), *values)
        else:
            operation = _function_name(name, type)
        return self.value(operation, values, type)


def _function_name(name: str, type: Type) -> str:
    operation: str | None
    if name in _UNARY:
        operation = _UNARY[name] if isinstance(type, FloatType) else None
    else:
        is_complex = isinstance(type, ComplexType) and isinstance(type.element, FloatType)
        column = 3 if is_complex else 0 if isinstance(type, FloatType) else 2 if _width(type) == 1 else 1
        operation = _BINARY[name][column] if is_complex or isinstance(type, FloatType | IntegerType) else None
    if not operation and _width(type) == 1 and name.endswith("_unsigned"):
        raise QuantTypeError(f"unsupported operation: unsigned {name[:3]} not on uint")
    if not operation:
        raise QuantTypeError(f"'{name}' does not support elements of type {type}")
    return operation


def _width(type: Type) -> int:
    return 64 if isinstance(type, IndexType) else type.width if isinstance(type, IntegerType) else 0


def _cast_name(given: Type, target: Type, unsigned: bool) -> str:
    """Return the name of the `arith` op that casts `given` to `target`; empty if no cast is needed."""
    if given is target:
        return ""
    if isinstance(given, IndexType) != isinstance(target, IndexType) and not isinstance(target, FloatType):
        return "arith.index_cast"
    from_float, to_float = isinstance(given, FloatType), isinstance(target, FloatType)
    if from_float and to_float:
        assert isinstance(given, FloatType)  # for mypy
        assert isinstance(target, FloatType)
        if given.width != target.width:
            return "arith.extf" if given.width < target.width else "arith.truncf"
    elif _width(given) and to_float:
        return "arith.uitofp" if unsigned else "arith.sitofp"
    elif from_float and _width(target):
        return "arith.fptoui" if unsigned else "arith.fptosi"
    elif _width(given) > _width(target) > 0:
        return "arith.trunci"
    elif 0 < _width(given) < _width(target):
        return "arith.extui" if unsigned else "arith.extsi"
    raise QuantTypeError(f"cannot cast {given} to {target}")


Build = Callable[..., Value]
"""A function that builds the yielded value from an `IterationBody` and the elements of the operands."""


def _contraction(b: IterationBody, x: Value, w: Value, out: Value) -> Value:
    return b.apply("add", out, b.apply("mul", b.cast(x), b.cast(w)))


def _quantized(b: IterationBody, x: Value, w: Value, x_zero: Value, w_zero: Value, out: Value) -> Value:
    left = b.apply("sub", b.cast(x), b.cast(x_zero))
    right = b.apply("sub", b.cast(w), b.cast(w_zero))
    return b.apply("add", out, b.apply("mul", left, right))


def pooling(function: str) -> Build:
    """Return the builder of a pooling's body, ``function(output, input)``, which does not read the window operand."""
    return lambda b, x, window, out: b.apply(function, out, b.cast(x))


def elementwise(function: str) -> Build:
    """Return the builder of a body that applies an element-wise function to the inputs."""
    return lambda b, *values: b.apply(function, *values[:-1])


def _copy(b: IterationBody, x: Value, out: Value) -> Value:
    return b.cast(x)


def build_body(build: Build, types: Sequence[Type], unsigned: bool, location: Location = NOWHERE) -> Region:
    """Return the region of a named op, with a block argument of each of these types.

    `build` emits the body, with `unsigned` casts or signed ones, and returns the yielded value. Raise QuantTypeError if
    the types do not support the body's operations.
    """
    block = Block(types, location)
    body = IterationBody(block, unsigned)
    result = build(body, *block.arguments)
    body.emit("linalg.yield", [result])
    return Region([block])


CONTRACTION: Build = _contraction
QUANTIZED: Build = _quantized
COPY: Build = _copy
