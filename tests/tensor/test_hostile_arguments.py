"""Every argument of every public function and method, of every wrong kind: an error of ours that says what is wrong, or
a result. Raw exceptions of NumPy and Python name neither the function nor the argument."""

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import QuantError, QuantTypeError, shown

T = qrt.UniformType("i8", "f32", 0.5, 3)
PER_AXIS = qrt.UniformType("i8", "f32", [0.5, 0.25], axis=0)
NARROW = qrt.UniformType("u4", "f32", 0.5)
OUT = qrt.UniformType("u8", "f32", 1 / 256)
Q, CHANNELS, NIBBLES = (qrt.QuantTensor(np.int8([[1, 2], [3, 4]]), t) for t in (T, PER_AXIS, NARROW))
IMAGE = qrt.QuantTensor(np.int8(range(16)).reshape(1, 4, 4, 1), T)
FILTER = qrt.QuantTensor(np.int8(range(4)).reshape(1, 2, 2, 1), T)
DEPTHWISE = qrt.QuantTensor(np.int8(range(4)).reshape(2, 2, 1), T)
BIAS2, BIAS1 = (qrt.QuantTensor(np.zeros(n, np.int32), qrt.UniformType("i32", "f32", 0.25)) for n in (2, 1))
TABLE = qrt.QuantTensor(np.zeros(256, np.int8), T)
FLOATS = np.float32([[1, 2], [3, 4]])
PROGRAM = "func.func @main(%x: i32) -> i32 { return %x : i32 }"
FLOAT_PROGRAM = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %k = "quant.stats_ref"(%x) {statsKey = "x"} : (tensor<2xf32>) -> tensor<2xf32>
  %y = math.tanh %k : tensor<2xf32>
  return %y : tensor<2xf32>
}"""
DATA = {"arg0": np.float32([1, 2])}
QUANTIZED_PROGRAM = qrt.quantize_program(qrt.ir.parse(FLOAT_PROGRAM), DATA).module


class Odd:
    """No array, no number, no sequence."""


VALUES = [
    None, True, 0, -1, 3, 2**31, 2**63, -(2**70), 10**400, 10**5000, 0.0, 1.9, float("nan"), float("inf"), 1j,
    "", "fixed", "10", "SAME", b"x", [], (), [1], (1, 2), (1.9, 0.2), (0, 0), (None, None), (0, 2**62), (2**31, 1),
    [(2**62, 0), (0, 1)], ((10**5000, 0), (0, 0)), [[1, 2], [3]], [[]], {}, {1}, range(2), Odd(), Odd, int,
    np.int8(1), np.float32(1.5), np.bool_(True), np.int8([1, 2]), np.float64([[1, 2], [3, 4]]), np.array(["a"]),
    np.array([Odd()]), np.empty((0, 3)), np.datetime64("2020"), np.array([1, 2], "timedelta64[s]"), slice(None), ...,
    T, PER_AXIS, Q, qrt.pack(Q), qrt.parse_type("!quant.any<i8:f32>"), qrt.TensorType((2, 2), T),
]  # fmt: skip

Call = tuple[Callable[..., Any], dict[str, Any]]
CALLS: dict[str, Call] = {
    "add": (qrt.add, {"a": Q, "b": Q}),
    "avg_pool2d": (qrt.avg_pool2d, {"q": IMAGE, "kernel": 2}),
    "bias_type": (qrt.bias_type, {"x": Q, "w": Q}),
    "calibrate_program": (qrt.quantization.calibrate_program, {"module": qrt.ir.parse(FLOAT_PROGRAM), "data": DATA}),
    "clamp": (qrt.clamp, {"q": Q}),
    "compile": (qrt.compile, {"module": PROGRAM}),
    "concat": (qrt.concat, {"tensors": [Q, Q]}),
    "conv2d": (qrt.conv2d, {"x": IMAGE, "w": FILTER, "bias": BIAS1, "out_type": OUT}),
    "dcast": (qrt.dcast, {"q": Q}),
    "depthwise_conv2d": (qrt.depthwise_conv2d, {"x": IMAGE, "w": DEPTHWISE, "bias": BIAS1, "out_type": OUT}),
    "explain_program": (
        qrt.quantization.explain_program,
        {"module": QUANTIZED_PROGRAM, "against": qrt.ir.parse(FLOAT_PROGRAM), "data": DATA},
    ),
    "export_onnx": (
        lambda module: qrt.models.export_onnx("/dev/null/no.onnx", module),
        {"module": qrt.ir.parse(PROGRAM)},
    ),
    "float_matmul": (qrt.float_matmul, {"a": FLOATS, "w": Q}),
    "float_results": (lambda mode: qrt.float_results(mode).__enter__(), {"mode": "allow"}),
    "is_fully_quantized": (qrt.quantization.is_fully_quantized, {"module": qrt.ir.parse(PROGRAM), "target": "qrt-cpu"}),
    "is_quantized": (qrt.quantization.is_quantized, {"module": qrt.ir.parse(PROGRAM)}),
    "load": (qrt.load, {"path": "no.mlir"}),
    "load_program": (qrt.load_program, {"path": "no.qrt"}),
    "load_tensors": (qrt.load_tensors, {"path": "no.npz"}),
    "lookup": (qrt.lookup, {"q": Q, "table": TABLE}),
    "matmul": (qrt.matmul, {"a": Q, "w": Q, "bias": BIAS2, "out_type": OUT}),
    "max_pool2d": (qrt.max_pool2d, {"q": IMAGE, "kernel": 2}),
    "mean": (qrt.mean, {"q": Q}),
    "mul": (qrt.mul, {"a": Q, "b": Q}),
    "pack": (qrt.pack, {"w": Q}),
    "pad": (qrt.pad, {"q": Q, "padding": [(1, 2), (0, 1)]}),
    "parse_type": (qrt.parse_type, {"text": "i8"}),
    "qcast": (qrt.qcast, {"x": FLOATS, "type": T}),
    "quantize": (qrt.quantize, {"x": FLOATS, "type": T}),
    "quantize by bits": (qrt.quantize, {"x": FLOATS, "bits": 4, "axis": 0}),
    "quantize by groups": (qrt.quantize, {"x": FLOATS, "bits": 4, "group_size": 2, "method": "percentile"}),
    "register_pass": (lambda name: qrt.ir.register_pass(name, object), {"name": "a"}),
    "quantize_program": (
        qrt.quantize_program,
        {"module": qrt.ir.parse(FLOAT_PROGRAM), "data": DATA, "target": "qrt-cpu", "method": "mse"},
    ),
    "relu": (qrt.relu, {"q": Q}),
    "requantize": (qrt.requantize, {"q": Q, "type": OUT}),
    "reshape": (qrt.reshape, {"q": Q, "shape": (4,)}),
    "run_passes": (qrt.ir.run_passes, {"module": qrt.ir.parse(PROGRAM), "pipeline": "cse"}),
    "save_tensors": (lambda tensors: qrt.save_tensors("/dev/null/no.npz", tensors), {"tensors": {"q": Q}}),
    "scast": (qrt.scast, {"x": np.int8([1]), "type": T}),
    "set_num_threads": (lambda threads: qrt.kernels.set_num_threads(threads), {"threads": 1}),
    "softmax": (qrt.softmax, {"q": Q, "out_type": OUT}),
    "sub": (qrt.sub, {"a": Q, "b": Q}),
    "transpose": (qrt.transpose, {"q": Q}),
    "values": (qrt.values, {"q": Q}),
    "AnyQuantizedType": (qrt.AnyQuantizedType, {"storage": "i8"}),
    "CalibratedType": (qrt.CalibratedType, {"expressed": "f32", "min": 0.0, "max": 1.0}),
    "QuantTensor": (qrt.QuantTensor, {"storage": np.int8([1]), "type": T}),
    "TensorType": (qrt.TensorType, {"shape": (2,), "element": T}),
    "UniformType": (qrt.UniformType, {"storage": "i8", "expressed": "f32", "scales": 0.5}),
    "UniformType per axis": (
        lambda scales, zero_points, axis: qrt.UniformType("i8", "f32", scales, zero_points, axis),
        {"scales": [0.5, 1.0], "zero_points": [1, 2], "axis": 0},
    ),
    "UniformType in blocks": (
        lambda scales, block_sizes: qrt.UniformType("i8", "f32", scales, block_sizes=block_sizes),
        {"scales": [[0.5], [1.0]], "block_sizes": {0: 2}},
    ),
    "UniformType.for_range": (qrt.UniformType.for_range, {"lo": -1.0, "hi": 1.0}),
    "metrics.snr": (qrt.metrics.snr, {"reference": FLOATS, "approximation": Q}),
    "metrics.cosine": (qrt.metrics.cosine, {"reference": FLOATS, "approximation": Q}),
    "metrics.saturation": (qrt.metrics.saturation, {"q": Q}),
    "ir.parse": (qrt.ir.parse, {"text": ""}),
    "kernels.use": (lambda name: qrt.kernels.use(name).__enter__(), {"name": "ref"}),
    "Program.run": (qrt.compile(PROGRAM).run, {"inputs": {"arg0": 1}}),
    "np.concatenate": (lambda axis: np.concatenate([Q, Q], axis), {"axis": 0}),
    "np.reshape": (lambda shape: np.reshape(Q, shape), {"shape": 4}),
    "np.transpose": (lambda axes: np.transpose(Q, axes), {"axes": (1, 0)}),
    "np.sum": (
        lambda axis, dtype, out, keepdims, initial, where: np.sum(Q, axis, dtype, out, keepdims, initial, where),
        {"axis": 0, "dtype": None, "out": None, "keepdims": False, "initial": 0, "where": True},
    ),
    "np.cumsum": (lambda axis, dtype, out: np.cumsum(Q, axis, dtype, out), {"axis": 0, "dtype": None, "out": None}),
    "np.diff": (lambda n, axis, append: np.diff(Q, n, axis, append=append), {"n": 1, "axis": 0, "append": Q}),
    "np.mean": (lambda axis, dtype, out: np.mean(Q, axis, dtype, out), {"axis": 0, "dtype": None, "out": None}),
    "np.std": (
        lambda axis, dtype, ddof, k: np.std(Q, axis, dtype, None, ddof, k),
        {"axis": 0, "dtype": None, "ddof": 0, "k": True},
    ),
    "np.prod": (lambda axis, dtype, out: np.prod(Q, axis, dtype, out), {"axis": 0, "dtype": None, "out": None}),
    "np.trace": (lambda offset, axis1: np.trace(Q, offset, axis1), {"offset": 0, "axis1": 0}),
    "np.linalg.norm": (lambda ord, axis: np.linalg.norm(Q, ord, axis), {"ord": None, "axis": None}),
    "np.average": (lambda axis, weights: np.average(Q, axis, weights), {"axis": 0, "weights": None}),
    "np.einsum": (lambda a, b, dtype: np.einsum(a, Q, b, dtype=dtype), {"a": "ij,jk", "b": Q, "dtype": None}),
    "np.dot": (lambda b, out: np.dot(Q, b, out), {"b": Q, "out": None}),
    "np.tensordot": (lambda b, axes: np.tensordot(Q, b, axes), {"b": Q, "axes": 1}),
    "np.vecdot": (lambda b, axis: np.vecdot(Q, b, axis=axis), {"b": Q, "axis": 0}),
    "np.kron": (lambda b: np.kron(Q, b), {"b": Q}),
    "np.add": (lambda b, dtype: np.add(Q, b, dtype=dtype), {"b": Q, "dtype": None}),
    "np.multiply": (lambda b: np.multiply(Q, b), {"b": Q}),
    "np.divide": (lambda b: np.divide(Q, b), {"b": 2}),
    "np.power": (lambda b: np.power(Q, b), {"b": 2}),
}
FUNCTIONS: dict[str, Call] = {
    "np.delete": (lambda q, obj, axis: np.delete(q, obj, axis), {"obj": 0, "axis": 0}),
    "np.expand_dims": (lambda q, axis: np.expand_dims(q, axis), {"axis": 0}),
    "np.flip": (lambda q, axis: np.flip(q, axis), {"axis": 0}),
    "np.insert": (lambda q, obj, values: np.insert(q, obj, values, 1), {"obj": 0, "values": 1.0}),
    "np.moveaxis": (lambda q, source, to: np.moveaxis(q, source, to), {"source": 0, "to": 1}),
    "np.pad": (lambda q, mode: np.pad(q, [(0, 0), (1, 1)], mode), {"mode": "edge"}),
    "np.pad a value": (lambda q, value: np.pad(q, [(0, 0), (1, 1)], constant_values=value), {"value": 1.0}),
    "np.put": (lambda q, ind, v, mode: np.put(q.copy(), ind, v, mode), {"ind": 0, "v": 1.0, "mode": "raise"}),
    "np.put_along_axis": (lambda q, i, axis: np.put_along_axis(q.copy(), i, 1.0, axis), {"i": [[0]], "axis": 1}),
    "np.roll": (lambda q, shift, axis: np.roll(q, shift, axis), {"shift": 1, "axis": 1}),
    "np.split": (lambda q, at, axis: np.split(q, at, axis), {"at": 2, "axis": 1}),
    "np.squeeze": (lambda q, axis: np.squeeze(q, axis), {"axis": None}),
    "np.stack": (lambda q, other, axis: np.stack([q, other], axis), {"other": Q, "axis": 0}),
    "np.take": (lambda q, i, axis, mode: np.take(q, i, axis, mode=mode), {"i": 0, "axis": 1, "mode": "clip"}),
    "np.take_along_axis": (lambda q, i, axis: np.take_along_axis(q, i, axis), {"i": [[0]], "axis": 1}),
    "np.where": (lambda q, held, other: np.where(held, q, other), {"held": True, "other": 1.0}),
    "item": (lambda q, index: q.item(index), {"index": 0}),
    "assignment": (lambda q, index, value: q.copy().__setitem__(index, value), {"index": 0, "value": 1.0}),
}
PUBLIC_WITHOUT_ARGUMENTS = {"get_num_threads"}
for _q in (Q, CHANNELS, NIBBLES):
    CALLS[f"{_q.type}: __getitem__"] = (lambda key, q=_q: q[key], {})  # C code takes the key by position alone
    for _name in ("__eq__", "__matmul__", "__add__", "__sub__", "__mul__"):
        CALLS[f"{_q.type}: {_name}"] = (getattr(_q, _name), {})
    CALLS[f"{_q.type}: two indices"] = (lambda index, q=_q: q[0, index], {"index": 1})
    CALLS[f"{_q.type}: transpose"] = (lambda axes, q=_q: q.transpose(axes), {"axes": (1, 0)})
    CALLS[f"{_q.type}: astype"] = (_q.astype, {})
    CALLS[f"{_q.type}: two axes"] = (lambda axis, q=_q: q.transpose(axis, 0), {"axis": 1})
    CALLS[f"{_q.type}: reshape"] = (lambda shape, q=_q: q.reshape(shape), {"shape": (2, 2)})
    CALLS |= {f"{_q.type}: {name}": (call, {"q": _q, **given}) for name, (call, given) in FUNCTIONS.items()}
    CALLS[f"{_q.type}: two sizes"] = (lambda size, q=_q: q.reshape(size, 2), {"size": 2})

FLAGS = {"saturating", "interpret", "strict_upstream", "allow_unregistered", "progress"}
"""Anything that is true or false, and a function of the caller's, which raises what it likes."""
DOCUMENTED = {"__getitem__": IndexError, "two indices": IndexError}
"""What NumPy raises, and the docstrings say."""


def test_every_public_function_is_called() -> None:
    functions = {name for name in qrt.__all__ if callable(getattr(qrt, name)) and name[0].islower()}
    assert functions - PUBLIC_WITHOUT_ARGUMENTS <= set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_an_error_of_ours(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a text may be the name of a file that is written
    function, arguments = CALLS[name]
    allowed = QuantError, DOCUMENTED.get(name.rpartition(": ")[2], QuantError)
    threads = qrt.kernels.get_num_threads()
    raw = []
    for parameter in inspect.signature(function).parameters:
        if parameter in FLAGS or (parameter == "q" and name[0] == "!"):
            continue
        for value in VALUES:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function(**{**arguments, parameter: value})
            except allowed:
                pass
            except Exception as error:
                raw.append(f"{parameter} = {shown(value)}: {error!r}")
    qrt.kernels.set_num_threads(threads)
    assert not raw, "\n".join(raw)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: qrt.concat(0), "concat: 'tensors' must be a sequence, got 0"),
        (lambda: qrt.pad(Q, -1), "pad: 'padding' must be a sequence, got -1"),
        (
            lambda: qrt.pad(Q, (np.array(1), (0, 0))),
            r"pad: a pair \(before, after\) of 'padding' must be a sequence, got array\(1\)",
        ),
        (lambda: qrt.mean(Q, 0.0), r"mean: 'axes' must be a sequence, got 0\.0"),
        (lambda: qrt.mean(Q, "0"), "mean: 'axes' must be a sequence, got '0'"),
        (lambda: qrt.mean(Q, [0.0]), r"mean: 'axes' must be integers, got \[0\.0\]"),
        (lambda: qrt.transpose(Q, "fixed"), "transpose: the axes must be a sequence, got 'fixed'"),
        (lambda: qrt.transpose(Q, "10"), "transpose: the axes must be a sequence, got '10'"),
        (lambda: qrt.transpose(Q, (1.9, 0.2)), "transpose: the axes must be integers"),
        (lambda: Q.transpose(1.9, 0.2), "transpose: the axes must be integers"),
        (lambda: qrt.reshape(Q, (4.0,)), "reshape: the shape must be integers"),
        (lambda: qrt.clamp(Q, 10**400), "clamp: 'min' must be within the range of float64, got"),
        (
            lambda: qrt.softmax(Q, OUT, beta=10**5000),
            "softmax: 'beta' must be within the range of float64, got a value of type int",
        ),
        (lambda: qrt.UniformType("i8", "f32", "0.5"), "a scale must be a float, got '0.5'"),
    ],
)
def test_the_error_names_the_argument(call: Callable[[], object], message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        call()


@pytest.mark.parametrize("width", [1, 2, 3, 4, 8, 16, 24, 32])
@pytest.mark.parametrize("sign", "iu")
def test_scast_of_rank_0(width: int, sign: str) -> None:
    """NumPy's operations on arrays of rank 0 give scalars, which no tensor is made of."""
    t = qrt.UniformType(f"{sign}{width}", "f32", 0.5)
    for given in (0, np.int64(0), np.array(0, np.int32)):
        q = qrt.scast(given, t)
        assert (q.shape, int(q.storage), int(qrt.scast(q))) == ((), 0, 0)
    assert int(qrt.scast(-1, t).storage) == (-1 if sign == "i" else 2**width - 1)
