"""Functions of floats and normalizations, beside NumPy in float64 and ONNX Runtime.

Hazards: exponentials that overflow, a difference of two large numbers, a mean far from 0, axes that are counted wrong.
"""

from typing import Any

import numpy as np
import pytest
from scipy import special

from qrt.errors import ModelError
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import model, node, port

X = np.float32([-200, -20, -5, -1.5, -0.5, -1e-3, -1e-20, 0, 1e-20, 1e-3, 0.25, 0.5, 1, 3, 8, 30, 200])
UNIT = np.float32([-1, -0.75, -1e-3, 0, 1e-4, 0.5, 0.999, 1])
ROOT = np.sqrt(2 / np.pi)


def sigmoid(x: Any) -> Any:
    return special.expit(x)


FUNCTIONS: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "Acos": (np.arccos, {}, UNIT), "Acosh": (np.arccosh, {}, 1 + np.abs(X)), "Asin": (np.arcsin, {}, UNIT),
    "Asinh": (np.arcsinh, {}, X), "Atan": (np.arctan, {}, X), "Atanh": (np.arctanh, {}, UNIT), "Cos": (np.cos, {}, X),
    "Cosh": (np.cosh, {}, X / 4), "Erf": (special.erf, {}, X), "Exp": (np.exp, {}, X / 4),
    "Log": (np.log, {}, np.abs(X)), "Sin": (np.sin, {}, X), "Sinh": (np.sinh, {}, X / 4), "Tan": (np.tan, {}, X),
    "Tanh": (np.tanh, {}, X), "Sigmoid": (sigmoid, {}, X), "Softplus": (lambda x: np.logaddexp(x, 0), {}, X),
    "Softsign": (lambda x: x / (1 + abs(x)), {}, X),
    "Mish": (lambda x: x * np.tanh(np.logaddexp(x, 0)), {}, X),
    "Elu": (lambda x: np.where(x < 0, 0.5 * np.expm1(np.minimum(x, 0)), x), {"alpha": 0.5}, X),
    "Celu": (lambda x: np.where(x < 0, 0.5 * np.expm1(np.minimum(x, 0) / 0.5), x), {"alpha": 0.5}, X),
    "Selu": (lambda x: 1.5 * np.where(x < 0, 2.0 * np.expm1(np.minimum(x, 0)), x), {"alpha": 2.0, "gamma": 1.5}, X),
    "Gelu": (lambda x: x / 2 * special.erfc(-x / np.sqrt(2)), {}, X),
    "com.microsoft::Gelu": (lambda x: x / 2 * special.erfc(-x / np.sqrt(2)), {}, X),
    "Gelu tanh": (lambda x: x / 2 * (1 + np.tanh(ROOT * (x + 0.044715 * x**3))), {"approximate": "tanh"}, X),
    "com.microsoft::FastGelu": (lambda x: x / 2 * (1 + np.tanh(ROOT * (x + 0.044715 * x**3))), {}, X),
    "com.microsoft::QuickGelu": (lambda x: x * sigmoid(1.5 * x), {"alpha": 1.5}, X),
}  # fmt: skip
OF_TWO_TERMS = ("Gelu", "com.microsoft::Gelu", "Gelu tanh", "com.microsoft::FastGelu")
"""1 and a number near -1 are added: the error is half a unit of 1, times x / 2."""


def one(name: str, attributes: dict[str, Any], *inputs: str, opset: int = 20) -> Any:
    domain, _, kind = name.split()[0].rpartition("::")
    return node(kind, [*inputs], ["y"], domain=domain, **attributes)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    """Within 3 units in the last place of the function, and of ONNX Runtime's approximation within the page's bound."""
    exact, attributes, x = FUNCTIONS[name]
    opset = 22 if name == "Mish" else 20
    content = model([one(name, attributes, "x")], [port("x", shape=x.shape)], [port("y")], opset=opset)
    with np.errstate(all="ignore"):
        (y,), wanted = run(content, x=x), exact(x.astype(np.float64))
    least = 1e-37 if name not in OF_TWO_TERMS else 2.0**-24 * np.abs(x)
    unit = np.maximum(np.spacing(np.abs(wanted).astype(np.float32)).astype(float), least)
    finite = np.isfinite(wanted)
    assert (np.abs(y[finite] - wanted[finite]) <= 3 * unit[finite]).all()
    np.testing.assert_array_equal(y[~finite], wanted[~finite].astype(np.float32))
    if has_oracle():
        (theirs,) = run_oracle(content, {"x": x})
        np.testing.assert_allclose(y, theirs, rtol=4e-6, atol=4e-7)


def test_powers() -> None:
    x, exponents = np.float32([0.5, 2, 3, -2, 0]), np.int64([2, -1, 3, 3, 0])
    content = model([node("Pow", ["x", "e"], ["y"])], [port("x", shape=x.shape)], [port("y")], {"e": exponents})
    np.testing.assert_allclose(run(content, x=x)[0], x.astype(float) ** exponents, rtol=1e-7)


def test_a_square_is_a_product() -> None:
    """The exact square, rounded once: of zeros, subnormal and infinite numbers, and NaNs too."""
    x = np.float32([0, -0.0, 1e-30, -1e-22, 3e38, np.inf, -np.inf, np.nan, 1.1, -7])
    for exponent in (np.array(2, np.int64), np.array([2], np.float32)):
        graph = model([node("Pow", ["x", "e"], ["y"])], [port("x", shape=x.shape)], [port("y")], {"e": exponent})
        with np.errstate(all="ignore"):
            expected = (x.astype(float) ** 2).astype(np.float32)
        np.testing.assert_array_equal(run(graph, x=x)[0], expected)


SHAPES = [(1,), (3, 5), (2, 3, 16), (2, 2, 3, 33)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [-1, 1, 0])
@pytest.mark.parametrize("has_bias", [False, True])
def test_layer_normalization(shape: tuple[int, ...], axis: int, has_bias: bool) -> None:
    """Of numbers around 100, all of its results; a variance is a difference of large numbers if it is done badly."""
    axis = min(axis, len(shape) - 1)
    rng = np.random.default_rng(1)
    own = shape[axis:]
    x = rng.normal(100, 1, shape).astype(np.float32)
    scale, bias = (rng.normal(size=own).astype(np.float32) for _ in range(2))
    names = ["x", "s", "b"][: 2 + has_bias]
    made = node("LayerNormalization", names, ["y", "m", "i"], axis=axis, epsilon=1e-3)
    content = model([made], [port("x", shape=shape)], [port("y"), port("m"), port("i")], {"s": scale, "b": bias})
    y, mean, inverse = run(content, x=x)
    axes = tuple(range(axis % len(shape), len(shape)))
    wide = x.astype(np.float64)
    centre = wide.mean(axes, keepdims=True)
    deviation = np.sqrt(((wide - centre) ** 2).mean(axes, keepdims=True) + 1e-3)
    wanted = (wide - centre) / deviation * scale + (bias if has_bias else 0)
    np.testing.assert_allclose(y, wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(mean, centre, rtol=1e-7)
    np.testing.assert_allclose(inverse, 1 / deviation, rtol=1e-6)
    if has_oracle():
        np.testing.assert_allclose(y, run_oracle(content, {"x": x})[0], rtol=2e-3, atol=2e-3)


def test_other_normalizations() -> None:
    """By the root of the mean square; of a sum of two tensors and a bias."""
    rng = np.random.default_rng(2)
    x, skip = (rng.normal(0.5, 2, (2, 3, 16)).astype(np.float32) for _ in range(2))
    scale, bias, more = (rng.normal(size=16).astype(np.float32) for _ in range(3))
    ports, constants = [port("x", shape=x.shape)], {"s": scale, "b": bias, "m": more}
    root = np.sqrt((x.astype(float) ** 2).mean(-1, keepdims=True) + 1e-5)
    for kind, opset in (("RMSNormalization", 23), ("SimplifiedLayerNormalization", 17)):
        content = model([node(kind, ["x", "s"], ["y"])], ports, [port("y")], constants, opset=opset, ir_version=10)
        (y,) = run(content, x=x)
        np.testing.assert_allclose(y, x / root * scale, rtol=1e-6, atol=1e-7)
    ports.append(port("k", shape=skip.shape))
    total = x + skip + more
    wide = total.astype(float)
    for simplified in (False, True):
        names = ["x", "k", "s", "m"] if simplified else ["x", "k", "s", "b", "m"]
        kind = "SkipSimplifiedLayerNormalization" if simplified else "SkipLayerNormalization"
        made = node(kind, names, ["y", "", "", "t"], domain="com.microsoft", epsilon=1e-5)
        content = model([made], ports, [port("y"), port("t")], constants)
        y, t = run(content, x=x, k=skip)
        np.testing.assert_array_equal(t, total)
        apart = wide if simplified else wide - wide.mean(-1, keepdims=True)
        wanted = apart / np.sqrt((apart**2).mean(-1, keepdims=True) + 1e-5) * scale + (0 if simplified else bias)
        np.testing.assert_allclose(y, wanted, rtol=1e-6, atol=1e-6)
        if has_oracle():
            np.testing.assert_allclose(y, run_oracle(content, {"x": x, "k": skip})[0], rtol=1e-4, atol=1e-5)


def test_what_is_refused() -> None:
    x = port("x", "INT32", (2, 3))
    for kind in ("Tanh", "Gelu", "LayerNormalization", "Pow"):
        content = model([node(kind, ["x", "x"] if kind in ("LayerNormalization", "Pow") else ["x"], ["y"])],
                        [x], [port("y")], opset=20)  # fmt: skip
        with pytest.raises(ModelError, match=rf"{kind} \(of int32\)"):
            imported(content)
    wrong = model([node("LayerNormalization", ["x", "s"], ["y"])], [port("x", shape=(2, 3))], [port("y")],
                  {"s": np.ones(4, np.float32)})  # fmt: skip
    with pytest.raises(
        ModelError, match="input 1 must be float32 and broadcast to the axes of tensor<2x3xf32> from axis 1 on"
    ):
        imported(wrong)


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("bounds", [(np.nan, 1.0), (-1.0, np.nan), (np.nan, np.nan)])
def test_a_bound_of_clip_that_is_a_nan_is_none(bounds: tuple[float, float], is_known: bool) -> None:
    x = np.float32([-3, np.nan, -0.5, 0, 2, np.inf, -np.inf])
    low, high = (np.asarray(bound, np.float32) for bound in bounds)
    constants = {"low": low, "high": high} if is_known else {}
    ports = [port("x", "FLOAT", [7]), *([] if is_known else [port("low", "FLOAT", []), port("high", "FLOAT", [])])]
    content = model([node("Clip", ["x", "low", "high"], ["y"])], ports, [port("y")], constants)
    inputs = {"x": x} if is_known else {"x": x, "low": low, "high": high}
    expected = np.minimum(np.maximum(x, -np.inf if np.isnan(low) else low), np.inf if np.isnan(high) else high)
    np.testing.assert_array_equal(run(content, **inputs)[0], expected)
    if has_oracle():
        np.testing.assert_array_equal(run_oracle(content, inputs)[0], expected)


@pytest.mark.parametrize(("shape", "axis", "opset"), [((2, 32000), 1, 13), ((3, 4099, 2), 1, 13), ((2, 70, 90), 1, 11)])
def test_the_error_of_a_softmax_does_not_grow_with_its_terms(shape: tuple[int, ...], axis: int, opset: int) -> None:
    """Before opset 13 all axes from one on are summed over."""
    x = -np.float32(3) * np.random.default_rng(5).random(shape).astype(np.float32)
    content = model([one("Softmax", {"axis": axis}, "x")], [port("x", shape=shape)], [port("y")], opset=opset)
    (y,) = run(content, x=x)
    axes = tuple(range(axis, len(shape))) if opset < 13 else axis
    powers = np.exp((x - x.max(axes, keepdims=True)).astype(np.float64))
    wanted = (powers / powers.sum(axes, keepdims=True)).astype(np.float32)
    assert np.abs(y.view(np.int32).astype(np.int64) - wanted.view(np.int32)).max() <= 5


def test_a_softmax_along_an_axis_of_any_size_adds_in_order() -> None:
    content = model([one("Softmax", {}, "x")], [port("x", shape=(2, "n"))], [port("y")], opset=13)
    x = np.random.default_rng(6).random((2, 40)).astype(np.float32)
    powers = np.exp((x - x.max(1, keepdims=True)).astype(np.float64)).astype(np.float32)
    sums = np.add.accumulate(powers, axis=1, dtype=np.float32)[:, -1:]
    assert np.array_equal(run(content, x=x)[0], powers / sums)
