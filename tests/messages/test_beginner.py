"""What somebody who begins is told: each message whole. Hazards: an argument that is not named as its caller wrote it,
a message that does not say what to write instead, one of NumPy's or Python's own."""

from typing import Any

import numpy as np
import pytest

import qrt
from tests.fuzz.outcome import check_message

T = qrt.UniformType("i8", "f32", 0.5, 3)
WEIGHTS = qrt.UniformType("i8", "f32", 0.25)
CHANNELS = qrt.UniformType("i8", "f32", [0.5, 0.25], axis=1)
PROGRAM = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
VALUES = [[1.0, 2.0], [3.0, 4.0]]
NAMES: dict[str, Any] = {
    "np": np,
    "qrt": qrt,
    "T": T,
    "CHANNELS": CHANNELS,
    "x": np.ones((2, 2), np.float32),
    "q": qrt.quantize(VALUES, T),
    "w": qrt.quantize(VALUES, WEIGHTS),
    "CHANNELS_Q": qrt.quantize(VALUES, CHANNELS),
    "image": qrt.quantize(np.zeros((1, 4, 4, 3)), T),
    "kernel": qrt.quantize(np.zeros((2, 3, 3, 3)), WEIGHTS),
    "program": qrt.compile(PROGRAM),
}

MISTAKES = {
    "qrt.quantize(x)": "quantize: expected a type, or bits=... to choose one from the values, as in "
    "qrt.quantize(x, bits=8), got neither",
    'qrt.quantize(x, "int8")': (
        "quantize: 'type' must be a !quant.uniform type, got 'int8': give one such as qrt.UniformType(\"i8\", "
        '"f32", 0.5), or the type that qrt.quantize(x, bits=8) chooses'
    ),
    "qrt.quantize(x, np.int8)": (
        "quantize: 'type' must be a !quant.uniform type, got the class int8: give one such as "
        'qrt.UniformType("i8", "f32", 0.5), or the type that qrt.quantize(x, bits=8) chooses'
    ),
    'qrt.quantize("abc", T)': "quantize: 'x' must be real numbers, got 'abc'",
    "qrt.quantize([[1.0], [1.0, 2.0]], T)": (
        "nested sequences of one level must have the same length to form an array, got different lengths"
    ),
    "qrt.qcast(np.ones(2), T)": (
        "qcast: 'x' must be an array of float32, the expressed type f32 of !quant.uniform<i8:f32, "
        "5.000000e-01:3>, got dtype float64: qrt.quantize accepts any float dtype"
    ),
    "qrt.quantize(np.ones((2, 3)), CHANNELS)": (
        "quantized dimension size does not match number of scales: dimension 1 has size 3, the type has 2 scales"
    ),
    'qrt.UniformType("i8", "f32")': (
        'a uniform type needs scales: write qrt.UniformType("i8", "f32", 0.5), or take the type that '
        "qrt.quantize(x, bits=8) chooses"
    ),
    'qrt.UniformType("i64", "f32", 0.5)': "illegal storage type size: 64",
    'qrt.UniformType("i8", "f32", 0)': ("scale 0.000000e+00 out of expressed type range [1.401298e-45, 3.402823e+38]"),
    'qrt.UniformType("i8", "f32", -1.0)': (
        "scale -1.000000e+00 out of expressed type range [1.401298e-45, 3.402823e+38]"
    ),
    'qrt.UniformType("i8", "f32", "0.5")': "a scale must be a float, got '0.5'",
    'qrt.UniformType("i8", "f32", [0.1, 0.2])': (
        "scales of shape (2,) need an axis or block sizes: write axis=0 for a scale per row"
    ),
    'qrt.UniformType("i8", "f32", 0.5, axis=1)': (
        "scales of a per-axis type must be one flat sequence, got shape (): write [scale], or leave axis out"
    ),
    'qrt.UniformType("i8", "f32", [0.1, 0.2], axis=-1)': (
        "illegal quantized dimension: -1 (the axis of a type is counted from 0, because a type has no rank)"
    ),
    'qrt.UniformType("i8", "f32", 0.5, 1.5)': "a zero point must be an integer, got 1.5",
    'qrt.quantize(x, qrt.UniformType("i8", "f32", 0.5, 300))': (
        "the type of a tensor must have zero points in [-128, 127], the range of its storage type i8, got "
        "300 in !quant.uniform<i8:f32, 5.000000e-01:300>"
    ),
    'qrt.quantize(np.zeros((64, 64)), qrt.UniformType("i4", "f32", np.ones((2, 64)), block_sizes={0: 32}))': (
        "dimension size 64 of scales tensor at axis 1 should match (tensor dimension at axis / block sizes at "
        "axis) = 1: block_sizes has no entry for axis 1, write 1: 1 there"
    ),
    "qrt.QuantTensor(x, T)": (
        "QuantTensor: 'storage' must be integers, got dtype float32: qrt.quantize(storage, type) quantizes floats"
    ),
    "qrt.QuantTensor([300], T)": (
        "storage values must be in [-128, 127], the storage bounds of !quant.uniform<i8:f32, 5.000000e-01:3>, got 300"
    ),
    "q @ x": (
        'np.matmul has no exact result as quantized values: write np.asarray(q) @ x, or use qrt.float_results("allow")'
    ),
    "x @ q": (
        "np.matmul has no exact result as quantized values: write qrt.float_matmul(x, q), or use "
        'qrt.float_results("allow")'
    ),
    "q + 1.0": (
        "np.add has no exact result as quantized values: write q + qrt.quantize(1.0, q.type), or use "
        'qrt.float_results("allow")'
    ),
    "q + w": (
        "add: no exact result type exists for operands with different scales: give out_type, as in "
        "qrt.add(a, b, out_type=t). The operands are tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, "
        "tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01>>"
    ),
    "q @ qrt.quantize(np.ones((3, 2)), T)": (
        "matmul: the contracted dimensions of 'a' and 'w' must have the same size, got 2 and 3. The operands "
        "are tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<3x2x!quant.uniform<i8:f32, "
        "5.000000e-01:3>>"
    ),
    "q.mean(out_typ=T)": "np.mean: the argument 'out_typ' is not supported for a QuantTensor",
    "q.mean(dtype=T, out_type=T)": "mean: 'dtype' and 'out_type' both set the type of the result: give one of them",
    "q.flatten(axis=0)": "flatten: no argument is named 'axis': the arguments are order",
    "qrt.mean(q, axis=0)": "mean: no argument is named 'axis': did you mean 'axes'?",
    "qrt.matmul(q)": "matmul: an argument is missing: 'w'",
    "qrt.concat([q, q], axes=1)": "concat: no argument is named 'axes': did you mean 'axis'?",
    "qrt.metrics.mse(x, x, axis=0)": "mse: no argument is named 'axis': the arguments are reference, approximation",
    'qrt.UniformType("i8", "f32", 0.5, offset=3)': (
        "UniformType: no argument is named 'offset': the arguments are storage, expressed, scales, zero_points, axis, "
        "block_sizes, storage_min, storage_max, scale, zero_point"
    ),
    "qrt.quantize(np.ones((2, 2, 64)), bits=4, group_size=32)": (
        "'axis' must be given with 'group_size' for an array of more than 2 dimensions, got shape (2, 2, "
        "64): give axis=2"
    ),
    "q // 2": (
        "np.floor_divide has no exact result as quantized values: write np.floor_divide(np.asarray(q), 2), or use "
        'qrt.float_results("allow")'
    ),
    "2 // q": (
        "np.floor_divide has no exact result as quantized values: write np.floor_divide(2, np.asarray(q)), or use "
        'qrt.float_results("allow")'
    ),
    "q & 3": (
        "np.bitwise_and has no exact result as quantized values: write np.bitwise_and(q.storage, 3), or use "
        'qrt.float_results("allow")'
    ),
    "np.exp(q)": (
        'np.exp has no exact result as quantized values: write np.exp(np.asarray(q)), or use qrt.float_results("allow")'
    ),
    'np.save("q.npy", q)': (
        'np.save takes no QuantTensor: qrt.save_tensors("q.npz", {"q": q}) keeps the type, np.asarray(q) has the values'
    ),
    "q.dtype": (
        "a QuantTensor has no attribute 'dtype': q.type is the quantized type, "
        "q.storage.dtype the dtype of the integers, "
        "np.result_type(q) the dtype of the values"
    ),
    "q.numpy()": "a QuantTensor has no attribute 'numpy': np.asarray(q) gives the values, q.storage the integers",
    "q.dequantise()": "a QuantTensor has no attribute 'dequantise': did you mean 'dequantize'?",
    'q.astype("int8")': (
        "astype: 'dtype' must represent the real values, got int8: write q.storage for the integers, or "
        "np.asarray(q).astype('int8'), which truncates the values"
    ),
    "q.astype(5)": "astype: 'dtype' must be a !quant.uniform type or a numeric dtype, got 5",
    "q[5]": "index 5 is out of bounds for axis 0 with size 2",
    'q["a"]': (
        "an index must be an integer, a slice, ..., None, or a list or an array of integers or booleans, got "
        "another value"
    ),
    "q[0.5]": (
        "an index must be an integer, a slice, ..., None, or a list or an array of integers or booleans, got "
        "another value"
    ),
    "q.reshape(3, 3)": (
        "reshape: the result must have as many elements as tensor<2x2x!quant.uniform<i8:f32, "
        "5.000000e-01:3>>, got the shape (3, 3)"
    ),
    "float(q)": "only a tensor of rank 0 converts to a Python number, got shape (2, 2): take an element, or q.tolist()",
    "bool(q)": (
        "the truth value of a tensor with more than one element is ambiguous: use np.any(q), np.all(q) or q.size"
    ),
    "len(q[0, 0])": "a tensor of rank 0 has no length",
    "qrt.matmul(q, w, bias=np.zeros(2), out_type=T)": (
        "matmul: 'bias' must be a QuantTensor, got an ndarray of shape (2,): qrt.quantize(bias, "
        "qrt.bias_type(a, w)) makes one"
    ),
    "qrt.matmul(q, w, bias=qrt.quantize([1.0, 2.0], qrt.bias_type(q, w)))": (
        "matmul: no exact result type exists for sums with a bias: give out_type, as in qrt.matmul(a, w, "
        "bias, out_type=t)"
    ),
    'qrt.matmul(q, w, requant="float")': (
        "matmul: 'requant' must be one of fixed, fixed_double, fixed_double_f32, fixed_double_f32_product, "
        "float32, float64_away, half_up_twice, half_up_twice_f32_product, reduced16, got 'float'"
    ),
    'qrt.matmul(q, w, out_type="f32")': (
        "matmul: 'out_type' must be a !quant.uniform type, got 'f32': give one such as qrt.UniformType(\"i8\", "
        '"f32", 0.5), or the type that qrt.quantize(x, bits=8) chooses'
    ),
    "qrt.matmul(q, w, out=np.zeros((2, 2)))": (
        "matmul: 'out' must be a QuantTensor, got an ndarray of shape (2, 2): give a tensor of the result's "
        "type and shape, or omit out=..."
    ),
    "CHANNELS_Q @ q": (
        "matmul: 'a' must not have several scales along axis 1, which is contracted, got "
        "!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>: requantize 'a' to a per-layer type. The "
        "operands are tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>, "
        "tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:3>>"
    ),
    "qrt.concat(q, w)": "concat: 'tensors' must be a sequence, got a QuantTensor: give a list of tensors",
    "qrt.concat([q, w])": (
        "concat: no exact result type exists for operands of different types: give out_type, as in "
        "qrt.concat(tensors, axis, out_type=t). The operands are tensor<2x2x!quant.uniform<i8:f32, "
        "5.000000e-01:3>>, tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01>>"
    ),
    'qrt.clamp(q, min="a")': "clamp: 'min' must be a real number, got 'a'",
    "qrt.conv2d(np.zeros((1, 4, 4, 3)), kernel)": (
        "conv2d: 'x' must be a QuantTensor, got an ndarray of shape (1, 4, 4, 3): qrt.quantize(x, bits=8) makes one"
    ),
    "qrt.conv2d(qrt.quantize(np.zeros((1, 3, 4, 4)), T), kernel)": (
        "conv2d: 'x' must have 3 channels, because 'w' has 3, got 4. The channels are the last axis of 'x' "
        "and of 'w': x.transpose(0, 2, 3, 1) converts 'x' from NCHW. The operands are "
        "tensor<1x3x4x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x3x3x3x!quant.uniform<i8:f32, "
        "2.500000e-01>>"
    ),
    'qrt.conv2d(image, kernel, padding="same")': (
        "conv2d: 'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got 'same': write 'SAME'"
    ),
    "qrt.conv2d(image, kernel, padding=1)": (
        "conv2d: 'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got 1"
    ),
    "qrt.conv2d(image, kernel, strides=2.5)": "conv2d: 'strides' must be two positive integers, got 2.5",
    "qrt.conv2d(image, kernel, groups=2)": (
        "conv2d: 'x' must have 6 channels, because 'w' has 3 for each of 2 groups, got 3. The channels are "
        "the last axis of 'x' and of 'w'. The operands are tensor<1x4x4x3x!quant.uniform<i8:f32, "
        "5.000000e-01:3>>, tensor<2x3x3x3x!quant.uniform<i8:f32, 2.500000e-01>>"
    ),
    "qrt.avg_pool2d(q, 2)": (
        "avg_pool2d: 'q' must have the layout NHWC, of rank 4, got tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:3>>"
    ),
    'qrt.softmax(q, "f32")': (
        "softmax: 'out_type' must be a !quant.uniform type, got 'f32': give one such as "
        'qrt.UniformType("i8", "f32", 0.5), or the type that qrt.quantize(x, bits=8) chooses'
    ),
    'qrt.parse_type("!quant.uniform<i8:f32,>")': (
        "<type>:1:23: error: expected a float scale\n!quant.uniform<i8:f32,>\n                      ^"
    ),
    'qrt.ir.parse("func.func @f() -> i32 { return %x : i32 }")': (
        "<string>:1:32: error: use of undeclared SSA value name '%x'\nfunc.func @f() -> i32 { return %x : i32 "
        "}\n                               ^~"
    ),
    'qrt.ir.parse("func.func @f(%x: i32) -> i32 { return %x : i32")': (
        "<string>:1:47: error: expected an operation, found the end of the text\nfunc.func @f(%x: i32) -> i32 "
        "{ return %x : i32\n                                              ^"
    ),
    'qrt.ir.run_passes(qrt.ir.parse(""), "canonicalise")': (
        "<pipeline>:1:1: error: 'canonicalise' does not refer to a registered pass; did you mean "
        "'canonicalize'?\ncanonicalise\n^~~~~~~~~~~~"
    ),
    'qrt.compile("")': "no function is named 'main'; the functions of the module are: none",
    "program()": "f must be called with 1 argument (arg0: tensor<2xf32>), got 0",
    "program(np.zeros(2, np.float32), 1)": "f must be called with 1 argument (arg0: tensor<2xf32>), got 2",
    "program(np.zeros(2))": (
        "input 'arg0' must be of dtype float32, because its type is tensor<2xf32>, got dtype float64"
    ),
    "program(np.zeros(3, np.float32))": "input 'arg0' must be tensor<2xf32>, got shape [3]",
    'program.run({"y": np.zeros(2, np.float32)})': "no input is named 'y'; the inputs are arg0",
    "program.run({})": "input 'arg0' (tensor<2xf32>) is missing",
    'qrt.load("model.pb")': "model.pb: the name of a program must end in .mlir, .tflite or .onnx, got '.pb'",
    'qrt.load("absent.mlir")': "absent.mlir: No such file or directory",
    'qrt.save_tensors("w.pt", {"w": w})': "w.pt: the name of a file of tensors must end in .npz or .safetensors",
    'qrt.save_tensors("w.npz", w)': (
        "save_tensors: 'tensors' must be a mapping from names to tensors, got a QuantTensor of shape (2, 2)"
    ),
    "qrt.metrics.snr(x, q[0])": "snr: 'reference' and 'approximation' must have the same shape, got (2, 2) and (2,)",
    'qrt.float_results("on").__enter__()': 'float_results: \'mode\' must be "allow", "warn" or "raise", got \'on\'',
    "qrt.kernels.set_num_threads(0)": "set_num_threads: expected an integer from 1 to 256, got 0",
    "np.concatenate([q, w])": (
        "np.concatenate: the tensors must have the same type, got !quant.uniform<i8:f32, 5.000000e-01:3> and "
        "!quant.uniform<i8:f32, 2.500000e-01>: use qrt.requantize for one of them"
    ),
    "np.ravel(CHANNELS_Q)": (
        "np.ravel would mix the different scales of axis 1 of tensor<2x2x!quant.uniform<i8:f32:1, "
        "{5.000000e-01,2.500000e-01}>>: give another axis, or np.asarray(q) for the values, or "
        "qrt.requantize to a type per layer first"
    ),
    "np.sum(CHANNELS_Q, axis=1)": (
        "np.sum: !quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}> has scales that differ along axis 1, "
        "which is summed over: requantize first, by qrt.requantize(q, t) with a per-layer type t"
    ),
    'q.fill("a")': "the values must be real numbers, got 'a'",
    "qrt.pack(x)": "pack: 'w' must be a QuantTensor, got an ndarray of shape (2, 2): qrt.quantize(w, bits=8) makes one",
}


@pytest.mark.parametrize("call", MISTAKES)
def test_a_mistake_is_told_what_to_write(call: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each of another class
        eval(call, dict(NAMES))
    check_message(caught.value)
    assert str(caught.value) == MISTAKES[call]


def test_the_verifier_names_the_op_once() -> None:
    t = "tensor<1x2x!quant.uniform<i8:f32, 0.5>>"
    module = qrt.ir.parse(f"func.func @f(%a: {t}) {{ %0 = qrt.matmul %a, %a : ({t}, {t}) -> {t} return }}")
    with pytest.raises(
        qrt.errors.VerifyError,
        match=r"'qrt\.matmul' op the contracted dimensions of 'a' and 'w' must have the same size, got 2 and 1\. "
        r"The operands are tensor<1x2x",
    ):
        module.verify()


def test_more_parts_than_memory_holds_are_an_error_at_once() -> None:
    for count in (2**62, 2**63):
        with pytest.raises((MemoryError, qrt.errors.QuantTypeError)):
            np.array_split(NAMES["q"], count)
