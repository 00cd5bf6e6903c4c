"""Programs of one drawn op: plain loops, the reference, every ISA's kernel and the lowered program, planned and
interpreted, give the same bits."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

import qrt
from qrt.errors import QuantError, QuantTypeError, VerifyError
from qrt.ir import Module
from qrt.numerics import REQUANT_RULES
from qrt.ops import FAMILIES
from qrt.types import TensorType, UniformType
from tests.ops.harness import Array, check_kernels, infer, reference, tensor
from tests.passes.lower_qrt.draw_ops import DrawnOp, draw_op
from tests.passes.lower_qrt.draw_types import OpDraw
from tests.passes.lower_qrt.harness import OPTIONS, lowered, program, run

COUNTS: defaultdict[str, Counter[str]] = defaultdict(Counter)
"""What was compared, for the end of the run."""

REFUSALS = {
    "QuantTypeError: the scales' product leaves the float": r"(under|over)flows float(32|64)|leave float32",
    "QuantTypeError: fixed_double needs a multiplier below 2**30": r"needs a multiplier below 2\*\*30",
    "QuantTypeError: fixed_double needs an accumulator of 32 bits": "is defined on 32-bit accumulators",
    "QuantTypeError: 64 bits do not hold the accumulator": r"64 bits do not hold|bias does not fit 64 bits",
}
"""By op and types: what `infer` or the reference refuses."""
LOWERING_REFUSALS = {
    "VerifyError: 64 bits do not hold a bias of that type": "cannot be lowered: the bias does not fit 64 bits",
    "VerifyError: add and sub have the rule fixed alone": "(add|sub): requant must be 'fixed'",
}
"""By what a type allows, where the values that were drawn are right, and by the pass's options."""


@dataclass
class DrawnProgram:
    """A function of a drawn op: types as it says them, operands that are constants, options of the pass."""

    op: DrawnOp
    types: list[TensorType]
    constants: tuple[int, ...]
    options: str
    says_rule: bool

    @classmethod
    def of(cls, draw: OpDraw, name: str) -> "DrawnProgram":
        op = draw_op(draw, name)
        numbers = range(len(op.arrays))
        constants = tuple(i for i in numbers if draw.chance(0.3)) if draw.chance(0.5) else ()
        types = op.types
        if draw.chance(0.25):
            types = [t if i in constants else _opened(draw, t, op.open[i]) for i, t in enumerate(types)]
        rule, options = op.attributes.get("requant"), draw.choice(OPTIONS)
        says_rule = draw.chance(0.5)
        if rule and says_rule and draw.chance(0.5):
            options += f" requant={draw.choice(REQUANT_RULES)}"  # which the op overrides
        elif op.name in ("add", "sub") and not says_rule and draw.chance(0.2):
            options += f" requant={draw.choice(REQUANT_RULES)}"
        elif rule and not says_rule and (rule != "fixed" or draw.chance(0.5)):
            options += f" requant={rule}"
        return cls(op, types, constants, options, says_rule)

    @property
    def is_open(self) -> bool:
        return any(None in (t.shape or ()) for t in self.types)

    @property
    def given(self) -> list[int]:
        """The operands that are arguments."""
        return [i for i in range(len(self.types)) if i not in self.constants]

    def result(self) -> TensorType:
        """The result's type in the program."""
        out = self.op.out
        if isinstance(out, TensorType) and self.is_open and out.rank:
            out = tensor((None, *(out.shape or ())[1:]), out.element) if 0 not in (out.shape or ()) else out
        return infer(self.op.name, self.types, out, **self.op.attributes)

    def text(self) -> str:
        said = {k: v for k, v in self.op.attributes.items() if k != "requant" or self.says_rule}
        return program(self.op.name, self.op.arrays, self.types, self.result(), self.constants, **said)

    def lowered(self) -> Module:
        return lowered(self.text(), self.options)


def _opened(draw: OpDraw, t: TensorType, may: object) -> TensorType:
    assert t.shape is not None
    return t.with_(shape=tuple(None if d in may and draw.chance(0.5) else n for d, n in enumerate(t.shape)))


def compare(drawn: DrawnProgram) -> Array | None:
    """The result, after everything that computes it has given it; None where the op, or its lowering, is refused."""
    op = drawn.op
    try:
        expected, result = reference(op.name, op.arrays, op.types, op.out, **op.attributes)
    except QuantTypeError as error:
        COUNTS["refused"][_named(error, REFUSALS)] += 1
        return None
    assert isinstance(result.element, UniformType)
    np.testing.assert_array_equal(op.plain(result.element, expected.shape), expected, err_msg="plain loops, reference")
    packs = FAMILIES[op.name].packs
    held = [i for i in drawn.constants if i in packs]
    check_kernels(op.name, op.arrays, op.types, op.out, [held], **op.attributes)
    try:
        module = drawn.lowered()
    except VerifyError as error:
        COUNTS["refused"][_named(error, LOWERING_REFUSALS)] += 1
        return None
    for interpret in (True, False):
        got = run(module, [op.arrays[i] for i in drawn.given], interpret)
        np.testing.assert_array_equal(got, expected, err_msg=f"lowered, {interpret=}\n{module}")
    _count(drawn, result)
    return expected


def _named(error: QuantError, names: dict[str, str]) -> str:
    """What an error is counted as. One that is not known here is raised again."""
    for name, pattern in names.items():
        if re.search(pattern, str(error)):
            return name
    raise error


# -- counts ----------------------------------------------------------------------------------------------------------


def _count(drawn: DrawnProgram, result: TensorType) -> None:
    op, count = drawn.op, COUNTS
    count["op"][op.name] += 1
    for option in drawn.options.split():
        count["option"][option] += 1
    count["rule"][op.attributes.get("requant", "none")] += 1
    elements = [*op.elements, *([result.element] if isinstance(result.element, UniformType) else [])]
    for name in {name for t in elements for name in _properties(t)}:
        count["type"][name] += 1
    for name in _shapes(drawn, result):
        count["shape"][name] += 1
    for name in ("plain loops", "reference", "lowered: interpreted", "lowered: planned", *_kernels()):
        count["compared with"][name] += 1


def _kernels() -> list[str]:
    return [f"kernel: {isa}" for isa in qrt.kernels.available()]


def _properties(t: UniformType) -> list[str]:
    low, high = t.default_bounds
    ends = {low, high, t.storage_min, t.storage_max} - {0}
    bits = next(name for name, widths in _WIDTHS.items() if t.storage_width in widths)
    return [
        "sub-channel" if t.is_sub_channel else "per axis" if t.is_per_axis else "per layer",
        "signed" if t.is_signed else "unsigned",
        bits,
        *(["zero point at an end"] if ends & set(t.zero_points) else []),
        *(["zero point elsewhere"] if set(t.zero_points) - ends - {0} else []),
    ]


_WIDTHS = {"below 8 bits": range(8), "8 bits": (8,), "9 to 16 bits": range(9, 17), "above 16 bits": range(17, 33)}


def _shapes(drawn: DrawnProgram, result: TensorType) -> list[str]:
    sizes = [n for t in (*drawn.op.types, result) for n in t.shape or ()]
    facts = {
        "a size of 0": 0 in sizes,
        "a size of 1": 1 in sizes,
        "a size left open": drawn.is_open,
        "constant operands": bool(drawn.constants),
        "with a bias": len(drawn.types) == 3 and drawn.op.name != "concat",
    }
    return [name for name, holds in facts.items() if holds]
