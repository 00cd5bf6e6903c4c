"""Translation of the body of an elementwise op to instructions of the loop kernel, which work on numbered registers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qrt.ir import Operation, Value
from qrt.ir.constants import constant_array
from qrt.numerics.comparisons import INTEGER_PREDICATES
from qrt.ops.core import Array
from qrt.ops.elementwise import FLOAT_PREDICATES
from qrt.runtime.planner.unquantized import promises
from qrt.types import FloatType, IndexType, IntegerType, TensorType, Type

F32, F64 = FloatType("f32"), FloatType("f64")
NAMES: dict[Type, str] = {
    F32: "f32",
    F64: "f64",
    IndexType(): "i64",
    **{IntegerType(width): f"i{width}" for width in (1, 8, 16, 32, 64)},
}
"""The element types that a register of the kernel supports, with the names that the kernel has for them."""
WIDE = ("f64", "i64")
"""The types whose registers have lanes of 64 bits."""
_ON_FLOATS = (
    "addf", "subf", "mulf", "divf", "fma", "sqrt", "negf", "absf", "floor", "ceil", "trunc", "roundeven", "maximumf",
    "minimumf", "maxnumf", "minnumf",
)  # fmt: skip
CODES = {name: code for code, name in enumerate((
    "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "math.fma", "math.sqrt", "arith.negf", "math.absf",
    "math.floor", "math.ceil", "math.trunc", "math.roundeven", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
    "arith.minnumf", "arith.select", "arith.andi", "arith.ori", "arith.xori", "less", "less_equal", "equal",
    "unordered", "to_f32", "to_i32", "saturate_i32", "to_i8", "to_i16", "arith.addi", "arith.subi", "arith.muli",
    "arith.maxsi", "arith.minsi", "math.exp", "math.expm1", "math.log", "math.log1p", "math.tanh", "math.erf",
    "math.erfc", "math.sin", "math.cos",
    *(f"f64.{name}" for name in _ON_FLOATS), "f64.round", "f64.remf", "math.round", "arith.remf",
    "f64.less", "f64.less_equal", "f64.equal", "f64.unordered", "i64.less", "i64.below", "i64.equal", "i32.less",
    "i32.below", "i32.equal", "wide.select", "i64.andi", "i64.ori", "i64.xori", "i64.addi", "i64.subi", "i64.muli",
    "i64.maxsi", "i64.minsi", "f64 of f32", "f32 of f64", "f64 of i32", "f64 of i64", "f32 of i64", "i64 of i32",
    "i32 of i64", "i64 of f64", "i64.saturate",
))}  # fmt: skip
"""The step codes, in the order of qrt_step_code in csrc/include/qrt/float_loops.h."""
_MOST_REGISTERS = 64
_FLOATS_COMPARED = {
    "olt": ("less", False, False), "ole": ("less_equal", False, False), "oeq": ("equal", False, False),
    "uno": ("unordered", False, False), "ogt": ("less", True, False), "oge": ("less_equal", True, False),
    "ult": ("less_equal", True, True), "ule": ("less", True, True), "une": ("equal", False, True),
    "ord": ("unordered", False, True), "ugt": ("less_equal", False, True), "uge": ("less", False, True),
}  # fmt: skip
"""The comparison predicates, as (step, True if operands are swapped, True if the result is inverted)."""
_INTEGERS_COMPARED = {
    "eq": ("equal", False, False), "ne": ("equal", False, True), "slt": ("less", False, False),
    "sle": ("less", True, True), "sgt": ("less", True, False), "sge": ("less", False, True),
    "ult": ("below", False, False), "ule": ("below", True, True), "ugt": ("below", True, False),
    "uge": ("below", False, True),
}  # fmt: skip
_INTEGERS = ("arith.addi", "arith.subi", "arith.muli", "arith.maxsi", "arith.minsi")
_LOGIC = ("arith.andi", "arith.ori", "arith.xori")
_EXTENSIONS = ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui")


@dataclass
class Chain:
    """The steps of the kernel for a body, which read and write numbered registers.

    The first registers have the body's arguments, the next ones the results of steps and what is read in addition, the
    last ones constants of 32 bits.
    """

    steps: list[list[int]]
    values: list[Any]
    results: list[int]
    used: set[int]
    """The numbers of the arguments that are read."""
    count: int
    registers: int
    numbers: dict[int, Array] = field(default_factory=dict)
    """The constants of 64 bits, by register."""
    indices: dict[int, int] = field(default_factory=dict)
    """The loops whose index a register has."""

    @property
    def reads(self) -> int:
        """The number of operands of the kernel that are read."""
        return len(self.used) + len(self.numbers) + len(self.indices)

    @classmethod
    def of(
        cls,
        arguments: Sequence[Value],
        operations: Sequence[Operation],
        yielded: Sequence[Value],
        inputs: int,
        saturating: bool,
    ) -> "Chain | None":
        """Return the steps for a body; None if the kernel does not support an op or a value from outside the body."""
        builder = _LoopBodyBuilder(arguments, saturating)
        for op in operations:
            if op.name != "arith.constant" and not builder.add(op):
                return None
        results = [builder.register(value) for value in yielded]
        known = [number for number in results if number is not None]
        if len(known) < len(results):
            return None
        return builder.chain(known, inputs)


def _name(value: Value) -> str:
    """Return the kernel's name for the element type of a value; "" if no register can have it."""
    t = value.type
    return NAMES.get(t.element if isinstance(t, TensorType) else t, "")


def _width(name: str) -> int:
    return int(name[1:]) if name[:1] == "i" else 0


class _LoopBodyBuilder:
    def __init__(self, arguments: Sequence[Value], saturating: bool) -> None:
        self.count = len(arguments)
        self.saturating = saturating
        self.numbers: dict[Value, int] = {}
        for number, value in enumerate(arguments):
            self.numbers.setdefault(value, number)
        self.next = self.count
        self.values: dict[int, int] = {}  # negative register of each constant, by its bits
        self.wide: dict[bytes, int] = {}  # register of each constant of 64 bits, by its bytes
        self.arrays: dict[int, Array] = {}
        self.indices: dict[int, int] = {}
        self.steps: list[list[int]] = []

    def constant(self, bits: int) -> int:
        """Return the register of a constant: a negative number, until `chain` knows the number of registers."""
        return self.values.setdefault(bits & 0xFFFFFFFF, -1 - len(self.values))

    def wide_constant(self, number: Any) -> int:
        """Return the register of a constant of float64 or int64."""
        array = np.asarray(number).reshape(1)
        register = self.wide.get(array.tobytes())
        if register is None or self.arrays[register].dtype != array.dtype:
            register = self.wide[array.tobytes()] = self.next
            self.arrays[register] = array
            self.next += 1
        return register

    def register(self, value: Value) -> int | None:
        if value in self.numbers:
            return self.numbers[value]
        source = value.operation
        if source is None or source.name != "arith.constant" or value.type not in NAMES:
            return None
        array, name = constant_array(source), NAMES[value.type]
        if name in WIDE:
            self.numbers[value] = self.wide_constant(array)
            return self.numbers[value]
        if name == "f32":
            return self.constant(int(array.view(np.uint32)))
        return self.constant(-int(array) if name == "i1" else int(array))

    # -- ops ---------------------------------------------------------------------------------------------------------

    def add(self, op: Operation) -> bool:
        """Add the steps of an op; return False if the kernel does not support it."""
        if op.name == "linalg.index":
            self.indices[self.next] = op.attributes["dim"].python
            self.numbers[op.result] = self.next
            self.next += 1
            return True
        registers = [self.register(value) for value in op.operands]
        known = [number for number in registers if number is not None]
        if len(known) < len(registers) or len(op.results) != 1 or promises(op):
            return False
        types, out = [_name(value) for value in op.operands], _name(op.results[0])
        result = self.result(op, known, types, out) if out and "" not in types else None
        if result is None:
            return False
        self.numbers[op.results[0]] = result
        return True

    def result(self, op: Operation, x: list[int], types: list[str], out: str) -> int | None:
        """Add the steps of an op on these registers; return the register of the result, or None if it has no steps."""
        name, t = op.name, types[0]
        if name in _EXTENSIONS:
            return self.integer(x[0], t, out, is_signed=not name.endswith("ui"))
        if name == "arith.bitcast":
            return x[0] if {t, out} in ({"f32", "i32"}, {"f64", "i64"}) or t == out else None
        if name == "arith.cmpf":
            form = _FLOATS_COMPARED.get(tuple(FLOAT_PREDICATES)[op.attributes["predicate"].python])
            return self.compared(form, x, "f64." if t == "f64" else "")
        if name == "arith.cmpi":
            form = _INTEGERS_COMPARED[tuple(INTEGER_PREDICATES)[op.attributes["predicate"].python]]
            return self.compared(form, x, "i64." if t == "i64" else "i32.")
        if name == "arith.select":
            return self.step("wide.select" if out in WIDE else name, x) if t == "i1" else None
        if out[0] == "i" and {*types} == {out}:
            return self.of_integers(name, x, out)
        if name in ("arith.sitofp", "arith.uitofp"):
            return self.float_of(x[0], t, out, is_signed=name == "arith.sitofp")
        if name in ("arith.fptosi", "arith.fptoui"):
            return self.truncated(x[0], t, out, is_signed=name == "arith.fptosi")
        if name in ("arith.extf", "arith.truncf"):
            is_known = {t, out} == {"f32", "f64"} and not op.attributes.get("roundingmode")
            return self.step(f"{out} of {t}", x) if is_known else None
        if t == "f32" and name == "math.rsqrt":  # 1 / sqrt(x), both rounded
            return self.step(
                "arith.divf", [self.constant(int(np.float32(1).view(np.uint32))), self.step("math.sqrt", x)]
            )
        if {*types} != {out} or out not in ("f32", "f64"):
            return None
        code = name if out == "f32" else f"f64.{name.partition('.')[2]}"
        return self.step(code, x) if code in CODES else None

    def compared(self, form: tuple[str, bool, bool] | None, x: list[int], prefix: str) -> int | None:
        if form is None:
            return None
        code, exchanged, inverted = form
        flags = self.step(prefix + code, x[::-1] if exchanged else x)
        return self.step("arith.xori", [flags, self.constant(-1)]) if inverted else flags

    def of_integers(self, name: str, x: list[int], t: str) -> int | None:
        """Add the steps of an op on integers of type ``t``. Sums and products wrap."""
        if name in ("arith.maxui", "arith.minui"):
            below = self.step("i64.below" if t == "i64" else "i32.below", x)
            chosen = x[::-1] if name == "arith.maxui" else x
            return self.step("wide.select" if t == "i64" else "arith.select", [below, *chosen])
        if name == "math.absi" and t != "i1":
            zero = self.wide_constant(np.int64(0)) if t == "i64" else self.constant(0)
            negated = self.of_integers("arith.subi", [zero, x[0]], t)
            return None if negated is None else self.of_integers("arith.maxsi", [x[0], negated], t)
        if name in _LOGIC:
            return self.step(f"i64.{name[6:]}" if t == "i64" else name, x)
        if name not in _INTEGERS or t == "i1":
            return None
        if t == "i64":
            return self.step(f"i64.{name[6:]}", x)
        computed = self.step(name, x)
        return computed if t == "i32" or name in ("arith.maxsi", "arith.minsi") else self.step(f"to_{t}", [computed])

    # -- conversions -------------------------------------------------------------------------------------------------

    def integer(self, x: int, t: str, out: str, is_signed: bool) -> int:
        """Return the register of an integer of type ``t`` as one of type ``out``: extended, or its low bits."""
        width, to = _width(t), _width(out)
        if width < to and not is_signed:
            low = (1 << width) - 1
            if to < 64:
                return self.step("arith.andi", [x, self.constant(low)])
            return self.step("i64.andi", [self.step("i64 of i32", [x]), self.wide_constant(np.int64(low))])
        if to == 64:
            return x if width == 64 else self.step("i64 of i32", [x])
        if width <= to:
            return x  # integers are sign-extended in registers
        narrow = self.step("i32 of i64", [x]) if width == 64 else x
        if to == 1:  # all bits of a flag are equal
            return self.step("arith.subi", [self.constant(0), self.step("arith.andi", [narrow, self.constant(1)])])
        return narrow if to == 32 else self.step(f"to_{out}", [narrow])

    def float_of(self, x: int, t: str, out: str, is_signed: bool) -> int | None:
        if not is_signed and t != "i64":
            wider = "i64" if t == "i32" else "i32"
            x, t = self.integer(x, t, wider, is_signed=False), wider
        elif not is_signed:
            return None
        if out == "f64":
            return self.step("f64 of i64" if t == "i64" else "f64 of i32", [x])
        return self.step("f32 of i64" if t == "i64" else "to_f32", [x])

    def truncated(self, x: int, t: str, out: str, is_signed: bool) -> int | None:
        """Add the steps that truncate a float to an integer. Those beyond the type are an error, or saturate."""
        width = _width(out)
        if (t, out, is_signed) == ("f32", "i32", True):
            return self.step("saturate_i32" if self.saturating else "to_i32", [x])
        if width == 1 or (width == 64 and not is_signed):
            return None
        least, beyond = (-(2.0 ** (width - 1)), 2.0 ** (width - 1)) if is_signed else (0.0, 2.0**width)
        number = self.step("f64 of f32", [x]) if t == "f32" else x
        bounds = [self.wide_constant(np.float64(bound)) for bound in (least, beyond)]
        whole = self.step("i64.saturate" if self.saturating else "i64 of f64", [number, *bounds])
        return self.integer(whole, "i64", out, is_signed=True)

    # -- steps -------------------------------------------------------------------------------------------------------

    def step(self, code: str, operands: list[int]) -> int:
        """Add a step, and return the register of its result."""
        a, b, c = [*operands, *operands[:1] * 2][:3]
        self.steps.append([CODES[code], self.next, a, b, c])
        self.next += 1
        return self.next - 1

    def chain(self, results: list[int], inputs: int) -> Chain | None:
        """Return the steps with their final register numbers; None if there are more registers than the kernel has."""
        total = self.next + len(self.values)
        if total > _MOST_REGISTERS:
            return None
        steps = [[step[0], *(n if n >= 0 else total + n for n in step[1:])] for step in self.steps]
        if (
            len({tuple(step[3:]) for step in steps if step[0] == CODES["i64 of f64"]})
            + any(step[0] == CODES["to_i32"] for step in steps)
            > 1
        ):
            return None  # the kernel's error names one type of integers
        results = [n if n >= 0 else total + n for n in results]
        used = {n for step in steps for n in step[2:] if n < self.count} | {n for n in results if n < self.count}
        values = [bits for bits, _ in sorted(self.values.items(), key=lambda item: -item[1])][::-1]
        return Chain(steps, values, results, used, inputs, total, self.arrays, self.indices)
