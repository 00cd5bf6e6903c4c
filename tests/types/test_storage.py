"""Types by NumPy's names, and arguments in the singular. Hazard: a dtype that is read as a type of other values."""

import ml_dtypes
import numpy as np
import pytest

from qrt import AnyQuantizedType, UniformType
from qrt.errors import QuantTypeError
from qrt.numerics.conversions import float_dtype
from qrt.numerics.float_text import FORMATS


@pytest.mark.parametrize("sign", ["", "u"])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_storage_by_a_dtype(sign: str, bits: int) -> None:
    name = f"{sign}int{bits}"
    expected = UniformType(f"{sign or 'i'}{bits}", "f32", 0.5)
    for spelled in (name, np.dtype(name), getattr(np, name), np.dtype(name).newbyteorder(">")):
        assert UniformType(spelled, "f32", 0.5) is expected
        assert expected.with_(storage=spelled) is expected
    assert str(AnyQuantizedType(name)) == f"!quant.any<{sign or 'i'}{bits}>"


def test_storage_that_numpy_lacks() -> None:
    assert UniformType("uint4", "f32", 0.5) is UniformType(ml_dtypes.uint4, "f32", 0.5) is UniformType("u4", "f32", 0.5)
    assert UniformType("int3", "f32", 0.5) is UniformType("i3", "f32", 0.5)


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in ("tf32", "f80", "f128")])
def test_every_float_format_by_its_dtype(form: str) -> None:
    dtype = float_dtype(form)
    for spelled in (dtype, dtype.type, dtype.name):
        assert UniformType("i8", spelled, 1.0).expressed_type.name == form


@pytest.mark.parametrize("other", ["int64", "int0", "int8 ", "complex64", np.int64, np.float32, np.bool_, int, None, 8])
def test_other_storage_is_refused(other: object) -> None:
    with pytest.raises(QuantTypeError, match="illegal storage type"):
        UniformType(other, "f32", 0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("other", ["float31", "float8_e9m9", "bfloat17", np.longdouble, np.complex64, np.int8, float])
def test_other_floats_are_refused(other: object) -> None:
    with pytest.raises(QuantTypeError, match="invalid expressed type"):
        UniformType("i8", other, 0.5)  # type: ignore[arg-type]


def test_the_singular_is_the_same_argument() -> None:
    t = UniformType("i8", "f32", 0.5, 3)
    assert UniformType("i8", "f32", scale=0.5, zero_point=3) is t
    assert UniformType("i8", "f32", 0.5, zero_point=3) is t
    assert UniformType("i8", "f32", scale=[0.5, 1.0], axis=0).scales == (0.5, 1.0)
    assert t.with_(scale=0.25, zero_point=0) is UniformType("i8", "f32", 0.25)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "a uniform type needs scales"),
        ({"zero_point": 1}, "a uniform type needs scales"),
        ({"scales": 0.5, "scale": 0.5}, "'scale' and 'scales' set the same parameter: give one of them"),
        (
            {"scales": 0.5, "zero_points": 1, "zero_point": 1},
            "'zero_point' and 'zero_points' set the same parameter: give one of them",
        ),
        (
            {"scales": [0.5], "axis": -1},
            r"illegal quantized dimension: -1 \(the axis of a type is counted from 0, "
            r"because a type has no rank\)",
        ),
        (
            {"scales": [0.5], "block_sizes": {-1: 2}},
            r"illegal quantized dimension: -1 \(the axis of a type is counted from 0, because a type has no rank\)",
        ),
    ],
)
def test_arguments_that_say_nothing_or_twice(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        UniformType("i8", "f32", **arguments)  # type: ignore[arg-type]
