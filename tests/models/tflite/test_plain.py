"""Plain numbers, bools and shapes: the same results whether they are known at import or computed, as NumPy has them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor, one_op

_INTS = [-(2**31), -7, -1, 0, 1, 3, 2**31 - 1]
_FLOATS = [-np.inf, -3.5, -2.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 1e30, np.inf, np.nan]


def _imported(file: bytes) -> qrt.ir.Module:
    return import_model(read(file), profile("litert"))


def _run(file: bytes, inputs: list[Any]) -> Any:
    program = qrt.compile(_imported(file))
    (found,) = program.run(dict(zip([port.name for port in program.inputs], inputs, strict=True))).values()
    return np.asarray(found)


def _results(name: str, arrays: list[Any], shape: tuple[int, ...], dtype: str, options: Mapping[str, Any]) -> list[Any]:
    """The result from inputs that are given in a call, that are constants, and where the first one is given."""
    found = []
    for known in ([], [0, 1, 2][: len(arrays)], [1, 2]):
        tensors = [
            Tensor(array.shape, array.dtype.name, data=array if number in known else None)
            for number, array in enumerate(arrays)
        ]
        file = one_op(name, tensors, [Tensor(shape, dtype)], options)
        found.append(_run(file, [array for number, array in enumerate(arrays) if number not in known]))
    return found


def _check(name: str, arrays: list[Any], expected: Any, **options: Any) -> None:
    expected = np.asarray(expected)
    for found in _results(name, arrays, expected.shape, expected.dtype.name, options):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(found, expected)


def _pairs(values: list[Any], dtype: str) -> tuple[Any, Any]:
    """Every value with every other, by broadcasting."""
    array = np.array(values, dtype)
    return array.reshape(-1, 1), array.reshape(1, 1, -1)


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "MAXIMUM": np.maximum, "MINIMUM": np.minimum,
    "EQUAL": np.equal, "NOT_EQUAL": np.not_equal, "LESS": np.less, "LESS_EQUAL": np.less_equal,
    "GREATER": np.greater, "GREATER_EQUAL": np.greater_equal,
}  # fmt: skip


@pytest.mark.parametrize("name", _ARITHMETIC)
@pytest.mark.parametrize(("values", "dtype"), [(_INTS, "int32"), (_INTS, "int64"), (_FLOATS, "float32")])
def test_arithmetic_and_comparisons(name: str, values: list[Any], dtype: str) -> None:
    a, b = _pairs(values, dtype)
    with np.errstate(all="ignore"):
        _check(name, [a, b], _ARITHMETIC[name](a, b))


_NONZERO = [value for value in _INTS if value]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_quotients_and_rests(dtype: str) -> None:
    """DIV truncates, FLOOR_DIV rounds down, FLOOR_MOD has the sign of the divisor."""
    a, b = _pairs([value for value in _NONZERO if value > -(2**31)], dtype)
    with np.errstate(all="ignore"):
        _check("DIV", [a, b], np.divide(a, b) if dtype == "float32" else np.trunc(a / b).astype(dtype))
        if dtype != "int64":
            _check("FLOOR_DIV", [a, b], np.floor(a / b).astype(dtype) if dtype == "float32" else a // b)
        rest = np.fmod(a, b)
        floor_mod = np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
        _check("FLOOR_MOD", [a, b], floor_mod.astype(dtype))


def test_a_quotient_that_rounds_up_to_an_integer_is_rounded_down_before() -> None:
    a, b = np.float32([121156.2265625]), np.float32([1.5942448377609253])
    assert np.floor(a / b) == 75996
    _check("FLOOR_DIV", [a, b], np.float32([75995]))


@pytest.mark.parametrize("name", ["DIV", "FLOOR_DIV", "FLOOR_MOD"])
def test_a_division_by_zero(name: str) -> None:
    one, zero = np.int32([1, 2]), np.int32([1, 0])
    known = [Tensor((2,), "int32", data=array) for array in (one, zero)]
    with pytest.raises(ModelError, match=f"subgraph 0, operator 0 {name}: division by zero"):
        _imported(one_op(name, known, [Tensor((2,), "int32")]))
    with pytest.raises(ModelError, match=f"operator 0 {name}: .*division by zero"):
        _run(one_op(name, [Tensor((2,), "int32"), known[1]], [Tensor((2,), "int32")]), [one])


def test_functions_of_one_tensor() -> None:
    x, i = np.float32(_FLOATS), np.int32(_INTS)
    for name, function in {
        "FLOOR": np.floor,
        "CEIL": np.ceil,
        "ROUND": np.rint,
        "NEG": np.negative,
        "ABS": np.abs,
    }.items():
        _check(name, [x], function(x))
    with np.errstate(all="ignore"):
        _check("NEG", [i], -i)
        _check("ABS", [i], np.abs(i))
        _check("SQUARE", [x], x * x)
        _check("SQUARED_DIFFERENCE", [x, x[::-1]], (x - x[::-1]) ** 2)


@pytest.mark.parametrize("name", ["EXP", "LOG", "SIN", "COS", "SQRT", "RSQRT", "TANH"])
def test_functions_of_floats_are_within_four_ulp(name: str) -> None:
    x = np.linspace(0.01, 20, 501, dtype=np.float32)
    double = x.astype(np.float64)
    expected = 1 / np.sqrt(double) if name == "RSQRT" else getattr(np, name.lower())(double)
    for found in _results(name, [x], x.shape, "float32", {}):
        np.testing.assert_array_max_ulp(found, expected.astype(np.float32), 4)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_fused_activations(dtype: str) -> None:
    x = np.arange(-5, 9).astype(dtype)
    for name, bounds in {"RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}.items():
        _check("ADD", [x, x[:1] * 0], np.clip(x, *bounds), fused_activation_function=name)


def test_activations_of_floats() -> None:
    x = np.float32([-200, -3.5, -2.5, -0.5, 0, 0.5, 2, 3, 7])
    _check("RELU", [x], np.maximum(x, 0))
    _check("RELU6", [x], np.clip(x, 0, 6))
    _check("RELU_N1_TO_1", [x], np.clip(x, -1, 1))
    _check("LEAKY_RELU", [x], np.where(x < 0, x * np.float32(0.1), x), alpha=0.1)
    _check("PRELU", [x, x[::-1]], np.where(x < 0, x * x[::-1], x))
    for name, expected in {
        "LOGISTIC": 1 / (1 + np.exp(-x.astype(np.float64))),
        "ELU": np.where(x < 0, np.expm1(x), x),
    }.items():
        for found in _results(name, [x], x.shape, "float32", {}):
            np.testing.assert_allclose(found, expected.astype(np.float32), rtol=3e-7, atol=1e-44)


def test_an_open_batch_is_broadcast_too() -> None:
    """A constant along the channels, a scalar, and what a fused activation needs."""
    x = np.arange(-6, 6, dtype=np.float32).reshape(3, 4)
    for other in (
        np.float32([1, 2, 3, 4]),
        np.float32(
            [
                [5],
            ]
        ),
        np.float32(7),
    ):
        for swapped in (False, True):
            tensors = [Tensor((1, 4), "float32", signature=(-1, 4)), Tensor(other.shape, "float32", data=other)]
            result = Tensor((1, 4), "float32", signature=(-1, 4))
            options = {"fused_activation_function": "RELU"}
            file = one_op("SUB", tensors[::-1] if swapped else tensors, [result], options)
            np.testing.assert_array_equal(_run(file, [x]), np.maximum(other - x if swapped else x - other, 0))
    less = one_op("LESS", [Tensor((1, 4), "float32", signature=(-1, 4)), Tensor((4,), "float32", data=[-3, 0, 0, 9])],
                  [Tensor((1, 4), "bool", signature=(-1, 4))])  # fmt: skip
    np.testing.assert_array_equal(_run(less, [x]), x < np.float32([-3, 0, 0, 9]))


def test_bools() -> None:
    a, b = np.array([[True], [False]]), np.array([True, False])
    _check("LOGICAL_AND", [a, b], a & b)
    _check("LOGICAL_OR", [a, b], a | b)
    _check("LOGICAL_NOT", [a], ~a)
    _check("EQUAL", [a, b], a == b)
    _check("NOT_EQUAL", [a, b], a != b)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "float32", "bool"])
def test_select(dtype: str) -> None:
    condition, a = np.array([True, False, True]), np.array([[1, 0, 3], [4, 5, 0]]).astype(dtype)
    zero = np.zeros_like(a)
    _check("SELECT_V2", [condition, a, zero[:1]], np.where(condition, a, zero[:1]).astype(dtype))
    _check("SELECT", [np.stack([condition, ~condition]), a, zero], np.where([condition, ~condition], a, zero))
    _check("SELECT", [condition[:2], a, zero], np.where(condition[:2, None], a, zero))


_TYPES = {
    "bool": [0, 1],
    "int8": [-128, 127],
    "uint8": [0, 255],
    "int16": [-32768, 32767],
    "int32": _INTS,
    "int64": _INTS,
}


@pytest.mark.parametrize("given", [*_TYPES, "float32"])
@pytest.mark.parametrize("wanted", [*_TYPES, "float32"])
def test_casts(given: str, wanted: str) -> None:
    """Integers keep their low bits, bools are 0 or 1, and everything but 0 is true; floats are truncated."""
    x = np.array([-1.5, 0.5, 1.9, 100.99] if given == "float32" else _TYPES[given]).astype(given)
    if given == "float32" and wanted == "uint8":
        x = x[1:]
    _check("CAST", [x], x.astype(wanted))


def test_a_cast_of_quantized_values_takes_their_storage() -> None:
    x = Tensor((2,), "uint8", scales=0.5, zero_points=128)
    found = _run(one_op("CAST", [x], [Tensor((2,), "float32")]), [np.uint8([0, 200])])
    assert found.tolist() == [0, 200]


def test_shapes_and_ranks() -> None:
    x = np.zeros((2, 3), np.float32)
    _check("SHAPE", [x], np.int32([2, 3]))
    _check("SHAPE", [x], np.int64([2, 3]), out_type="INT64")
    _check("RANK", [x], np.int32(2))
    _check("ZEROS_LIKE", [np.int32([1, 2])], np.int32([0, 0]))


def test_the_shape_of_an_open_batch_is_computed() -> None:
    file = one_op("SHAPE", [Tensor((1, 3), "float32", signature=(-1, 3))], [Tensor((2,), "int32")])
    assert _run(file, [np.zeros((5, 3), np.float32)]).tolist() == [5, 3]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float32", "bool"])
def test_fill_and_broadcast(dtype: str) -> None:
    shape, value = Tensor((2,), "int32", data=[2, 3]), np.array(1, dtype)
    result = Tensor((2, 3), dtype)
    expected = np.broadcast_to(value, (2, 3))
    for given in (Tensor((), dtype), Tensor((), dtype, data=value)):
        found = _run(one_op("FILL", [shape, given], [result]), [] if given.data is not None else [value])
        np.testing.assert_array_equal(found, expected)
    row = np.array([[1], [0]]).astype(dtype)
    found = _run(one_op("BROADCAST_TO", [Tensor((2, 1), dtype), shape], [result]), [row])
    np.testing.assert_array_equal(found, np.broadcast_to(row, (2, 3)))


@pytest.mark.parametrize(
    "numbers",
    [(0, 5, 1), (5, 0, -2), (3, 3, 1), (0, 5, 2), (2**31 - 3, 2**31 - 1, 1), (0.5, 2.0, 0.25), (1.0, 0.0, -0.3)],
)
def test_ranges(numbers: tuple[float, ...]) -> None:
    dtype = "float32" if isinstance(numbers[0], float) else "int32"
    arrays = [np.array(number, dtype) for number in numbers]
    expected = np.arange(*map(np.float64, arrays)).astype(dtype)
    file = one_op("RANGE", [Tensor((), dtype, data=a) for a in arrays], [Tensor(expected.shape, dtype)])
    np.testing.assert_allclose(_run(file, []), expected, rtol=1e-6)


def test_shapes_that_broadcast() -> None:
    a, b = Tensor((2,), "int32", data=[1, 3]), Tensor((3,), "int32", data=[4, 2, 1])
    assert _run(one_op("BROADCAST_ARGS", [a, b], [Tensor((3,), "int32")]), []).tolist() == [4, 2, 3]


def _refused(said: str, name: str, inputs: list[Tensor], output: Tensor, **options: Any) -> None:
    with pytest.raises(ModelError) as caught:
        _imported(one_op(name, inputs, [replace(output)], options))
    assert said in str(caught.value)


def test_what_does_not_fit() -> None:
    i, f = Tensor((2,), "int32"), Tensor((2,), "float32")
    _refused("subgraph 0, operator 0 ADD: its inputs must have the same type, got float32 and int32", "ADD", [i, f], f)
    _refused("the shapes of its inputs must broadcast, got (2,) and (3,)", "ADD", [i, Tensor((3,), "int32")], i)
    _refused("ADD (fused TANH of int32)", "ADD", [i, i], i, fused_activation_function="TANH")
    _refused("LESS (int8)", "LESS", [Tensor((2,), "int8")] * 2, Tensor((2,), "bool"))
    _refused("input 0 must be bool, and inputs 1 and 2 of one type, got int32, int32, int32", "SELECT", [i, i, i], i)
    _refused("delta finite and not 0, got 0, 3 and 0", "RANGE", [Tensor((), "int32", data=n) for n in (0, 3, 0)], i)
    sizes = Tensor((2,), "int32", data=[2**31 - 1, 2**31 - 1])
    _refused("takes more than the limit of 2147483648 bytes", "FILL", [sizes, Tensor((), "int32")], i)
    _refused(
        "a shape (input 0) must have non-negative integers, got [-1]",
        "FILL",
        [Tensor((1,), "int32", data=-1), Tensor((), "int32")],
        i,
    )
    _refused("FILL (a shape known only at run time)", "FILL", [i, Tensor((), "int32")], Tensor((1, 1), "int32"))


@pytest.mark.parametrize(
    ("name", "wanted"), [("STABLEHLO_MAXIMUM", [np.nan, 1, 3]), ("STABLEHLO_MINIMUM", [np.nan, 1, 2])]
)
def test_an_extreme_of_stablehlo_with_a_nan_is_its_first_operand(name, wanted):
    x, y = (Tensor((3,), "float32") for _ in "xy")
    program = qrt.compile(_imported(one_op(name, [x, y], [Tensor((3,), "float32")])))
    given = np.float32([np.nan, 1, 2]), np.float32([1, np.nan, 3])
    np.testing.assert_array_equal(program(*given), np.float32(wanted))


def test_operands_of_stablehlo_do_not_broadcast():
    content = one_op("STABLEHLO_ADD", [Tensor((3,), "int32"), Tensor((1,), "int32")], [Tensor((3,), "int32")])
    with pytest.raises(ModelError, match=r"STABLEHLO_ADD: operands of shapes \[3\] and \[1\]"):
        _imported(content)
