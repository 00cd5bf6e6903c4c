"""The code in the errors of tensors, run. Hazards: advice that does not run, that drops an argument, or whose value is
another: clamped, or rounded without a word."""

import pickle
import re
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from qrt.tensor.protocol.methods import _OF_OTHERS, ABSENT
from tests.messages.hints import GIVE_VALUES, codes, dequantized, names, run

T = UniformType("i8", "f32", 0.5, 3)
U = UniformType("i8", "f32", 0.25)
BIG = UniformType("i32", "f32", 0.5)
AXIS = UniformType("i8", "f32", [0.5, 0.25], axis=1)
OTHER = UniformType("i8", "f32", [0.5, 0.25], axis=0)
BLOCKS = UniformType("i8", "f32", [[0.5], [0.25]], block_sizes={0: 1, 1: 2})
F64 = UniformType("i8", "f64", 0.5)
Q = QuantTensor([[9, 5], [4, 9]], T)
R = QuantTensor([[1, 2], [3, 4]], U)
V = Q[0]
X = np.float32([[1, 2], [3, 4]])
NUMBERS = np.float32([1, 300])
WIDE = QuantTensor([[2**30, 1], [2, 3]], BIG)
LONG = QuantTensor(np.full((9, 9), 4, np.int8), T)


def caught(call: str, known: dict[str, Any]) -> QuantTypeError:
    with pytest.raises(QuantTypeError) as raised:
        run(call, known)
    return raised.value


def same(actual: Any, expected: Any) -> None:
    if isinstance(expected, tuple | list):
        for part, other in zip(actual, expected, strict=True):
            same(part, other)
    else:
        np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-6)


CALLS: dict[str, tuple[Any, ...]] = {
    "{} + 100": (Q,),
    "0.3 - {}": (Q,),
    "{} + 0.5": (Q,),
    "{} - 1": (Q,),
    "{} * 0": (Q,),
    "{} / {}": (Q, R),
    "{} / {} ": (Q, Q),
    "(-2) ** {}": (V,),
    "{} ** -1": (Q,),
    "{} ** {}": (V, V),
    "{} @ {}": (Q, X),
    "{} @ {}  ": (X, Q),
    "{} @ {} ": (np.float64(X), Q),
    "np.float16(2) + {}": (WIDE,),
    "np.add({}, 1, dtype=np.float64)": (Q,),
    "np.add({}, 1, where=[True, True])": (Q,),
    "np.subtract({}, {}, out={})": (Q, X, np.zeros((2, 2), np.float32)),
    "np.exp({}, dtype=np.float64)": (Q,),
    "np.hypot({}, {})": (Q, Q),
    "np.hypot(2.5, {})": (Q,),
    "np.floor_divide({}, float('inf'))": (Q,),
    "np.linspace({}, {}, num=5, endpoint=False)": (Q, R),
    "np.linspace(0, {}, 3, axis=-1)": (Q,),
    "np.interp({}, [0, 1], [2.5, 3])": (Q,),
    "np.interp([0.5], {}, {})": (QuantTensor([1, 2], U), V),
    "np.cov({}, {}, rowvar=False)": (Q, R),
    "np.round({}, 1)": (Q,),
    "np.gradient({}, axis=1)": (Q,),
    "np.histogram({}, bins=3, range=(0, 2))": (Q,),
    "np.histogram2d({}, {}, bins=2)": (V, V),
    "np.apply_along_axis({}, 1, {})": (lambda line: line.max(), Q),
    "np.apply_over_axes(np.sum, {}, [0])": (Q,),
    "np.piecewise({}, [{}], [1.0, 0.5])": (Q, X > 1),
    "np.polyfit({}, {}, 1)": (np.arange(2), V),
    "np.polyval([1, 2], {})": (Q,),
    "np.median({}, axis=0, keepdims=True)": (Q,),
    "np.quantile({}, [0.25, 0.5], axis=1)": (Q,),
    "np.percentile({}, 30)": (Q,),
    "np.nanquantile({}, 0.5, method='hazen')": (QuantTensor(np.zeros((0, 2), np.int8), T),),
    "np.average({}, axis=0, weights=[1, 3])": (Q,),
    "np.linalg.norm({}, 1, axis=0)": (Q,),
    "np.linalg.vector_norm({}, ord=3, keepdims=True)": (Q,),
    "np.linalg.matrix_norm({}, ord=1)": (Q,),
    "np.linalg.solve({}, {})": (Q, X),
    "np.linalg.multi_dot([{}, {}, {}])": (Q, X, Q),
    "np.dot({}, {})": (X, Q),
    "np.einsum('ij,kj', {}, {})": (Q, X),
    "np.pad({}, 1, 'linear_ramp', end_values=2)": (Q,),
    "np.pad({}, (1, 2), mode='mean')": (Q,),
    "np.packbits({} > 0, axis=1)": (Q,),
    "np.maximum({}, {})": (Q, NUMBERS),
    "np.minimum({}, {})": (NUMBERS, Q),
    "np.clip({}, {}, None)": (Q, NUMBERS),
    "np.clip({}, None, {})": (Q, [1.0, 300.0]),
    "np.meshgrid({}, {})": (V, NUMBERS),
    "np.unwrap({}, 2.0)": (V,),
    "np.nan_to_num({}, nan=1.0)": (Q,),
    "np.emath.logn(2, {})": (Q,),
    "np.prod({}, axis=0)": (LONG,),
    "{} ** 9": (Q,),
    "np.linalg.matrix_power({}, -1)": (Q,),
    "np.einsum('ij,jk->ik', {}, {})": (WIDE, WIDE),
    "np.frompyfunc(float, 1, 1)({})": (Q,),
}
"""Calls with braces for operands."""


@pytest.mark.parametrize("call", CALLS)
def test_the_code_of_an_error_has_the_value_of_numpy(call: str) -> None:
    operands = CALLS[call]
    words = [f"given{i}" for i in range(len(operands))]
    known = dict(zip(words, operands, strict=True))
    text = call.format(*words)
    expected = run(text, dequantized(known))
    try:
        result = run(text, known)
    except QuantTypeError as error:
        message = str(error)
        if message.endswith(GIVE_VALUES):  # those of the expected call, which ran
            return
        first, *others = codes(error)
        same(run(first, names(operands)), expected)
        for code in others:
            assert f"{code}, which rounds" in message
            assert np.abs(np.asarray(run(code, names(operands))) - expected).max() <= 0.25
    else:
        same(result, expected)


@pytest.mark.parametrize(
    "call", ["np.exp(q, out=r)", "np.invert(q, out=r)", "np.add(q, 0.3, out=r)", "np.median(q, out=r)"]
)
def test_a_tensor_is_no_place_for_floats(call: str) -> None:
    error = caught(call, {"q": Q, "r": R.copy()})
    assert "out" not in codes(error)[0]
    run(codes(error)[0], {"q": Q})


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("np.frexp(q, r, None)", "np.frexp(np.asarray(q))"),
        ("np.frexp(q, out=(r, r))", "np.frexp(np.asarray(q))"),
        ("np.frexp(q, out=(r, x))", "np.frexp(np.asarray(q), out=(None, x))"),
        ("np.frexp(q, x, r)", "np.frexp(np.asarray(q), out=(x, None))"),
        ("np.divmod(q, q, r, x)", "np.divmod(np.asarray(q), np.asarray(q), out=(None, x))"),
    ],
)
def test_an_array_beside_a_tensor_takes_its_result(call: str, code: str) -> None:
    error = caught(call, {"q": Q, "r": R.copy(), "x": np.zeros(Q.shape, np.float64)})
    assert codes(error)[0] == code
    x = np.full(Q.shape, -1.0)
    run(code, {"q": Q, "x": x})
    assert ("out=" in code) == (x != -1).all()


KNOWN: dict[str, Any] = {
    "q": Q, "r": R, "v": V, "x": X, "numbers": NUMBERS, "wide": WIDE, "per_axis": QuantTensor([[1, 2], [3, 4]], AXIS),
    "other": QuantTensor([[1, 2], [3, 4]], OTHER), "blocks": QuantTensor([[1, 2], [3, 4]], BLOCKS), "T": T, "U": U,
    "f64": QuantTensor([[1, 2], [3, 4]], F64), "image": qrt.quantize(np.ones((1, 4, 4, 3)), T), "BIG": BIG,
    "kernel": qrt.quantize(np.ones((2, 3, 3, 3)), U), "t": UniformType("i32", "f32", 0.25), "t64": F64,
    "LAYER": UniformType("i8", "f32", 0.25), "LONGER": UniformType("i8", "f32", 2.0**23), "AXIS": AXIS,
}  # fmt: skip
FOLLOWED: dict[str, tuple[str, str, str]] = {
    "q + r": ("give out_type, as in qrt.add(a, b, out_type=t)", "qrt.add(q, r, out_type=t)", "Q + R"),
    "q - r": ("give out_type, as in qrt.sub(a, b, out_type=t)", "qrt.sub(q, r, out_type=t)", "Q - R"),
    "qrt.mul(per_axis, per_axis)": ("two operands of per-axis", "qrt.mul(per_axis, per_axis, out_type=t)", "P * P"),
    "per_axis + other": ("different axes of the result", "qrt.add(per_axis, other, out_type=t)", "P + O"),
    "wide + wide": ("may reach", "qrt.add(wide, wide, out_type=BIG.with_(scales=1.0))", "W + W"),
    "wide @ wide": ("requantize the operands", "qrt.requantize(wide, LONGER) @ qrt.requantize(wide, LONGER)", ""),
    "wide * wide": ("requantize the operands", "qrt.requantize(wide, LONGER) * qrt.requantize(wide, LONGER)", ""),
    "qrt.matmul(wide, wide, out_type=t)": ("requantize the operands", "qrt.matmul(q, q, out_type=t)", "Q @ Q"),
    "wide @ q": (
        "give out_type, as in qrt.matmul(a, w, out_type=t)", "qrt.matmul(wide, q, "
            "out_type=BIG.with_(scales=2.0**4))", "",
    ),
    "qrt.concat([q, r])": (
        "give out_type, as in qrt.concat(tensors, axis, out_type=t)", "qrt.concat([q, r], 0, out_type=t)",
         "np.concatenate([Q, R])",
    ),
    "np.concatenate([q, r], dtype=t)": (
        "qrt.concat takes out_type", "qrt.concat([q, r], out_type=t)", "np.concatenate([Q, R])",
    ),
    "np.square(wide)": ("dtype=np.float64", "np.square(wide, dtype=np.float64)", "np.square(np.float64(W))"),
    "np.sum(np.broadcast_to(wide, (9, 2, 2)), axis=0)": (
        "dtype=np.float64", "np.sum(np.broadcast_to(wide, (9, 2, 2)), axis=0, dtype=np.float64)", "9 * np.float64(W)",
    ),
    "np.std(q, axis=1, dtype=t)": (
        "qrt.quantize(np.std(q, axis=1), t) for "
            "a quantized type t", "qrt.quantize(np.std(q, axis=1), t)", "np.std(Q, axis=1)",
    ),
    "np.var(q, ddof=1, dtype=t)": (
        "qrt.quantize(np.var(q, ddof=1), t) for a quantized type t",
        "qrt.quantize(np.var(q, ddof=1), t)", "np.round(4 * np.var(Q, ddof=1)) / 4",
    ),
    "np.sum(per_axis, axis=1)": (
        "requantize first, by qrt.requantize(q, t) with a per-layer type t",
        "np.sum(qrt.requantize(per_axis, LAYER), axis=1)", "np.sum(P, axis=1)",
    ),
    "np.ravel(per_axis)": (
        "qrt.requantize to a type per layer", "np.ravel(qrt.requantize(per_axis, t))", "np.ravel(P)",
    ),
    "np.max(per_axis)": ("requantize to a per-layer type first", "np.max(qrt.requantize(per_axis, t))", "np.max(P)"),
    "np.einsum('ij,jk', per_axis, q)": (
        "requantize first", "np.einsum('ij,jk', qrt.requantize(per_axis, t), q, dtype=t)", "P @ Q",
    ),
    "np.einsum('ij,ik->ijk', per_axis, per_axis)": (
        "requantize one of them", "np.einsum('ij,ik->ijk', per_axis, qrt.requantize(per_axis, LAYER))",
        "np.einsum('ij,ik->ijk', P, P)",
    ),
    "np.inner(blocks, blocks)": (
        "requantize first, by qrt.requantize", "np.inner(qrt.requantize(blocks, LAYER), qrt.requantize(blocks, LAYER))",
        "np.inner(B, B)",
    ),
    "np.maximum(q, r)": (
        "requantize one, qrt.requantize(q, r.type)", "np.maximum(qrt.requantize(q, r.type), r)", "np.maximum(Q, R)",
    ),
    "np.stack([q, r])": ("use qrt.requantize for one of them", "np.stack([qrt.requantize(q, "
        "r.type), r])", "np.stack([Q, R])"),
    "np.union1d(q, r)": ("requantize one, or both", "np.union1d(qrt.requantize(q, r.type), r)", "np.union1d(Q, R)"),
    "np.maximum(q, 500)": (
        "requantize to a wider type first", "np.maximum(qrt.requantize(q, t), 500)", "np.maximum(Q, 500)",
    ),
    "np.diag(per_axis[0])": (
        "use qrt.requantize first", "np.diag(qrt.requantize(per_axis[0], t))", "np.diag(P[0])",
    ),
    "np.insert(per_axis, 1, 0.0, axis=1)": (
        "use np.concatenate", "np.concatenate([per_axis, per_axis], 1)", "np.hstack([P, P])",
    ),
    "q * 1e300": ("np.asarray(q, np.float64)", "np.asarray(q, np.float64) * 1e300", "np.float64(Q) * 1e300"),
    "q.astype('int8')": ("write q.storage for the integers", "q.storage", "[[9, 5], [4, 9]]"),
    "q.astype(np.int8)": (
        "np.asarray(q).astype('int8'), which truncates", "np.asarray(q).astype('int8')", "Q.astype('int8')",
    ),
    "qrt.matmul(q, q, bias=numbers, out_type=t)": (
        "qrt.quantize(bias, qrt.bias_type(a, w)) makes one",
        "qrt.matmul(q, q, bias=qrt.quantize(numbers, qrt.bias_type(q, q)), out_type=t)", "Q @ Q + [1, 300]",
    ),
    "qrt.conv2d(image, kernel, bias=numbers, out_type=t)": (
        "qrt.bias_type(x, w)",
        "qrt.conv2d(image, kernel, bias=qrt.quantize(numbers, qrt.bias_type(image, kernel)), out_type=t)",
        "np.full((1, 2, 2, 2), 27) + [1, 300]",
    ),
    "qrt.matmul(q, q, bias=qrt.quantize(numbers, qrt.bias_type(q, q)))": (
        "sums with a bias: give out_type",
        "qrt.matmul(q, q, bias=qrt.quantize(numbers, qrt.bias_type(q, q)), out_type=t)", "Q @ Q + [1, 300]",
    ),
    "qrt.matmul(q, x)": ("qrt.quantize(w, bits=8) makes one", "qrt.matmul(q, qrt.quantize(x, bits=8))", ""),
    "qrt.relu(x)": ("qrt.quantize(q, bits=8) makes one", "qrt.relu(qrt.quantize(x, bits=8))", ""),
    "qrt.relu(q, out=x)": ("", "qrt.relu(q)", "np.maximum(Q, 0)"),
    "qrt.quantize(x)": ("qrt.quantize(x, bits=8)", "qrt.quantize(x, bits=8)", ""),
    "qrt.quantize(x, 'int8')": (
        'qrt.UniformType("i8", "f32", 0.5)', "qrt.quantize(x, qrt.UniformType('i8', 'f32', 0.5))", "x",
    ),
    "qrt.QuantTensor(x, U)": ("qrt.quantize(storage, type)", "qrt.quantize(x, U)", "x"),
    "qrt.UniformType('i8', 'f32')": ('qrt.UniformType("i8", "f32", 0.5)', "qrt.UniformType('i8', 'f32', 0.5)", ""),
    "qrt.UniformType('i8', 'f32', [0.5, 0.25])": ("axis=0", "qrt.UniformType('i8', 'f32', [0.5, 0.25], axis=0)", ""),
    "qrt.UniformType('i8', 'f32', [[0.5], [0.25]])": (
        "block_sizes={0: ", "qrt.UniformType('i8', 'f32', [[0.5], [0.25]], block_sizes={0: 1, 1: 2})", "",
    ),
    "qrt.UniformType('i8', 'f32', 0.5, axis=0)": (
        "write [scale], or leave axis out", "qrt.UniformType('i8', 'f32', [0.5], axis=0)", "",
    ),
    "qrt.quantize(x, qrt.UniformType('i4', 'f32', np.ones((2, 2)), block_sizes={0: 1}))": (
        "write 1: 1 there",
        "qrt.quantize(x, qrt.UniformType('i4', 'f32', np.ones((2, 2)), block_sizes={0: 1, 1: 1}))", "x",
    ),
    "qrt.quantize(np.ones((2, 2, 64)), bits=4, group_size=32)": (
        ": give axis=2", "qrt.quantize(np.ones((2, 2, 64)), bits=4, group_size=32, axis=2)", "",
    ),
    "qrt.quantize(np.ones((2, 48)), bits=4, group_size=32, axis=1)": (
        "pad the axis to 64 or give group_size=24", "qrt.quantize(np.ones((2, 48)), bits=4, group_size=24, axis=1)", "",
    ),
    "np.asarray(q, copy=False)": ("", "np.asarray(q)", "Q"),
    "qrt.conv2d(image, kernel, padding='same', out_type=t)": (
        "write 'SAME'", "qrt.conv2d(image, kernel, padding='SAME', out_type=t)[:, 1:3, 1:3]",
        "np.full((1, 2, 2, 2), 27)",
    ),
    "qrt.conv2d(image.transpose(0, 3, 1, 2), kernel)": (
        ": x.transpose(0, 2, 3, 1) converts 'x' from NCHW",
        "qrt.conv2d(image.transpose(0, 3, 1, 2).transpose(0, 2, 3, 1), kernel)", "np.full((1, 2, 2, 2), 27)",
    ),
    "qrt.mean(q, axis=0)": ("did you mean 'axes'?", "qrt.mean(q, axes=0)", ""),
    "per_axis[True]": ("write None", "per_axis[None]", "P[None]"),
    "np.clip(q, [0.0, 1.0], 2)": (
        "qrt.quantize the array", "np.clip(q, qrt.quantize([0.0, 1.0], q.type), 2)", "np.clip(Q, [0, 1], 2)",
    ),
    "np.append(q, [q[0]], 0)": (
        "join tensors by np.stack or np.concatenate",
        "np.concatenate([q, np.stack([q[0]])])",
        "np.append(Q, [Q[0]], 0)",
    ),
    "float(q)": ("q.tolist()", "q.tolist()", "Q"),
    "bool(q)": ("use np.any(q), np.all(q) or q.size", "[np.any(q), np.all(q), q.size]", "[True, True, 4]"),
    "np.save('q.npy', q)": ("np.asarray(q) has the values", "np.asarray(q)", "Q"),
    "np.zeros(3, like=q)": ("qrt.quantize it to q.type", "qrt.quantize(np.zeros(3), q.type)", "np.zeros(3)"),
    "np.sort_complex(q)": ("np.sort(q) sorts the values", "np.sort(q)", "np.sort_complex(Q).real"),
    "np.char.upper(q)": ("np.array2string(q)", "np.array2string(q)", ""),
    "np.add(q, q, dtype=np.float64)": ("'dtype' must be a !quant.uniform type", "np.add(q, q, dtype=t)", "Q + Q"),
    "qrt.concat(q, r)": ("give a list of tensors", "qrt.concat([q, r], out_type=t)", "np.concatenate([Q, R])"),
}  # fmt: skip
"""Calls, a part of their errors, the call that follows the advice, and its value; none where it need only run."""


@pytest.mark.parametrize("call", FOLLOWED)
def test_who_follows_an_error_has_the_value_of_numpy(call: str) -> None:
    advice, instead, value = FOLLOWED[call]
    with pytest.raises((QuantTypeError, ValueError)) as raised:
        run(call, KNOWN)
    assert advice in str(raised.value)
    result = run(instead, KNOWN)
    if value:
        letters = {"Q": "q", "R": "r", "W": "wide", "P": "per_axis", "O": "other", "B": "blocks"}
        floats = {letter: np.asarray(KNOWN[name]) for letter, name in letters.items()}
        same(result, run(value, {**floats, "x": X}))


@pytest.mark.parametrize("name", [*ABSENT, *_OF_OTHERS])
def test_what_stands_for_an_attribute_runs(name: str, tmp_path: Any) -> None:
    """Each expression of the hint, with the names of the attribute's own arguments."""
    with (tmp_path / "file").open("wb") as file:
        known = {
            "q": Q.copy(), "other": R, "shape": (3, 2), "dtype": np.uint8, "file": file, "x": 1.0, "type": T,
            "integers": np.int8([[0, 1], [1, 0]]), "tensors": [Q, Q], "pickle": pickle,
        }  # fmt: skip
        hint = (ABSENT | _OF_OTHERS)[name].replace("getfield(...)", "getfield(dtype, 0)")
        expressions = re.findall(r"\b(?:q|np|qrt|pickle)[.\[][\w.\[\]]+(?:\((?:[^()]|\([^()]*\))*\))?", hint)
        assert expressions
        for expression in expressions:
            run(expression, known)
