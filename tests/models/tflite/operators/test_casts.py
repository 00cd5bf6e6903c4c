"""QUANTIZE and DEQUANTIZE from files. Hazards: a constant that is dequantized at each run, one that is rounded
otherwise, int4 or float16 that LiteRT reads otherwise."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.ir import Module
from qrt.models.profiles import PROFILES
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.oracle import PROFILES as NAMES
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write

F32 = np.float32


def imported(content: bytes, profile: str = "litert") -> Module:
    module = import_model(read(content), PROFILES[profile])
    module.verify()
    return module


def results(content: bytes, profile: str, *inputs: np.ndarray) -> list[np.ndarray]:
    result = qrt.compile(imported(content, profile))(*inputs)
    return [np.asarray(array) for array in (result if isinstance(result, tuple) else (result,))]


def returned(constant: Tensor) -> bytes:
    """A model that returns a dequantized constant."""
    x = Tensor((1,), "float32")
    y, dequantized = Tensor((1,), "float32"), Tensor(constant.shape, "float32")
    operators = [Operator("DEQUANTIZE", [constant], [dequantized], version=6), Operator("ABS", [x], [y])]
    return write([Subgraph([x], [dequantized, y], operators)])


@pytest.mark.parametrize("profile", NAMES)
def test_float16_constants_are_widened_at_import(profile: str) -> None:
    """The operator that reads them is imported as if they were float32, and a second reader gets the same constant."""
    halves = Tensor((2, 2), "float16", data=[[1.5, -2], [0.25, 64]])
    x, w = Tensor((1, 2), "float32"), Tensor((2, 2), "float32")
    hidden, y = Tensor((1, 2), "float32"), Tensor((1, 2), "float32")
    dense = [Operator("FULLY_CONNECTED", [a, w, None], [b]) for a, b in ((x, hidden), (hidden, y))]
    content = write([Subgraph([x], [y], [Operator("DEQUANTIZE", [halves], [w], version=3), *dense])])
    names = [operation.name for operation in imported(content, profile).operation.walk()]
    assert "arith.extf" not in names
    assert names.count("arith.constant") == 3  # the weights, and the starts of both loops' sums
    (result,) = results(content, profile, F32([[2, 1]]))
    assert result.tolist() == [[-127.5, 4128.25]]


def test_special_values_of_float16_are_those_of_float32() -> None:
    values = np.float16([np.inf, -np.inf, -0.0, 2.0**-14, 2.0**-24])
    (result, _) = results(returned(Tensor((5,), "float16", data=values)), "litert", F32([0]))
    assert result.view(np.uint32).tolist() == values.astype(F32).view(np.uint32).tolist()


def test_computed_float16_is_widened_by_the_run() -> None:
    x, y = Tensor((3,), "float16"), Tensor((3,), "float32")
    (result,) = results(one_op("DEQUANTIZE", [x], [y], version=3), "litert", np.float16([0.1, 1, -65504]))
    assert np.array_equal(result, np.float16([0.1, 1, -65504]).astype(F32))


@pytest.mark.parametrize("profile", NAMES)
def test_constants_of_one_int8_scale_are_rounded_twice_in_blocks_of_eight(profile: str) -> None:
    """Only the default build does so: it adds the rounded product with the zero point, and rounds what is behind the
    last block once."""
    stored, scale = np.arange(-130 + 11, -130 + 22, dtype=np.int8), F32(0.0041364)
    (result, _) = results(returned(Tensor((11,), "int8", scale, -128, data=stored)), profile, F32([0]))
    exact = F32(np.float64(scale) * (stored.astype(int) + 128))
    twice = stored * scale + F32(128 * np.float64(scale))
    assert not np.array_equal(exact[:8], twice[:8])  # or the order would not matter
    assert np.array_equal(result, np.append(twice[:8], exact[8:]) if profile == "litert" else exact)


def test_int4_constants_are_two_in_a_byte() -> None:
    """The last half byte is unused."""
    stored = Tensor((3, 1), "int4", [0.5, 2, 1], 0, 0, data=bytes([3 | 14 << 4, 8 | 15 << 4]))
    (result, _) = results(returned(stored), "litert", F32([0]))
    assert result.tolist() == [[1.5], [-4], [-8]]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (Tensor((2,), "int8"), Tensor((2,), "float32"), "int8 without scales, to float32"),
        (Tensor((2,), "float32"), Tensor((2,), "float32"), "float32 without scales, to float32"),
        (Tensor((2,), "int8", 0.5), Tensor((2,), "float16"), "to float16"),
    ],
)
def test_other_forms_are_refused(x: Tensor, y: Tensor, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        imported(one_op("DEQUANTIZE", [x], [y]))


def test_computed_int4_is_refused() -> None:
    x, packed, y = Tensor((2,), "float32"), Tensor((2,), "int4", 0.5), Tensor((2,), "float32")
    operators = [Operator("QUANTIZE", [x], [packed]), Operator("DEQUANTIZE", [packed], [y])]
    with pytest.raises(ModelError, match=r"QUANTIZE .output 0 't1' of int4."):
        imported(write([Subgraph([x], [y], operators)]))
