"""mlir-opt 22 reads every lowered program, and mlir-runner 22 executes it to the same bits."""

import os

import numpy as np
import pytest

from qrt.passes import run_passes
from qrt.passes.lower_qrt import LOWERINGS
from qrt.types import TensorType, UniformType
from tests import mlir_opt
from tests.ops.harness import Array, infer, reference, tensor
from tests.ops.strategies import storage_of
from tests.oracle.execution.case import Case
from tests.oracle.execution.driver import execute
from tests.oracle.execution.values import Value
from tests.passes.lower_qrt.every_op import DYNAMIC, EVERY_OP
from tests.passes.lower_qrt.harness import OPTIONS, lowered, program
from tests.passes.lower_qrt.test_products import I8, I32, OUT, SUB_CHANNEL, U8, WIDE_OUT, per_axis

# The zero point of the last of SUB_CHANNEL is negative: mlir-opt 22 ends with an assertion where it reads the type.
RULES = ("fixed", "fixed_double", "float32", "float64_away")
OPS = [
    ("matmul", [tensor((2, 4), I8), tensor((4, 3), U8)], {}),
    ("matmul", [tensor((2, 4), I8), tensor((4, 3), per_axis(U8, 3, 1)), tensor((3,), I32)], {}),
    ("matmul", [tensor((2, 1, 3, 4), I8), tensor((2, 4, 5), U8)], {}),
    ("matmul", [tensor((4,), I8), tensor((4, 3), U8), tensor((3,), I32.with_(scales=0.1, zero_points=3))], {}),
    ("matmul", [tensor((1, 9), I32), tensor((9, 2), I8)], {}),  # sums of 64 bits
    ("conv2d", [tensor((1, 5, 4, 4), I8), tensor((6, 2, 3, 2), U8)], {"groups": 2, "padding": ((1, 0), (2, 1))}),
    ("conv2d", [tensor((1, 6, 6, 2), U8), tensor((3, 2, 2, 2), per_axis(I8, 3, 0)), tensor((3,), I32)],
     {"strides": (2, 1), "dilations": (1, 2)}),
    ("depthwise_conv2d", [tensor((1, 5, 5, 2), U8), tensor((2, 3, 4), I8)], {"padding": ((1, 1), (0, 0))}),
    *(("matmul", [tensor((2, 6), I8), tensor((6, 6), w), tensor((6,), I32)], {}) for w in SUB_CHANNEL[:3]),
]  # fmt: skip


def cases() -> list[tuple[str, list[Array], list[TensorType], TensorType, dict[str, object]]]:
    """Each op under each rule it has, with a wide result that shows every bit and a narrow one that saturates."""
    found = []
    rng = np.random.default_rng(7)
    for name, types, attributes in OPS:
        weights = types[1].element
        assert isinstance(weights, UniformType)
        for rule in RULES[:: 2 if weights.is_sub_channel else 1]:
            if rule == "fixed_double" and types[0].element is I32:
                continue
            arrays = [storage_of(t.element, t.shape, rng) for t in types]  # type: ignore[arg-type]
            for out in (OUT, WIDE_OUT):
                said = {**attributes, "requant": rule}
                found.append((name, arrays, types, infer(name, types, out, **said), said))
    for name, operands, element, said in EVERY_OP:
        types = [tensor(shape, t) for shape, t in operands]
        arrays = [storage_of(t, shape, rng) for shape, t in operands]
        found.append((name, arrays, types, infer(name, types, element, **said), said))
    return found


def test_every_op_is_here() -> None:
    assert {name for name, *_ in cases()} == set(LOWERINGS)


@mlir_opt.needed
@pytest.mark.parametrize("options", OPTIONS)
def test_mlir_opt_reads_what_is_lowered(options: str) -> None:
    """Static shapes, dynamic ones, and results without elements."""
    texts = [
        str(lowered(program(name, arrays, types, result, **said), options))
        for name, arrays, types, result, said in cases()
    ]
    dynamic = tensor((None, None), I8), tensor((None, None), U8)
    empty = tensor((0, 4), I8), tensor((4, 0), U8)
    for types in (dynamic, empty, (tensor((2, 0), I8), tensor((0, 3), U8))):
        text = program("matmul", [np.empty(0)] * 2, types, infer("matmul", types, OUT))
        texts.append(str(lowered(text, options)))
    for name, operands, element, attributes in DYNAMIC:
        types = [tensor(shape, t) for shape, t in operands]
        result = infer(name, types, element, **attributes)
        texts.append(str(lowered(program(name, [np.empty(0)] * len(types), types, result, **attributes), options)))
    done = mlir_opt.run("\n// -----\n".join(texts), "--split-input-file")
    assert done.returncode == 0, done.stderr.decode()[:2000]


@mlir_opt.needed
@pytest.mark.parametrize("options", OPTIONS)
def test_mlir_runner_computes_the_same_bits(options: str) -> None:
    wanted, programs = [], []
    step = 1 if os.environ.get("QRT_REQUIRE_ORACLE") else 6  # LLVM takes its time for each of them
    for name, arrays, types, result, said in cases()[::step]:
        module = lowered(program(name, arrays, types, result, **said), options)
        text = str(run_passes(module, "strip-func-quant-types,canonicalize")).replace("@main", "@f")
        assert "quant" not in text
        body = text.partition("module {\n")[2].rpartition("}")[0]
        lines = "\n".join(line.removeprefix("  ") for line in body.splitlines())
        operands = [_value(array, t.element) for array, t in zip(arrays, types, strict=True)]
        programs.append(Case("lower-qrt", lines + "\n", [operands]))
        expected, _ = reference(name, arrays, types, result, **said)
        wanted.append(_value(expected, result.element))
    for case, outcome, expected in zip(programs, execute(programs), wanted, strict=True):
        assert not isinstance(outcome, str), f"{outcome[:1000]}\n{case.text}"
        ((got,),) = outcome
        assert got == expected, case.text


def _value(array: Array, t: object) -> Value:
    assert isinstance(t, UniformType)
    mask = (1 << t.storage_width) - 1
    return Value(str(t.storage_type), array.shape, tuple(int(v) & mask for v in array.ravel()))
