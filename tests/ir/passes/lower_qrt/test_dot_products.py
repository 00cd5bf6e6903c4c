"""`to=dot4`: sums of 8-bit products in vectors have the bits of the kernels, and compilers make dot products of them.

Hazards: depths that are no multiple of a vector, signs of operands that the instruction lacks, zero points at the ends
of storage (which leave 8 bits when shifted), weights that are constant, storage below 8 bits.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count, islice

import numpy as np
import pytest

from qrt.errors import Diagnostic, QuantTypeError
from qrt.ir import parse, run_passes
from qrt.ir.passes.lower_qrt import LowerQrt
from qrt.ir.remarks import remarks_to
from qrt.types import UniformType
from tests import mlir_opt
from tests.ir.passes.lower_qrt.compare import DrawnProgram, compare
from tests.ir.passes.lower_qrt.draw_types import OpDraw
from tests.ir.passes.lower_qrt.harness import check_lowered, lowered, program
from tests.ir.passes.lower_qrt.test_drawn import IS_FULL, SEED, is_executable
from tests.ir.passes.lower_qrt.upstream import case, integer_case, stored
from tests.llc import assembly
from tests.ops.harness import infer, tensor
from tests.ops.strategies import storage_of
from tests.oracle.execution.driver import execute

SIGNS = ("us", "ss", "uu")
NAMES = ("matmul", "conv2d", "depthwise_conv2d")
SAMPLE = 40 * (8 if IS_FULL else 1)
WIDE_OUT = UniformType("i32", "f32", 0.01, -5)  # shows every bit of the accumulator


def programs(name: str, widths: Sequence[int], kind: str = "") -> Iterator[tuple[str, DrawnProgram]]:
    """Yield drawn programs without end, with long sums that are lowered to dot products, and their seeds."""
    for number in count():
        seed = f"dot {name} {number} {kind}{SEED}"
        draw = OpDraw(seed, widths, is_deep=True)
        drawn = DrawnProgram.of(draw, name)
        others = " ".join(word for word in drawn.options.split() if word.startswith("requant="))
        zero_point = draw.choice(("post-accumulation", "auto"))
        drawn.options = f"to=dot4 signs={draw.choice(SIGNS)} zero-point={zero_point} {others}"
        yield seed, drawn


@pytest.mark.parametrize("name", NAMES)
def test_drawn(name: str) -> None:
    """Programs of storage up to 8 bits give the bits of plain loops, kernels and reference; most have dot products."""
    done = with_dots = 0
    for seed, drawn in programs(name, range(2, 9)):
        try:
            result = compare(drawn)
        except Exception as error:
            raise AssertionError(f"seed {seed!r}, {drawn.options}: {error}") from error
        if result is None:
            continue
        done += 1
        with_dots += "vector.reduction" in str(drawn.lowered())
        if done == SAMPLE:
            break
    assert with_dots >= SAMPLE // 5


BYTE_TYPES = [
    UniformType(storage, "f32", 0.5, zero_point)
    for storage, zero_points in (("i8", (-128, 0, 127)), ("u8", (0, 128, 255)), ("i4", (-8, 7)), ("u4", (0, 15)))
    for zero_point in zero_points
]


@pytest.mark.parametrize("depth", [8, 65])
@pytest.mark.parametrize("t", BYTE_TYPES, ids=str)
def test_ends_of_storage(t: UniformType, depth: int) -> None:
    """Sums whose factors are all at one end of storage, with the zero point at an end."""
    ends = np.array([[t.storage_min], [t.storage_max]]).astype("i1" if t.is_signed else "u1")
    a = np.repeat(ends, depth, 1)
    options = [f"to=dot4 signs={signs}" for signs in SIGNS]
    types = [tensor(shape, t) for shape in ((2, depth), (depth, 2))]
    check_lowered("matmul", [a, a.T.copy()], types, WIDE_OUT, [(), (1,)], options)


def test_transposed_convolution() -> None:
    rng = np.random.default_rng(4)
    t = UniformType("i8", "f32", 0.5, 3)
    arrays = [storage_of(t, shape, rng) for shape in ((1, 3, 4, 5), (2, 3, 2, 5))]
    types = [tensor(array.shape, t) for array in arrays]
    attributes = {"strides": (2, 1), "padding": ((1, 0), (0, 1))}
    options = [f"to=dot4 signs={signs}" for signs in SIGNS]
    check_lowered("transpose_conv2d", arrays, types, WIDE_OUT, [(), (1,)], options, **attributes)
    text = program(
        "transpose_conv2d", arrays, types, infer("transpose_conv2d", types, WIDE_OUT, **attributes), **attributes
    )
    assert "vector.reduction" in str(lowered(text, "to=dot4"))


# -- what has no dot products ----------------------------------------------------------------------------------------


def matmul_text(storage: str, rows: str, depth: int, columns: int = 2, zero_point: int = 0) -> str:
    """Return a program of one matmul of `storage` by weights of the same type."""
    t = f"!quant.uniform<{storage}:f32, 0.5:{zero_point}>"
    a, w, out = f"tensor<{rows}x{t}>", f"tensor<{depth}x{columns}x{t}>", f"tensor<?x{columns}x{WIDE_OUT}>"
    return (
        f"func.func @main(%a: {a}, %w: {w}) -> {out} {{\n  %y = qrt.matmul %a, %w : ({a}, {w}) -> {out}\n"
        f"  return %y : {out}\n}}\n"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (matmul_text("i8", "?x7", 7), "a sum has 7 products, fewer than 8"),
        (matmul_text("i9", "?x8", 8), "storage of 9 bits has more than 8 bits"),
        (matmul_text("u8", "?x33026", 33026), "a sum of 33026 products may exceed 32 bits"),
        (
            matmul_text("i8", "?x?", 8).replace("8x2x!", "?x2x!"),
            "the number of products in a sum is dynamic",
        ),
    ],
)
def test_other_products_stay_loops(text: str, reason: str) -> None:
    """A remark names the reason; the program is the one of `to=loops`."""
    module, remarks = parse(text), list[Diagnostic]()
    with remarks_to(remarks.append):
        LowerQrt(to="dot4").run(module)
    assert [remark.message for remark in remarks] == [
        f"'qrt.matmul' op is lowered with loops instead of dot products: {reason}"
    ]
    assert str(module) == str(lowered(text, "to=loops"))


@pytest.mark.parametrize("text", [matmul_text("i8", "?x8", 8), matmul_text("u8", "?x33025", 33025)], ids=["8", "33025"])
def test_the_least_and_the_largest_sums(text: str) -> None:
    assert "vector.reduction" in str(lowered(text, "to=dot4"))


def test_differences_are_no_bytes() -> None:
    with pytest.raises(QuantTypeError, match=r"to=dot4 multiplies bytes.*write zero-point=post-accumulation"):
        LowerQrt(zero_point="in-loop", to="dot4")


@pytest.mark.parametrize(
    ("storage", "signs", "flips"),
    [
        ("i8", "ss", 0),
        ("u8", "uu", 0),
        ("i8", "us", 1),
        ("u8", "us", 1),
        ("i8", "uu", 2),
        ("u8", "ss", 2),
        ("u4", "ss", 0),
    ],
)
def test_only_operands_of_the_other_sign_are_shifted(storage: str, signs: str, flips: int) -> None:
    assert str(lowered(matmul_text(storage, "?x16", 16), f"to=dot4 signs={signs}")).count("arith.xori") == flips


# -- upstream's tools ------------------------------------------------------------------------------------------------


@mlir_opt.needed
def test_mlir_runner_computes_the_same_bits() -> None:
    cases, expected = [], []
    for name in NAMES:
        drawn_programs = (
            drawn
            for _, drawn in programs(name, (8,), "executed ")
            if is_executable(drawn) and max(t.storage_width for t in drawn.op.elements[:2]) == 8
        )
        results = ((drawn, compare(drawn)) for drawn in drawn_programs)
        for drawn, result in islice((pair for pair in results if pair[1] is not None), 12 if IS_FULL else 2):
            values = [stored(drawn.op.arrays[i], drawn.op.elements[i]) for i in drawn.given]
            cases.append(case(drawn.lowered(), values))
            expected.append([[stored(result, drawn.result().element)]])
    for run, outcome, value in zip(cases, execute(cases), expected, strict=True):
        assert outcome == value, run.text


def disassembly(signs: str, *flags: str) -> list[str]:
    """Return the instructions that LLVM's compiler `llc` writes for a product of 5 x 128 and 128 x 3 bytes."""
    module = run_passes(parse(matmul_text("i8", "5x128", 128, 3, 7)), f"lower-qrt{{to=dot4 signs={signs}}}")
    text = assembly(integer_case(module, []).text, *flags)
    return re.findall(r"^\s+(?:\{vex\}\s+)?([a-z]\w*)", text, re.MULTILINE)


@mlir_opt.needed
@pytest.mark.parametrize(
    ("signs", "flags", "instruction"),
    [
        ("us", ("-march=x86-64", "-mattr=+avx512vnni,+avx512bw,+avx512vl"), "vpdpbusd"),
        ("us", ("-march=x86-64", "-mattr=+avxvnni"), "vpdpbusd"),
        ("ss", ("-march=aarch64", "-mattr=+dotprod"), "sdot"),
        ("uu", ("-march=aarch64", "-mattr=+dotprod"), "udot"),
    ],
)
def test_compilers_emit_the_instruction(signs: str, flags: tuple[str, ...], instruction: str) -> None:
    """LLVM's compiler makes the instruction of the vectors; without the target's feature it does not."""
    assert instruction in disassembly(signs, *flags)
    assert instruction not in disassembly(signs, flags[0])
