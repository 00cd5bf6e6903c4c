"""The advice in errors of tensors and operations that no call of test_hints.py has, followed. Hazard: a call that gives
another value than the one that was meant."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import QuantError
from qrt.types import QuantileType
from tests.messages.advice import ANYWHERE, enter_parts, hears
from tests.messages.hints import run
from tests.messages.test_hints import FOLLOWED, KNOWN


def allowing(mode: Any, code: str) -> Any:
    """Return the value of an expression where floats are allowed."""
    with qrt.float_results(mode):
        return run(code, KNOWN)


NAMES = KNOWN | {
    "Q": np.asarray(KNOWN["q"]), "P": np.asarray(KNOWN["per_axis"]), "B": np.asarray(KNOWN["blocks"]),
    "huge": qrt.quantize([[1.0, 2.0], [3.0, 4.0]], qrt.UniformType("i8", "f32", 1e30)),
    "tiny": qrt.quantize([[1.0, 2.0], [3.0, 4.0]], qrt.UniformType("i8", "f32", 2.0**-100)),
    "tinyblocks": qrt.QuantTensor(
        [[1, 2], [3, 4]], qrt.UniformType("i8", "f64", [[1e-60], [1e-60]], block_sizes={0: 1, 1: 2})
    ),
    "middle": qrt.quantize([1.0, -3.0], qrt.UniformType("i20", "f32", 0.25)),
    "large": qrt.QuantTensor([2**31 - 1, 1], qrt.UniformType("i32", "f32", 0.5)),
    "out64": qrt.UniformType("i8", "f64", 0.25),
    "sums": qrt.QuantTensor(
        [[1, 2], [3, 4]], qrt.UniformType("i8", "f32", [[2.0**126], [2.0**126]], block_sizes={0: 1, 1: 2})
    ),
    "row": qrt.QuantTensor([[1, 2]], qrt.UniformType("i8", "f32", [[0.5]], block_sizes={0: 1, 1: 2})),
    "deep": qrt.quantize(np.ones((1,) * 40), qrt.UniformType("i8", "f32", 0.5)),
    "far": qrt.QuantTensor([101, 101], qrt.UniformType("i8", "f32", 1e30, 100)),
    "fine": qrt.UniformType("i8", "f32", 1e-8),
    "allowing": allowing,
    "QuantileType": QuantileType,
}  # fmt: skip
TENSORS: dict[str, tuple[str, str, tuple[str, ...], str]] = {
    "qrt.quantize(x, 'int8')": (
        "tensor/binding.py",
        ": give one such as {}, or the type that qrt.quantize(x, {}) chooses",
        ("qrt.quantize(x, {0})", "qrt.quantize(x, qrt.quantize(x, {1}).type)"), "x",
    ),
    "qrt.relu(q, out=x)": (
        "tensor/binding.py", ": give a tensor of the result's type and shape, or omit out=...",
        ("qrt.relu(q)", "qrt.relu(q, out=q.copy())"), "np.maximum(Q, 0)",
    ),
    "qrt.matmul(q, blocks, out_type=t, requant='fixed_double')": (
        "ops/accumulate.py", "'requant' must be {} or {} for weights of a sub-channel type, got {}",
        ("qrt.matmul(q, blocks, out_type=t, requant={0})", "qrt.matmul(q, blocks, out_type=t, requant={1})"), "Q @ B",
    ),
    "qrt.matmul(per_axis, q, out_type=t)": (
        "ops/matmul.py", ": requantize {} to a per-layer type",
        ("qrt.matmul(qrt.requantize(per_axis, LAYER), q, out_type=t)",), "P @ Q",
    ),
    "qrt.matmul(f64, tinyblocks, out_type=out64, requant='float32')": (
        "ops/sub_channel.py", "and the bias exceed the range of float32: use requant = {}",
        ("qrt.matmul(f64, tinyblocks, out_type=out64, requant={0})",), "np.zeros((2, 2))",
    ),
    "qrt.matmul(q, sums, out_type=LONGER, requant='float32')": (
        "ops/sub_channel.py", "may exceed the range of float32: use requant = {}",
        ("qrt.matmul(q, sums, out_type=LONGER, requant={0})",), "",
    ),
    "qrt.conv2d(image, kernel, padding='same', out_type=t)": (
        "ops/window.py", ": write {}", ("qrt.conv2d(image, kernel, padding={0}, out_type=t)[:, 1:3, 1:3]",),
        "np.full((1, 2, 2, 2), 27)",
    ),
    "qrt.mean(q, axis=0)": ("errors.py", "did you mean {}?", ("qrt.mean(q, **{{{0}: 0}})",), "[2, 2]"),
    "qrt.quantize(x)": (
        "tensor/casts.py", "quantize: expected a type, or bits=... to choose one from "
            "the values, as in {}, got neither",
        ("{0}", "qrt.quantize(x, U)"), "x",
    ),
    "qrt.quantize(x, U, bits=8)": (
        "tensor/casts.py", "quantize: expected either a type, or bits=... with its options, got both",
        ("qrt.quantize(x, U)", "qrt.quantize(x, bits=8)"), "x",
    ),
    "np.repeat(per_axis, 2)": (
        "tensor/protocol/elements.py",
        ": give another axis, {} for the values, or qrt.requantize to a type per layer first",
        ("np.repeat(np.asarray(per_axis), 2)",
         "np.repeat(qrt.requantize(per_axis, LAYER), 2)"), "np.repeat(P, 2)",
    ),
    "np.square(wide)": (
        "tensor/protocol/exact.py", "give {}dtype=np.float64", ("np.square(wide, dtype=np.float64)",),
        "np.float64(np.asarray(wide)) ** 2",
    ),
    "np.square(middle)": (
        "tensor/protocol/exact.py", "dtype=t, a !quant.uniform type, or {}",
        ("np.square(middle, {0})", "np.square(middle, dtype=t)"), "np.asarray(middle) ** 2",
    ),
    "float(q)": (
        "tensor/protocol/methods.py", ": take an element, or {}", ("[list(map(float, row)) for row in q]", "{0}"), "Q",
    ),
    "q.mean(dtype=T, out_type=T)": (
        "tensor/protocol/methods.py", "mean: 'dtype' and 'out_type' both set the type of the result: give one of them",
        ("q.mean(out_type=T)", "q.mean(dtype=T)"), "np.round(Q.mean() * 2) / 2",
    ),
    "q.storag": ("tensor/protocol/methods.py", ": did you mean {}?", ("getattr(q, {0})",), "q.storage"),
    "np.clip(row, row, np.broadcast_to(row, (3, 2)))": (
        "tensor/protocol/rules/order.py", "an axis with blocks cannot be broadcast, got a tensor of "
            "type {}: give tensors of the same shape",
        ("np.clip(*[np.broadcast_to(row, (3, 2))] * 3)",), "np.broadcast_to(np.asarray(row), (3, 2))",
    ),
    "np.choose([0], [deep])": (
        "tensor/numpy_errors.py", "dimensions, got {}: reshape the tensor",
        ("np.choose([0], [deep.reshape(1)])",), "[1.0]",
    ),
    "q / r": (
        "tensor/float_results.py", ": write ",
        ("np.asarray(q) / np.asarray(r)",), "Q / np.asarray(r)",
    ),
    "q / v": (
        "tensor/float_results.py", ", or use qrt.float_results({})", ("allowing({0}, 'q / v')",), "Q / np.asarray(v)",
    ),
    "np.trapezoid(x, dx=q)": (
        "tensor/float_results.py", ", and {} calls it: give {} np.asarray(q)",
        ("{1}(x, dx=np.asarray(q))",), "np.trapezoid(x, dx=Q)",
    ),
    "q + r": (
        "ops/requant.py", "give out_type, as in qrt.{}({}, "
            "out_type=t)", ("qrt.{0}(q, r, out_type=t)",), "Q + np.asarray(r)",
    ),
    "qrt.mean(far, out_type=fine, requant='raw_mean')": (
        "numerics/rules.py", "the scales exceed the range of float32: use requant = {}",
        ("qrt.mean(far, out_type=fine, requant={0}).storage",), "127",
    ),
    "qrt.quantize(x, qrt.UniformType('i4', 'f32', np.ones((2, 2)), block_sizes={0: 1}))": (
        "types/integrity.py", ", write {}: {} there",
        ("qrt.quantize(x, qrt.UniformType('i4', 'f32', np.ones((2, 2)), block_sizes={{0: 1, {0}: {1}}}))",), "x",
    ),
    "qrt.UniformType('i8', 'f32', [0.5, 0.25])": (
        "types/parameters.py", "need an axis or block sizes: write ",
        ("qrt.UniformType('i8', 'f32', [0.5, 0.25], axis=0).scales",), "[0.5, 0.25]",
    ),
    "QuantileType('ui1', 'f16', [-1.0, 1.0], storage_min=0)": (
        "types/quantile.py", "a quantile type must have both bounds or none, got one bound: give {} and {}",
        ("QuantileType('ui1', 'f16', [-1.0, 1.0], {0}=0, {1}=1).quantiles",
         "QuantileType('ui1', 'f16', [-1.0, 1.0]).quantiles"), "[-1.0, 1.0]",
    ),
    "qrt.UniformType('i8', 'f32', scale=0.5, scales=0.5)": (
        "types/quantized.py", "{} and {} set the same parameter: give one of them",
        ("qrt.UniformType('i8', 'f32', scale=0.5).scale", "qrt.UniformType('i8', 'f32', scales=0.5).scale"), "0.5",
    ),
    "qrt.UniformType('i8', 'f32')": (
        "types/quantized.py",
        "a uniform type needs scales: write {}, or take the type that qrt.quantize(x, {}) chooses",
        ("qrt.quantize(x, {0})", "qrt.quantize(x, qrt.quantize(x, {1}).type)"), "x",
    ),
    "qrt.UniformType.for_range(0.0, 1.0, 'i1', narrow=True)": (
        "types/quantized.py", "'storage' must have at least 2 bits with narrow=True, got 1",
        ("qrt.quantize([0.0, 1.0], qrt.UniformType.for_range(0.0, 1.0, 'i2', narrow=True))",), "[0, 1]",
    ),
    "qrt.parse_type('!quant.uniform<i8:f32, 1>')": (
        "types/scanner.py", "expected {}: add a trailing dot to the integer, {}",
        ("qrt.parse_type('!quant.uniform<i8:f32, 1.>').scale",), "1.0",
    ),
    "huge * 1e300": (
        "tensor/protocol/rules/arithmetic.py", ": give the values as float64, {}",
        ("{0} * 1e300".replace("{0}", "np.asarray(huge, np.float64)"),), "np.float64(np.asarray(huge)) * 1e300",
    ),
    "np.std(q, axis=1, dtype=t)": (
        "tensor/protocol/rules/sums.py", "the dtype of the result: write {} for a quantized type t",
        ("{0}",), "np.std(Q, axis=1)",
    ),
    "np.quantile(q, 0.3)": (
        "tensor/protocol/rules/order.py", "or give method={}, {}, {} or {}",
        ("np.quantile(q, 0.3, method={0})",), "np.quantile(Q, 0.3, method='lower')",
    ),
    "np.clip(q, [0.0, 1.0], 2)": (
        "tensor/protocol/rules/order.py", ": write {}, or qrt.quantize the array, which rounds and clamps it",
        ("np.clip(q, qrt.quantize([0.0, 1.0], q.type), 2)",), "np.clip(Q, [0, 1], 2)",
    ),
    "np.zeros(3, like=q)": (
        "tensor/protocol/rules/floats.py", "make the array without like=q, and qrt.quantize it to {}",
        ("qrt.quantize(np.zeros(3), {0})",), "np.zeros(3)",
    ),
    "np.frompyfunc(float, 1, 1)(q)": (
        "tensor/protocol/exact.py", "give np.asarray(q), the values as floats",
        ("np.frompyfunc(float, 1, 1)(np.asarray(q)).astype(float)",), "Q",
    ),
    "q.__array_function__(np.asarray_chkfinite, (), (q,), {})": (
        "tensor/protocol/table.py", ": give {}, the values as floats",
        ("np.asarray_chkfinite({0})",), "Q",
    ),
    "q.__dlpack__(copy=False)": (
        "tensor/quant_tensor.py", ": give {} instead", ("np.from_dlpack({0})",), "q.storage",
    ),
    "large[0] + large[0]": (
        "tensor/quant_tensor.py", "which overflows i32: write {}, {}, or for the sum of a tensor {}",
        ("qrt.add(large[0], large[0], out_type=BIG.with_(scales=1.0))",
         "np.sum(np.stack([large[0]] * 2), dtype=np.float64)"),
        "2.0**31",
    ),
}  # fmt: skip


for _call, (_place, _part, *_) in TENSORS.items():
    enter_parts(_place, (_part,), _call)
for _call, (_part, _, _) in FOLLOWED.items():
    if _part:
        enter_parts(ANYWHERE, (_part,), _call)


@pytest.mark.parametrize("call", TENSORS)
@hears(*[part for _, part, _, _ in TENSORS.values()])
def test_who_follows_the_error_of_a_tensor_has_the_value(call: str, heard: Any) -> None:
    _, part, instead, value = TENSORS[call]
    heard.parts = {part: False}
    with pytest.raises((QuantError, TypeError, BufferError, AttributeError)) as raised:
        run(call, NAMES)
    values = heard.text(str(raised.value))
    for code in instead:
        result = run(code.format(*values), NAMES)
        if value:
            np.testing.assert_allclose(np.asarray(result), run(value, NAMES), rtol=1e-6, atol=0.02)


OPERATIONS = {
    "clamp": "qrt.clamp %x {max = 1.0 : f64, min = 0.0 : f64}",
    "pad": "qrt.pad %x {padding = [[0, 0], [0, 0], [0, 0], [0, 0]]}",
    "maximum": "qrt.maximum %x, %x",
    "max_pool2d": "qrt.max_pool2d %x {kernel = [1, 1], strides = [1, 1]}",
}


@pytest.mark.parametrize("family", OPERATIONS)
@hears("the result must have the type of the operand, {}, got {}: requantize the result in a second operation")
def test_an_operation_that_keeps_the_type_is_requantized_apart(family: str, heard: Any) -> None:
    first, second = (f"tensor<1x4x4x2x!quant.uniform<i8:f32, {scale}>>" for scale in (0.5, 0.25))
    operands = "(" + ", ".join([first] * OPERATIONS[family].count("%")) + ")"

    def compiled(result: str, *lines: str) -> Any:
        body = "\n".join([f"%y = {OPERATIONS[family]} : {operands} -> {result}", *lines])
        return qrt.compile(f"func.func @main(%x: {first}) -> {second} {{\n{body}\n}}")

    heard(lambda: compiled(second, f"return %y : {second}"))
    program = compiled(first, f"%z = qrt.requantize %y : ({first}) -> {second}", f"return %z : {second}")
    x = qrt.quantize(np.linspace(0, 1, 32).reshape(1, 4, 4, 2), qrt.UniformType("i8", "f32", 0.5))
    assert np.array_equal(np.asarray(program(x)), np.asarray(x))


enter_parts(
    "ops/core.py",
    ("the result must have the type of the operand, {}, got {}: requantize the result in a second operation",),
    "apart",
)
