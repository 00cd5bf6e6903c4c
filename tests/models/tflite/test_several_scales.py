"""Tensors with a scale for each index of an axis, or with one scale and another quantized_dimension than 0. Hazards: an
error without a place; scales that LiteRT reads as 0; kernels that it does not use for such tensors."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor, one_op

SEVERAL = {"scales": [0.5, 0.25], "axis": 1}
ELEMENTWISE = {
    "ABS": 1, "ADD": 2, "DIV": 2, "ELU": 1, "EXP": 1, "GELU": 1, "HARD_SWISH": 1, "LEAKY_RELU": 1, "LOG": 1,
    "LOGISTIC": 1, "LOG_SOFTMAX": 1, "MUL": 2, "PRELU": 2, "RELU": 1, "RSQRT": 1, "SOFTMAX": 1, "SQRT": 1,
    "SQUARED_DIFFERENCE": 2, "SUB": 2, "TANH": 1,
}  # fmt: skip


def refusal(content: bytes, name: str = "litert") -> str:
    with pytest.raises(ModelError) as raised:
        import_model(read(content), profile(name))
    return str(raised.value)


def run(content: bytes, *arrays: np.ndarray, name: str = "litert") -> np.ndarray:
    return np.asarray(qrt.compile(import_model(read(content), profile(name)))(*arrays))


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("is_result", [False, True])
def test_operators_that_compute_with_a_scale_refuse_several(name: str, is_result: bool) -> None:
    x, y = (Tensor((3, 2), "int8", **(SEVERAL if i == is_result else {"scales": 0.5})) for i in (False, True))
    place = "output 0 't1'" if is_result else "input 0 't0'"
    said = refusal(one_op(name, [x] * ELEMENTWISE[name], [y]))
    assert f"{name} ({place} of int8 with several scales)" in said


@pytest.mark.parametrize("name", ["MEAN", "SUM"])
def test_reductions_refuse_several_scales(name: str) -> None:
    axes = Tensor((1,), "int32", data=[0])
    content = one_op(name, [Tensor((3, 2), "int8", **SEVERAL), axes], [Tensor((2,), "int8", 0.5)])
    assert f"{name} (input 0 't0' of int8 with several scales)" in refusal(content)


def test_images_of_several_scales() -> None:
    x, w = Tensor((1, 1, 1, 2), "int8", [0.5, 1], axis=3), Tensor((1, 1, 1, 2), "int8", 0.5, data=[[[[1, 1]]]])
    bias, y = Tensor((1,), "int32", 0.25, data=[0]), Tensor((1, 1, 1, 1), "int8", 0.5)
    assert "CONV_2D (input 0 't0' of int8 with several scales)" in refusal(one_op("CONV_2D", [x, w, bias], [y]))


def test_requantization_to_several_scales() -> None:
    x, y = Tensor((3, 2), "int8", 0.5), Tensor((3, 2), "int8", **SEVERAL)
    assert "QUANTIZE (int8 to int8, of several scales)" in refusal(one_op("QUANTIZE", [x], [y]))


def test_concatenation_of_several_scales() -> None:
    x, y = Tensor((3, 2), "uint8", **SEVERAL), Tensor((6, 2), "uint8", 0.5)
    assert "CONCATENATION (u8 of several scales)" in refusal(one_op("CONCATENATION", [x, x], [y], {"axis": 0}))


@pytest.mark.parametrize("name", ["litert", "litert-ref"])
def test_zero_points_of_an_axis(name: str) -> None:
    several = {**SEVERAL, "zero_points": [3, -128]}
    x = np.int8([[3, -128], [127, 127]])
    content = one_op("DEQUANTIZE", [Tensor((2, 2), "int8", **several)], [Tensor((2, 2), "float32")])
    np.testing.assert_array_equal(run(content, x, name=name), [[0, 0], [62, 63.75]])
    back = one_op("QUANTIZE", [Tensor((2, 2), "float32")], [Tensor((2, 2), "int8", **several)])
    np.testing.assert_array_equal(run(back, np.float32([[0, 0], [62, 63.75]]), name=name), [[0, 0], [62, 63.75]])


def test_other_operators_refuse_several_zero_points() -> None:
    x = Tensor((2, 2), "int8", **SEVERAL, zero_points=[0, 1])
    assert "RESHAPE (input 0 't0' of int8 with several zero points)" in refusal(
        one_op("RESHAPE", [x], [Tensor((2, 2), "int8", **SEVERAL)], {"new_shape": [2, 2]})
    )


# -- one scale, and a quantized_dimension that is not 0 ---------------------------------------------------------------


def _beside(name: str, dtype: str = "int8", count: int = 1) -> bytes:
    x, y = (Tensor((3, 2), dtype, scale, axis=1) for scale in (0.5, 0.25))
    return one_op(name, [x] * count, [y])


def test_the_kernel_is_a_builtin_one() -> None:
    """LiteRT's own LEAKY_RELU has another rule than XNNPACK's."""
    x, y = Tensor((2,), "int8", 0.25), Tensor((2,), "int8", 1.0)
    given = np.int8([1, 3])
    content = one_op("LEAKY_RELU", [x], [y], {"alpha": 0.5})
    beside = one_op("LEAKY_RELU", [x], [Tensor((2,), "int8", 1.0, axis=1)], {"alpha": 0.5})
    rules = [str(import_model(read(each), profile("litert"))) for each in (content, beside)]
    assert "fixed_double_f32" not in rules[0]
    assert "fixed_double_f32" in rules[1]
    np.testing.assert_array_equal(run(beside, given), run(beside, given, name="litert-ref"))


def test_forms_that_only_xnnpack_has_are_refused() -> None:
    said = "of one scale with quantized_dimension 1, for which LiteRT does not use XNNPACK; write 0"
    assert said in refusal(_beside("MUL", count=2))
    assert said in refusal(_beside("ELU"))
    import_model(read(_beside("MUL", count=2)), profile("litert-ref"))


def test_dequantize() -> None:
    x = Tensor((3, 2), "uint8", 0.5, axis=1)
    content = one_op("DEQUANTIZE", [x], [Tensor((3, 2), "float32")])
    assert "quantized_dimension 1" in refusal(content)
    np.testing.assert_array_equal(run(content, np.full((3, 2), 4, np.uint8), name="litert-ref"), np.full((3, 2), 2))
