"""Programs of one drawn op: plain loops, the reference, every ISA's kernel and the lowered program, planned and
interpreted, give the same bits."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

import qrt
from qrt.errors import QuantError, QuantTypeError, VerifyError
from qrt.ir import Module
from qrt.numerics import REQUANT_RULES, SUM_RULES
from qrt.ops import FAMILIES
from qrt.ops.core import static_shape
from qrt.types import TensorType, UniformType
from tests.ir.passes.lower_qrt.draw_ops import draw_op
from tests.ir.passes.lower_qrt.draw_types import OpDraw
from tests.ir.passes.lower_qrt.drawn_op import DrawnOp
from tests.ir.passes.lower_qrt.harness import OPTIONS, lowered, program, run
from tests.ops import naive
from tests.ops.harness import Array, check_kernels, infer, reference, tensor
from tests.rules import Refused

COUNTS: defaultdict[str, Counter[str]] = defaultdict(Counter)
"""What was compared, for the end of the run."""

ACCUMULATOR = "QuantTypeError: 64 bits do not hold the accumulator"
BIAS = "QuantTypeError: 64 bits do not hold the bias"
PARAMETERS = "QuantTypeError: the rule has no such multipliers"
LOWERED_BIAS = "VerifyError: 64 bits do not hold a bias of that type"
_NOT_OF_SUMS = [rule for rule in REQUANT_RULES if rule not in SUM_RULES]
REFUSALS = {
    PARAMETERS: (
        r"(under|over)flows float(32|64)|range of float32|"
        r"needs (a multiplier|(each|the) operand's scale|the scale of (an|the) operand|operand scales|scales|storage)"
    ),
    ACCUMULATOR: "which overflows 64 bits|the sum would overflow 64 bits",
    BIAS: "^the bias overflows 64 bits",
}
"""By op and types: what `infer` or the reference refuses."""
LOWERING_REFUSALS = {
    LOWERED_BIAS: "cannot be lowered: the bias overflows 64 bits",
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
        says_rule = draw.chance(0.5) or rule not in REQUANT_RULES  # which the pass's option has
        if rule and says_rule and draw.chance(0.5):
            options += f" requant={draw.choice(REQUANT_RULES)}"  # which the op overrides
        elif op.name in ("add", "sub") and rule == "fixed" and not says_rule and draw.chance(0.2):
            options += f" requant={draw.choice(_NOT_OF_SUMS)}"  # which is for other ops
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
    refusal = _refusal(drawn)
    try:
        expected, result = reference(op.name, op.arrays, op.types, op.out, **op.attributes)
    except QuantTypeError as error:
        _count_refusal(error, _named(error, REFUSALS), refusal or (PARAMETERS if _has_no_elements(drawn) else None))
        return None
    assert refusal is None, f"not refused: {refusal}"
    assert isinstance(result.element, UniformType)
    np.testing.assert_array_equal(op.plain(result.element, expected.shape), expected, err_msg="plain loops, reference")
    packs = FAMILIES[op.name].packs
    held = [i for i in drawn.constants if i in packs]
    check_kernels(op.name, op.arrays, op.types, op.out, [held], **op.attributes)
    refusal = _lowering_refusal(drawn)
    try:
        module = drawn.lowered()
    except VerifyError as error:
        _count_refusal(error, _named(error, LOWERING_REFUSALS), refusal)
        return None
    assert refusal is None, f"not refused: {refusal}"
    for interpret in (True, False):
        got = run(module, [op.arrays[i] for i in drawn.given], interpret)
        np.testing.assert_array_equal(got, expected, err_msg=f"lowered, {interpret=}\n{module}")
    _count(drawn, result)
    return expected


# -- what must be refused, and nothing else --------------------------------------------------------------------------


def _count_refusal(error: QuantError, name: str, wanted: str | None) -> None:
    if name != wanted:
        raise AssertionError(f"needlessly refused, {wanted=}: {error}") from error
    COUNTS["refused"][name] += 1


def _has_no_elements(drawn: DrawnProgram) -> bool:
    """Of an operand or the result: the plain loops then miss multipliers that the types have."""
    return not all(array.size for array in drawn.op.arrays) or 0 in _result(drawn)[1]


def _refusal(drawn: DrawnProgram) -> str | None:
    """Why the op is not defined on its types or values, by the plain loops."""
    op = drawn.op
    if op.bound >= 1 << 62:
        return ACCUMULATOR
    if _has_scaled_bias(drawn) and not _fits(drawn, op.arrays[2]):
        return BIAS
    try:
        op.plain(*_result(drawn))
    except Refused:
        return PARAMETERS
    return None


def _result(drawn: DrawnProgram) -> tuple[UniformType, tuple[int, ...]]:
    """The element and the shape of the result."""
    op = drawn.op
    # By the rule that no type is refused by.
    rule = {"requant": "scaled20"} if op.name in ("add", "sub") else {}
    others = {key: value for key, value in op.attributes.items() if key != "requant"}
    result = infer(op.name, op.types, op.out, **others, **rule)
    assert isinstance(result.element, UniformType)
    return result.element, static_shape(result, op.name)


def _lowering_refusal(drawn: DrawnProgram) -> str | None:
    """Why what is defined on these values cannot be lowered: for all values of its type."""
    op = drawn.op
    if _has_scaled_bias(drawn) and 2 not in drawn.constants:
        bias = op.elements[2]
        count = max(len(op.arrays[2]), 1)  # a bias of no values is refused by its type too
        ends = (np.full(count, end) for end in (bias.storage_min, bias.storage_max))
        if not all(_fits(drawn, end) for end in ends):
            return LOWERED_BIAS
    return None


def _has_scaled_bias(drawn: DrawnProgram) -> bool:
    """Whether the op brings a bias to the accumulator's scale: sums of blocks have none."""
    op = drawn.op
    return len(op.arrays) == 3 and op.name != "concat" and not op.elements[1].is_sub_channel


def _fits(drawn: DrawnProgram, bias: Array) -> bool:
    a, w, t = drawn.op.elements
    scales = [w.scales[channel if w.is_per_axis else 0] for channel in range(len(bias))]
    return all(abs(naive.bias_at(bias, t, i, a.scale, scale)) < 1 << 62 for i, scale in enumerate(scales))


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
