"""Wrong and unsupported forms of arithmetic operators: each is one ModelError that names file, operator and form, and
nothing else is raised.

Hazards: a family's own error, an index or a division in the importer that meets a number of the file first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor, one_op

FLOATS = Tensor((3, 2), "float32")
X, X16 = (lambda *shape: Tensor(shape, "int8", 0.5, 3)), (lambda *shape: Tensor(shape, "int16", 0.5))


def power(exponent: int) -> Tensor:
    return Tensor((4,), "int16", 2.0**exponent)


def axes(*values: int) -> Tensor:
    return Tensor((len(values),), "int32", data=list(values))


def spread(
    shape: tuple[int, ...] = (1, 5, 5, 2), out: tuple[int, ...] = (1, 5, 5, 2), strides: tuple[int, int] = (2, 2),
    weights: tuple[int, ...] = (2, 3, 3, 4), bias: Tensor | None = None, **said: Any,
) -> bytes:  # fmt: skip
    w = Tensor(weights, "int8", **{"scales": 0.5, "data": np.ones(weights, np.int8), **said})
    options = {"padding": "SAME", "stride_h": strides[0], "stride_w": strides[1]}
    inputs = [axes(*shape), w, X(1, 3, 3, 4), bias]
    return one_op("TRANSPOSE_CONV", inputs if bias else inputs[:3], [X(*out)], options, version=3)


def integers(name: str) -> bytes:
    """Integers without a scale where floats are expected, whose least value is no infinity."""
    x, y = Tensor((2, 3), "int32"), Tensor((2, 3), "int32")
    return one_op(name, [x], [y], {"beta": 1.0} if name == "SOFTMAX" else {})


CASES: dict[str, tuple[Callable[[], bytes], str]] = {
    "softmax of integers": (lambda: integers("SOFTMAX"), r"SOFTMAX \(int32 among floats\)"),
    "log-softmax of integers": (lambda: integers("LOG_SOFTMAX"), r"LOG_SOFTMAX \(int32 among floats\)"),
    "a sum of 16 bits with a zero point": (
        lambda: one_op("ADD", [X16(4), Tensor((4,), "int16", 0.5, 7, name="shifted")], [X16(4)]),
        r"ADD \('shifted' of int16 with a zero point other than 0, which LiteRT does not run\)",
    ),
    "16 bits with a zero point to 16 bits": (
        lambda: one_op("QUANTIZE", [X16(4)], [Tensor((4,), "int16", 0.25, -1)]),
        r"QUANTIZE \(int16 to int16 with a zero point other than 0, which LiteRT does not run\)",
    ),
    "a softmax of 16 bits with a zero point": (
        lambda: one_op("SOFTMAX", [Tensor((4,), "int16", 0.25, 1)], [Tensor((4,), "int16", 2.0**-15)], {"beta": 1.0}),
        r"SOFTMAX \(int16 with a zero point other than 0, which LiteRT does not run\)",
    ),
    "sums of powers of two that broadcast": (
        lambda: one_op("ADD", [X16(4), X16(1)], [X16(4)], {"pot_scale_int16": True}),
        r"ADD \(int16 that broadcasts, of scales that are powers of two \(pot_scale_int16\)\)",
    ),
    "sums of powers of two of which none is the result's": (
        lambda: one_op("SUB", [power(-4), power(-5)], [power(-3)]), r"SUB: one input must have the scale of the"
    ),
    "a sum of a scale above the result's": (
        lambda: one_op("ADD", [power(-3), power(-2)], [power(-3)]), r"ADD: the scale of input 1 must be at most that"
    ),
    "a sum that is shifted by more bits than there are": (
        lambda: one_op("SUB", [power(-19), power(-3)], [power(-3)]), r"SUB \(int16 shifted by 16 bits, more than 15\)"
    ),
    "a sum that LiteRT's kernel wraps": (
        lambda: one_op("ADD", [X(4), Tensor((4,), "int8", 200.0)], [X(4)]),
        r"ADD \(profile litert has no rule for add with storage = i8, ratio = 1.0, largest_ratio = 400.0",
    ),
    "operands of two dtypes": (
        lambda: one_op("MAXIMUM", [X(4), X16(4)], [X(4)]),
        "operator 0 MAXIMUM: its inputs and its result must have the same storage type, got i8, i16 and i8",
    ),
    "shapes that do not broadcast": (
        lambda: one_op("MINIMUM", [X(4), X(3)], [X(4)]), r"operator 0 MINIMUM: minimum: 'a' and "
            r"'b' must have shapes that broadcast, got \[4\] and \[3\]"
    ),
    "a quotient whose multiplier has no 31 bits": (
        lambda: one_op("DIV", [X16(4), X16(4)], [Tensor((4,), "int16", scales=2.0**-31)]),
        r"DIV: div: scale of 'a' / \(scale of 'b' \* scale of the result\) must be below 2\*\*30, got"
    ),
    "a slope that is no number": (
        lambda: one_op("LEAKY_RELU", [X(4)], [X(4)], {"alpha": float("nan")}), "LEAKY_RELU: option alpha must be"
    ),
    "slopes that do not broadcast": (
        lambda: one_op("PRELU", [X(2, 4), X(3)], [X(2, 4)]), r"operator 0 PRELU: prelu: 'x' and "
            r"'alpha' must have shapes that broadcast, got \[2, 4\] and \[3\]"
    ),
    "magnitudes without a rule": (
        lambda: one_op("ABS", [Tensor((4,), "uint8", 0.5)], [Tensor((4,), "uint8", 0.5)]),
        r"ABS \(profile litert has no rule for abs with storage = u8",
    ),
    "a sign without a kernel": (
        lambda: one_op("NEG", [Tensor((4,), "uint8", 0.5)], [Tensor((4,), "uint8", 0.5)]), r"NEG \(uint8\)"
    ),
    "a quotient of two types": (
        lambda: one_op("FLOOR_DIV", [Tensor((4,), "int8"), Tensor((4,), "int16")], [Tensor((4,), "int8")]),
        "FLOOR_DIV: its inputs and its result must have the same type, got int16 and int8",
    ),
    "a rest without a kernel": (
        lambda: one_op("FLOOR_MOD", [Tensor((4,), "uint8")] * 2, [Tensor((4,), "uint8")]), r"FLOOR_MOD \(uint8\)"
    ),
    "a sum over an axis too far": (
        lambda: one_op("SUM", [X(2, 4), axes(-3)], [X(2)]), "SUM: the axis must be from -2 to 1, got -3"
    ),
    "a sum over axes that the run knows": (
        lambda: one_op("SUM", [X(2, 4), Tensor((1,), "int32")], [X(2)]), r"SUM \(axes known only at run time\)"
    ),
    "a sum to another dtype": (
        lambda: one_op("SUM", [X(2, 4), axes(1)], [X16(2)]), r"SUM \(int8 to int16\)"
    ),
    "a matrix of rank 1": (
        lambda: one_op("BATCH_MATMUL", [X(4), X(4, 2)], [X(2)]), "BATCH_MATMUL: input 0 must have at least 2 axes"
    ),
    "depths that differ": (
        lambda: one_op("BATCH_MATMUL", [X(3, 4), X(3, 4)], [X(3, 4)]), "the same size, got 4 and 3"
    ),
    "matrices of two dtypes": (
        lambda: one_op("BATCH_MATMUL", [X(3, 4), X16(4, 3)], [X(3, 3)]), r"BATCH_MATMUL \(int8, int16, int8\)"
    ),
    "a matrix of 16 bits by one of several scales": (
        lambda: one_op("BATCH_MATMUL", [X16(3, 4), Tensor((4, 2), "int8", [0.5, 1], axis=1)], [X16(3, 2)]),
        r"BATCH_MATMUL \(int16 with several scales, for which LiteRT computes 0\)",
    ),
    "a matrix of bytes by one of several scales": (
        lambda: one_op("BATCH_MATMUL", [X(3, 4), Tensor((4, 2), "int8", [0.5, 1], axis=1)], [X(3, 2)]),
        r"BATCH_MATMUL \(int8 with several scales, for which LiteRT computes 0\)",
    ),
    "a matrix of several scales by one of bytes": (
        lambda: one_op("BATCH_MATMUL", [Tensor((2, 4), "int8", [0.5, 1]), X(4, 2)], [X(2, 2)]),
        r"BATCH_MATMUL \(int8 with several scales, for which LiteRT computes 0\)",
    ),
    "a matrix of 16 bits by one of a zero point": (
        lambda: one_op("BATCH_MATMUL", [X16(3, 4), X(4, 2)], [X16(3, 2)]), "storage = i16.*weight_offset = True"
    ),
    "a float matrix by one that the run gives": (
        lambda: one_op("BATCH_MATMUL", [Tensor((3, 4), "float32"), Tensor((4, 2), "int8", 0.5)], [FLOATS]),
        r"BATCH_MATMUL \(float32 with int8 matrices known only at run time, whose products LiteRT computes as 0\)",
    ),
    "a float matrix by one of scales along its depth": (
        lambda: one_op(
            "BATCH_MATMUL", [Tensor((3, 4), "float32"), Tensor((4, 2), "int8", [0.5, 1, 2, 4], data=1)], [FLOATS]
        ),
        "BATCH_MATMUL: the quantized_dimension of the weights must be 1, got 0",
    ),
    "float matrices in batches that do not broadcast": (
        lambda: one_op("BATCH_MATMUL", [Tensor((2, 3, 4), "float32"), Tensor((3, 4, 2), data=1, scales=1)], [FLOATS]),
        r"BATCH_MATMUL: the batch dimensions of its inputs must broadcast, got \[2\] and \[3\]",
    ),
    "a stride of 0": (lambda: spread(strides=(0, 1)), r"TRANSPOSE_CONV: strides \[0, 1\] must be positive"),
    "a shape of three": (lambda: spread(shape=(1, 5, 5)), r"TRANSPOSE_CONV: the shape of the result must be a"),
    "a shape of 0": (lambda: spread(shape=(1, 0, 5, 2)), r"TRANSPOSE_CONV: the shape of the result must be a"),
    "weights of another depth": (
        lambda: spread(weights=(2, 3, 3, 5)), "as many channels as 'w', 5 along the last axis, got 4"
    ),
    "weights with a zero point": (lambda: spread(zero_points=1), "zero points of signed weights must be 0, got 1"),
    "scales on another axis": (
        lambda: spread(scales=[0.5] * 4, zero_points=[0] * 4, axis=3), "the quantized_dimension of the weights must"
    ),
    "a bias out of the range of 32 bits": (
        lambda: spread(bias=Tensor((2,), "int64", 0.25, data=[1 << 40, 0])),
        r"TRANSPOSE_CONV \(a bias out of the range of 32 bits\)",
    ),
    "a bias of another length": (
        lambda: spread(bias=Tensor((3,), "int32", 0.25, data=[1, 2, 3])),
        "operator 0 TRANSPOSE_CONV: transpose_conv2d: 'bias' must be a vector with one value "
            "for each of the 2 output channels, got tensor<3x",
    ),
    "a stride beyond the result": (
        lambda: spread(shape=(1, 1, 1, 2), out=(1, 1, 1, 2), strides=(1 << 30, 1 << 30)), "ModelError|TRANSPOSE_CONV"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_form_that_is_refused(name: str) -> None:
    content, message = CASES[name]
    with pytest.raises(qrt.errors.ModelError, match=message) as caught:
        import_model(read(content()), profile("litert"))
    said = str(caught.value)
    assert len(said) < 2048
    assert said.count("\n") <= 2


def test_a_sum_that_the_reference_kernels_do_not_have() -> None:
    content = one_op("SUM", [X(2, 4), axes(1)], [X(2)])
    with pytest.raises(qrt.errors.ModelError, match="profile litert-ref has no rule for sum with storage = i8"):
        import_model(read(content), profile("litert-ref"))


def test_batches_that_the_reference_kernels_scale_wrongly() -> None:
    weights = Tensor((4, 2), "int8", 0.5, data=1)
    content = one_op("BATCH_MATMUL", [Tensor((2, 2, 3, 4), "float32"), weights], [Tensor((2, 2, 3, 2), "float32")])
    with pytest.raises(qrt.errors.ModelError, match="batches of several axes, which LiteRT's reference kernels scale"):
        import_model(read(content), profile("litert-ref"))
    import_model(read(content), profile("litert"))
