"""Files that the writer writes, loaded and run by LiteRT."""

import numpy as np
import pytest

from tests.models.tflite.writing import Operator, Signature, Subgraph, Tensor, one_op, write

interpreter = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")


def load(content):
    # The reference kernels: the default build warns, and hands nodes to a delegate that hides their types.
    loaded = interpreter.Interpreter(
        model_content=content, experimental_op_resolver_type=interpreter.OpResolverType.BUILTIN_REF
    )
    loaded.allocate_tensors()
    return loaded


def run(content, *inputs):
    loaded = load(content)
    for detail, values in zip(loaded.get_input_details(), inputs, strict=True):
        loaded.set_tensor(detail["index"], np.asarray(values, detail["dtype"]).reshape(detail["shape"]))
    loaded.invoke()
    return [loaded.get_tensor(detail["index"]) for detail in loaded.get_output_details()]


def test_options_and_constants_reach_the_runtime():
    x = Tensor((1, 4), scales=0.5, zero_points=3)
    constant = Tensor((1, 4), scales=0.25, data=[[1, 2, 3, 4]])
    y = Tensor((1, 4), scales=0.75)
    (plain,) = run(one_op("ADD", [x, constant], [y]), [-100, 2, 3, 100])
    (rectified,) = run(one_op("ADD", [x, constant], [y], {"fused_activation_function": "RELU"}), [-100, 2, 3, 100])
    assert plain.tolist() == [[-68, 0, 1, 66]]
    assert rectified.tolist() == [[0, 0, 1, 66]]


def test_per_axis_quantization_and_an_absent_bias():
    x = Tensor((1, 5, 5, 3), scales=0.1, zero_points=-2)
    w = Tensor((4, 1, 1, 3), scales=[0.1, 0.2, 0.3, 0.4], data=np.ones((4, 1, 1, 3)))
    bias = Tensor((4,), "int32", scales=[0.01, 0.02, 0.03, 0.04], data=[1, 2, 3, 4])
    y = Tensor((1, 5, 5, 4), scales=0.3)
    strides = {"padding": "VALID", "stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
    loaded = load(one_op("CONV_2D", [x, w, bias], [y], strides, version=3))
    details = {detail["name"]: detail["quantization_parameters"] for detail in loaded.get_tensor_details()}
    np.testing.assert_array_equal(details["t1"]["scales"], np.float32([0.1, 0.2, 0.3, 0.4]))
    assert details["t0"]["zero_points"].tolist() == [-2]
    row, ones, sums = Tensor((1, 3), scales=1), Tensor((2, 3), scales=1, data=1), Tensor((1, 2), scales=1)
    (product,) = run(one_op("FULLY_CONNECTED", [row, ones, None], [sums]), [1, 2, 3])
    assert product.tolist() == [[6, 6]]


def test_a_vector_among_options():
    x, y = Tensor((1, 4), "float32"), Tensor((2, 2), "float32")
    (result,) = run(one_op("RESHAPE", [x], [y], {"new_shape": [2, 2]}), [1, 2, 3, 4])
    assert result.tolist() == [[1, 2], [3, 4]]


def test_state_outlives_a_call():
    x, old, new = (Tensor((2,), "float32") for _ in range(3))
    handle, again = Tensor((), "resource"), Tensor((), "resource")
    start = Tensor((2,), "float32", data=[10, 20])
    steps = [Operator("VAR_HANDLE", [], [again]), Operator("ASSIGN_VARIABLE", [again, start], [])]
    initial = Subgraph([], [], steps, "initial")
    main = Subgraph(
        [x],
        [new],
        [
            Operator("CALL_ONCE", [], [], {"init_subgraph_index": 1}),
            Operator("VAR_HANDLE", [], [handle]),
            Operator("READ_VARIABLE", [handle], [old]),
            Operator("ADD", [old, x], [new]),
            Operator("ASSIGN_VARIABLE", [handle, new], []),
        ],
    )
    loaded = load(write([main, initial]))
    (given,), (taken,) = loaded.get_input_details(), loaded.get_output_details()
    for expected in ([11, 22], [12, 24]):
        loaded.set_tensor(given["index"], np.float32([1, 2]))
        loaded.invoke()
        assert loaded.get_tensor(taken["index"]).tolist() == expected


def test_subgraphs_and_signatures():
    def branch(name):
        x, y = Tensor((2,), "float32"), Tensor((2,), "float32")
        return Subgraph([x], [y], [Operator(name, [x], [y])], name)

    asked, x, y = Tensor((), "bool"), Tensor((2,), "float32"), Tensor((2,), "float32")
    choice = Operator("IF", [asked, x], [y], {"then_subgraph_index": 1, "else_subgraph_index": 2})
    main = Subgraph([asked, x], [y], [choice])
    content = write(
        [main, branch("NEG"), branch("ABS")], [Signature({"asked": asked, "x": x}, {"y": y}, "choose")], description="d"
    )
    runner = load(content).get_signature_runner("choose")
    values = np.float32([-1, 2])
    assert runner(asked=np.bool_(True), x=values)["y"].tolist() == [1, -2]
    assert runner(asked=np.bool_(False), x=values)["y"].tolist() == [1, 2]


def test_an_open_batch():
    x = Tensor((1, 2), "float32", signature=(-1, 2))
    loaded = load(one_op("NEG", [x], [Tensor((1, 2), "float32", signature=(-1, 2))]))
    assert loaded.get_input_details()[0]["shape_signature"].tolist() == [-1, 2]


def test_halves_of_bytes():
    w = Tensor((1, 4), "int4", scales=1, data=[[1, -2, 3, -8]])
    x, y = Tensor((1, 4), "float32"), Tensor((1, 1), "float32")
    content = one_op("FULLY_CONNECTED", [x, w, None], [y], version=13)
    products = [run(content, row)[0].item() for row in np.eye(4) * 127]
    np.testing.assert_allclose(products, [127, -254, 381, -1016], rtol=1e-2)
