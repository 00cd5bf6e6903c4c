"""Nodes with operands and attributes that their operators do not have: an error of qrt that names the node, and nothing
else. Each begins with a right model, of which one thing is changed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import qrt
from qrt.errors import ModelError, QuantError
from qrt.models.onnx.importing import import_model
from qrt.models.onnx.read import read
from qrt.models.profiles import profile
from tests.models.onnx.forms import Form, whole
from tests.models.onnx.one_of_each import key_of, models
from tests.models.onnx.running import imported, run
from tests.models.onnx.variants import changed, changes
from tests.models.onnx.writing import DTYPES, model, node, port, tensor

Change = Callable[[Any], None]


def with_value(name: str, value: Any) -> Change:
    """Sets an attribute of the first node."""

    def change(message: Any) -> None:
        first = message.graph.node[0]
        kept = [each for each in first.attribute if each.name != name and first.op_type != "Constant"]
        del first.attribute[:]
        first.attribute.extend([*kept, helper.make_attribute(name, value)])

    return change


def with_constant(index: int, array: Any) -> Change:
    """Makes an input of the first node a constant."""

    def change(message: Any) -> None:
        name = message.graph.node[0].input[index]
        for ports in (message.graph.input, message.graph.initializer):
            kept = [each for each in ports if each.name != name]
            del ports[:]
            ports.extend(kept)
        message.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))

    return change


def with_input(index: int, dtype: str, shape: tuple[int, ...]) -> Change:
    """Makes an input of the first node one of the graph, of a type."""

    def change(message: Any) -> None:
        with_constant(index, np.zeros(1))(message)
        del message.graph.initializer[-1]
        message.graph.input.append(port(message.graph.node[0].input[index], dtype, shape))

    return change


def without_outputs(message: Any) -> None:
    message.graph.node[0].ClearField("output")
    del message.graph.output[:]
    message.graph.output.append(message.graph.input[0])


GRAPH = helper.make_graph([], "g", [], [port("i0")])
WRONG: list[tuple[str, Change, str]] = [
    ("Constant", with_value("value_float", "1"), "attribute 'value_float' must be a number, got '1'"),
    ("Constant", with_value("value_float", numpy_helper.from_array(np.float32([1, 2]), "t")), "number, got a tensor"),
    ("Constant", with_value("value_floats", [1, 2]), "attribute 'value_floats' must be a list, each item a"),
    ("Constant", with_value("value_int", 1.5), "attribute 'value_int' is 1.5, expected an integer"),
    ("Constant", with_value("value_ints", "12"), "attribute 'value_ints' must be a list of integers, got '12'"),
    ("LSTM", with_value("activations", 1), "attribute 'activations' must be a list, each item a string, got 1"),
    ("GRU", with_value("activations", [1.5, 2.5]), "attribute 'activations' must be a list, each item a string, got"),
    ("RNN", with_value("clip", "high"), "attribute 'clip' must be a number, got 'high'"),
    ("com.microsoft::DynamicQuantizeLSTM", with_value("activations", [1, 2, 3]), "attribute 'activations' must be"),
    ("LinearAttention", with_value("update_rule", ""), "attribute 'update_rule' must be 'delta' or 'gated' or"),
    ("LinearAttention", with_value("update_rule", "gated"), "definition: node 14 Reshape: input 0 is required"),
    ("CausalConvWithState", with_value("activation", "relu"), "attribute 'activation' must be 'none' or 'silu' or"),
    ("NegativeLogLikelihoodLoss", with_value("reduction", "max"), "attribute 'reduction' must be 'mean' or 'none'"),
    ("LinearAttention", with_value("scale", GRAPH), "attribute 'scale' must be of type FLOAT, got a graph"),
    ("LogSoftmax", with_value("axis", [1]), "attribute 'axis' must be of type INT, got (1,)"),
    ("ThresholdedRelu", with_value("alpha", "steep"), "attribute 'alpha' must be of type FLOAT, got 'steep'"),
    ("Celu", with_value("alpha", 0.0), "node 0 Celu: attribute 'alpha' must not be 0, because the input is"),
    ("Shrink", with_value("own", 1), "this operator has no attribute 'own'"),
    ("Attention", with_constant(1, np.zeros((2, 3, 0, 8), np.float32)), "Attention (of tensors without elements)"),
    ("Attention", with_value("scale", -0.5), "attribute 'scale' must be at least 0, because its root scales"),
    ("Attention", with_value("scale", float("nan")), "attribute 'scale' must be at least 0, because its root"),
    ("GroupNormalization", with_input(0, "FLOAT", (0, 4, 3, 3)), "input 'i0': every dimension of an input must be"),
    ("CenterCropPad", lambda message: message.graph.node[0].input.pop(), "input 1 is required, but missing"),
    ("RoiAlign", lambda message: message.graph.node[0].input.pop(), "input 2 is required, but missing"),
    ("Min", without_outputs, "node 0 Min: it must have at least one output, but has none"),
    ("Split", without_outputs, "node 0 Split: it must have at least one output, but has none"),
    ("Conv", with_constant(2, np.zeros(6, np.float16)), "its float inputs must have the same type, got f16 and f32"),
    ("Conv", with_constant(2, np.float32([1])), "node 0 Conv: its bias must be tensor<6xf32>, got tensor<1xf32>"),
    ("Conv", with_input(2, "FLOAT", (1, 6)), "node 0 Conv: its bias must be tensor<6xf32>, got tensor<1x6xf32>"),
    ("ConvTranspose", with_constant(2, np.zeros((3, 1), np.float32)), "its bias must be tensor<3xf32>, got"),
    ("ConvTranspose", with_constant(2, np.array([True] * 3)), "its bias must be tensor<3xf32>, got tensor<3xi1>"),
    ("ScatterND", with_input(0, "INT32", (4, 5)), "the updates must have the type of the input, int32, got"),
    ("ScatterElements", with_input(2, "INT64", (2, 5)), "node 0 ScatterElements: the updates must have the type"),
    ("com.microsoft::MultiHeadAttention", with_input(4, "INT32", ()), "(a mask of int32 and shape [])"),
    ("com.microsoft::RotaryEmbedding", with_constant(2, np.zeros((9, 0), np.float32)), "a head must have at least"),
    ("GlobalAveragePool", with_input(0, "FLOAT", ()), "the input must have a batch and channels, got shape []"),
    ("TensorScatter", with_input(1, "FLOAT", (2,)), "its update [2], axis 2"),
    ("GlobalMaxPool", with_input(0, "FLOAT", (4,)), "the input must have a batch and channels, got shape [4]"),
    ("Expand", with_constant(1, np.array([-3, 4])), "the shape (input 1) must have sizes of at least 0, got [-3, 4]"),
    ("com.microsoft::BiasGelu", with_constant(1, np.float64([1, 2, 3])), "its inputs must have the same type, got"),
    ("com.microsoft::FastGelu", with_input(1, "BOOL", (3,)), "its inputs must have the same type, got float (input 0)"),
]  # fmt: skip
CONVOLUTIONS = {
    "Conv": Form("Conv", (whole(1, 4, 5, 5), whole(6, 4, 3, 3), whole(6)), (1, 2)),
    "ConvTranspose": Form("ConvTranspose", (whole(1, 4, 5, 5), whole(4, 3, 3, 3), whole(3)), (1, 2)),
}


def of(key: str) -> Any:
    """The small model of an operator."""
    message = onnx.load_from_string(CONVOLUTIONS[key].content() if key in CONVOLUTIONS else models()[key])
    if key.endswith("MultiHeadAttention"):
        first = message.graph.node[0]
        first.input[:] = [*first.input[:3], "", "mask"]
    return message


@pytest.mark.parametrize("key", CONVOLUTIONS)
def test_right_biases(key: str) -> None:
    """Beside which the wrong ones below stand."""
    imported(of(key).SerializeToString())


@pytest.mark.parametrize(("key", "change", "text"), WRONG, ids=[f"{key}: {text}" for key, _, text in WRONG])
def test_wrong_forms(key: str, change: Change, text: str) -> None:
    message = of(key)
    change(message)
    with pytest.raises(ModelError) as caught:
        imported(message.SerializeToString())
    assert text in str(caught.value)


@pytest.mark.parametrize("padding", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("size", "stride", "is_cropped"), [(10, 5, True), (5, 5, True), (8, 4, False), (7, 4, False)])
def test_same_padding_that_crops(padding: str, size: int, stride: int, is_cropped: bool) -> None:
    """ONNX Runtime crops the ends of an image whose last window ends 2 or more elements before them."""
    attributes = {"auto_pad": padding, "strides": [stride, stride]}
    form = Form("Conv", (whole(1, 4, size, size), whole(6, 4, 3, 3)), attributes=attributes)
    if is_cropped:
        with pytest.raises(ModelError, match=f"which would crop the size {size}"):
            imported(form.content())
    else:
        imported(form.content())


@pytest.mark.parametrize("padding", ["SAME_UPPER", "SAME_LOWER"])
def test_same_padding_of_a_transposed_convolution_whose_strides_exceed_the_kernel(padding: str) -> None:
    """ONNX Runtime then gives a smaller result than ONNX defines."""
    weights = whole(4, 3, 3, 3)
    form = Form("ConvTranspose", (whole(1, 4, 5, 5), weights), (1,), {"auto_pad": padding, "strides": [4, 2]})
    with pytest.raises(ModelError, match=r"SAME padding with strides \[4, 2\] larger than the kernel \[3, 3\]"):
        imported(form.content())
    form = Form("ConvTranspose", (whole(1, 4, 5, 5), weights), (1,), {"auto_pad": padding, "strides": [3, 2]})
    imported(form.content())


@pytest.mark.parametrize("name", ["keepdims", "noop_with_empty_axes"])
@pytest.mark.parametrize("value", [2, -1, -2, 256, 2**32])
def test_a_flag_is_0_or_1(name: str, value: int) -> None:
    """ONNX Runtime takes a 2 as no for some operators and as yes for others."""
    message = of("ReduceSum")
    with_value(name, value)(message)
    with pytest.raises(ModelError, match=f"node 0 ReduceSum: attribute '{name}' must be 0 or 1, got {value}"):
        imported(message.SerializeToString())


FLAGGED = {
    "ArgMax": "select_last_index", "AveragePool": "count_include_pad", "CumSum": "exclusive", "Gemm": "transB",
    "GRU": "linear_before_reset", "IsInf": "detect_positive", "LSTM": "input_forget", "MaxPool": "storage_order",
    "Mod": "fmod", "RNN": "layout", "ReduceL2": "keepdims", "Reshape": "allowzero", "Resize": "antialias",
    "RotaryEmbedding": "interleaved", "TopK": "sorted", "Trilu": "upper", "Attention": "is_causal",
    "HannWindow": "periodic", "AffineGrid": "align_corners", "com.microsoft::QAttention": "unidirectional",
    "com.microsoft::QLinearAveragePool": "ceil_mode", "QuantizeLinear": "saturate",
}  # fmt: skip


@pytest.mark.parametrize("key", FLAGGED)
@pytest.mark.parametrize("value", [-1, "yes"])
def test_flags_of_operators(key: str, value: Any) -> None:
    message = of(key)
    while key_of(message.graph.node[0]) != key:
        del message.graph.node[0]
    with_value(FLAGGED[key], value)(message)
    with pytest.raises(ModelError, match=f"attribute '{FLAGGED[key]}' must be 0 or 1, got {value!r}"):
        imported(message.SerializeToString())


def test_a_flag_of_a_folded_operator() -> None:
    """A group of casts and an operator is imported one by one where that is refused, and the operator says why."""
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["f"]),
        node("AveragePool", ["f"], ["a"], kernel_shape=[2, 2], count_include_pad=2, pads=[1, 1, 1, 1]),
        node("QuantizeLinear", ["a", "s", "z"], ["y"]),
    ]  # fmt: skip
    constants = {"s": np.float32(0.5), "z": np.uint8(3)}
    content = model(nodes, [port("x", shape=(1, 1, 4, 4))], [port("y", "UINT8")], constants)
    with pytest.raises(ModelError, match="node 2 AveragePool: attribute 'count_include_pad' must be 0 or 1, got 2"):
        imported(content)


@pytest.mark.parametrize("outputs", [["q"], ["q", "s"], ["q", "", "z"], ["", "s", "z"]])
def test_outputs_of_dynamic_quantization_that_are_left_out(outputs: list[str]) -> None:
    x = np.float32([1, -3, 2])
    made = {"q": np.uint8([204, 0, 255]), "s": np.float32(5 / 255), "z": np.uint8(153)}
    names = list(filter(None, outputs))
    ports = [port(name, "FLOAT" if name == "s" else "UINT8") for name in names]
    content = model([node("DynamicQuantizeLinear", ["x"], outputs)], [port("x", shape=(3,))], ports)
    for name, result in zip(names, run(content, x=x), strict=True):
        np.testing.assert_array_equal(result, made[name])


@pytest.mark.parametrize("dtype", ["FLOAT8E4M3FN", "INT8", "UINT4", "FLOAT"])
@pytest.mark.parametrize("scale", ["known", "s"])
def test_a_zero_point_of_another_type(dtype: str, scale: str) -> None:
    nodes = [node("DequantizeLinear", ["x", scale, "z"], ["y"])]
    constants = {"z": tensor("z", np.zeros(()), dtype), "known": np.float32(0.5)}
    content = model(nodes, [port("x", "INT4", (2,)), port("s", shape=())], [port("y")], constants, opset=21)
    with pytest.raises(
        ModelError, match="node 0 DequantizeLinear: the zero point must have the type of the input, int4, got"
    ):
        imported(content)


@pytest.mark.parametrize("part", ["scale", "zero point", "output_dtype", "axis", "bounds", "no operands"])
def test_casts_that_cannot_be_folded(part: str) -> None:
    """Each was an exception of Python's own while groups of casts are looked for."""
    first = node("QuantizeLinear", ["x", "s", "z"], ["q"])
    dequantize = node("DequantizeLinear", ["q", "s", "z"], ["f"])
    operator, last = node("Relu", ["f"], ["a"]), node("QuantizeLinear", ["a", "s", "z"], ["y"])
    zero: Any = np.uint8(3)
    if part == "scale":
        del last.input[1:]
    elif part == "zero point":
        zero, operator = np.uint8([3, 3]), node("Transpose", ["f"], ["a"])
    elif part == "output_dtype":
        del last.input[2:]
        last.attribute.append(helper.make_attribute("output_dtype", DTYPES["STRING"]))
    elif part == "axis":
        dequantize.attribute.append(helper.make_attribute("axis", "text"))
    elif part == "bounds":
        operator = node("Clip", ["f"], ["a"], min="low")
    else:
        operator = node("Where", [], ["a"])
    content = model([first, dequantize, operator, last], [port("x", shape=(2, 2))], [port("y", "UINT8")],
                    {"s": np.float32(0.5), "z": zero}, opset=10 if part == "bounds" else 21)  # fmt: skip
    with pytest.raises(QuantError):
        imported(content)


def test_unwritten_and_unread_operands_stand_beside_casts() -> None:
    nodes = [
        node("Identity", ["x"], [""]), node("QuantizeLinear", ["x", "s"], ["q"]),
        node("DequantizeLinear", ["q", "s"], ["y"]),
    ]  # fmt: skip
    content = model(nodes, [port("x", shape=(2,))], [port("y")], {"s": np.float32(0.5)})
    np.testing.assert_array_equal(run(content, x=np.float32([1, 2]))[0], [1, 2])


EVERY = 24
"""One of so many changes is made here; the fuzzer draws all of them."""
LIMIT = 1 << 24


@pytest.mark.parametrize("key", sorted(models()))
def test_changed_models_are_refused_or_run(key: str) -> None:
    content = models()[key]
    if len(content) > 3000:
        return
    for number, (_, change) in enumerate(changes(content)):
        if (number + len(key)) % EVERY:
            continue
        try:
            module = import_model(read(changed(content, change), max_bytes=LIMIT), profile("ort"), max_bytes=LIMIT)
        except QuantError:
            continue
        module.verify()
        qrt.compile(module)


@pytest.mark.parametrize(
    ("key", "name", "message"),
    [
        ("Range", "i0 as [0] of []", "its start, limit and delta must be scalars of one type"),
        ("STFT", "i2 of shape []", r"its window has shape \[\]"),
        ("RoiAlign", "sampling_ratio = 1099511627776", "takes more than the limit"),
        ("TensorScatter", "i0 of shape [1, 2, 3, 5, 4]", r"its cache has shape \[1, 2, 3, 5, 4\]"),
        ("ai.onnx.ml::LinearRegressor", "targets = 0", "coefficients for 0 results"),
        ("ai.onnx.ml::LinearRegressor", "targets = -1", "coefficients for -1 results"),
        ("ai.onnx.ml::LinearRegressor", "intercepts = [0.5]", "it has 1 intercepts for 2 results"),
        ("ai.onnx.ml::LabelEncoder", "keys_int64s = 1", "attribute 'keys_int64s' must be a list of integers, got 1"),
        (
            "ai.onnx.ml::LabelEncoder",
            "values_int64s = nan",
            "attribute 'values_int64s' must be a list of integers, got nan",
        ),
        ("ai.onnx.ml::TreeEnsembleRegressor", "n_targets = 1099511627776", "takes more than the limit"),
        ("ai.onnx.ml::SVMClassifier", "support_vectors = [0.5]", "3 support vectors, but 1 numbers for them"),
        ("ai.onnx.ml::SVMClassifier", "vectors_per_class = [-1, -1]", "must be numbers of support vectors, got"),
        ("com.microsoft::MatMulIntegerToFloat", "0 inputs", "input 0 is required, but missing"),
    ],
)
def test_a_wrong_form_is_an_error_of_the_model(key: str, name: str, message: str) -> None:
    content = models()[key]
    change = dict(changes(content))[name]
    with pytest.raises(ModelError, match=message):
        imported(changed(content, change))
