"""Seven ways to run a drawn product give the same bits: eager calls, the planned program, the interpreter, the lowered
program in each form, the raised one, machine code of the lowered one, and mlir-runner.

`make test` draws a sample; with QRT_REQUIRE_ORACLE, 2,010 programs.
"""

import os
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import QuantError
from qrt.ir import Module, parse, run_passes
from qrt.ops.core import static_shape
from qrt.runtime.compilation import compile
from qrt.types import UniformType
from tests import mlir_opt
from tests.ir.passes.lower_qrt.draw_ops import draw_op
from tests.ir.passes.lower_qrt.draw_types import OpDraw
from tests.ir.passes.lower_qrt.drawn_op import DrawnOp
from tests.ir.passes.lower_qrt.harness import program, run
from tests.ir.passes.lower_qrt.upstream import case, stored
from tests.ir.passes.raise_to_qrt.harness import kernels, raised, results
from tests.ir.passes.raise_to_qrt.test_drawn import FORMS, SEED, signless
from tests.ops.harness import Array, infer
from tests.oracle.execution.driver import execute

NAMES = ("matmul", "conv2d", "depthwise_conv2d")
IS_FULL = bool(os.environ.get("QRT_REQUIRE_ORACLE"))
COUNT = 670 if IS_FULL else 6
"""The number of programs of each op."""
UPSTREAM = COUNT if IS_FULL else 1
"""The number of them that mlir-runner runs."""


def drawn_ops(name: str) -> Iterator[tuple[str, DrawnOp]]:
    """Yield (seed, op) for ops that are defined on their types, with elements."""
    for number in count():
        seed = f"ways {name} {number} {SEED}"
        draw = OpDraw(seed, (8,), is_deep=number % 3 == 0)
        draw.rule = "fixed"
        op = draw_op(draw, name)
        if op.attributes["requant"] != "fixed" or not all(array.size for array in op.arrays):
            continue
        try:
            eager(op)
        except QuantError:
            continue  # multipliers that no float has, and biases of more than 64 bits
        yield seed, op


def text_of(op: DrawnOp) -> str:
    return program(op.name, op.arrays, op.types, infer(op.name, op.types, op.out, **op.attributes), **op.attributes)


def eager(op: DrawnOp) -> Array:
    values = [qrt.QuantTensor(array, t) for array, t in zip(op.arrays, op.elements, strict=True)]
    attributes: dict[str, Any] = dict(op.attributes)
    if len(values) > 2:
        attributes["bias"] = values.pop()
    result = getattr(qrt, op.name)(*values, out_type=op.out, **attributes)
    return np.asarray(result.storage)


def lowered(op: DrawnOp, form: str) -> Module:
    return run_passes(parse(text_of(op)), f"lower-qrt{{{form}}}")


def check_ways(op: DrawnOp, form: str) -> bool:
    """Assert that all ways but mlir-runner give the same bits; return True if the lowered program is raised."""
    expected = eager(op)
    result = infer(op.name, op.types, op.out, **op.attributes)
    assert isinstance(result.element, UniformType)
    assert expected.shape == static_shape(result, op.name)
    ways = {
        "planned": run(parse(text_of(op)), op.arrays, False),
        "interpreted": run(parse(text_of(op)), op.arrays, True),
    }
    module = lowered(op, form)
    ways["lowered"] = run(module, op.arrays, True)
    inputs = dict(zip((port.name for port in compile(module).inputs), op.arrays, strict=True))
    (value,) = compile(lowered(op, form), codegen=True).run(inputs).values()
    ways["machine code"] = np.asarray(getattr(value, "storage", value))
    integers = run_passes(lowered(op, form), "quant-to-integer-types,canonicalize")
    raised(integers)
    signed = [signless(array, t.storage_width) for array, t in zip(op.arrays, op.elements, strict=True)]
    (value,) = results(integers, signed, interpret=False)
    ways["raised"] = value.view(expected.dtype)
    for way, value in ways.items():
        np.testing.assert_array_equal(value, expected, err_msg=f"{way}, {form}")
    return bool(kernels(integers))


@pytest.mark.parametrize("name", NAMES)
def test_six_ways(name: str) -> None:
    pytest.importorskip("llvmlite")
    numbers = 0
    for number, (seed, op) in enumerate(islice(drawn_ops(name), COUNT)):
        form = FORMS[number % len(FORMS)]
        try:
            numbers += check_ways(op, form)
        except Exception as error:
            raise AssertionError(f"seed {seed!r}, {form}: {error}") from error
    assert numbers >= COUNT // 4


@mlir_opt.needed
def test_mlir_runner() -> None:
    cases, expected = [], []
    for name in NAMES:
        for number, (_, op) in enumerate(islice(drawn_ops(name), UPSTREAM)):
            values = [stored(array, t) for array, t in zip(op.arrays, op.elements, strict=True)]
            result = infer(op.name, op.types, op.out, **op.attributes)
            cases.append(case(lowered(op, FORMS[number % len(FORMS)]), values))
            expected.append([[stored(eager(op), result.element)]])
    for run_case, outcome, value in zip(cases, execute(cases), expected, strict=True):
        assert outcome == value, run_case.text
