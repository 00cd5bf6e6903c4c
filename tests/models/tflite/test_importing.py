"""What a model becomes. Hazards: a weight that is copied on the way, a name that two operations share, a form that is
refused alone while others wait for the next try, a batch that is closed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt.cli import main
from qrt.ir import Module
from qrt.models.profiles import PROFILES
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests import mlir_opt
from tests.models.tflite import oracle
from tests.models.tflite.writing import Dimension, Operator, Sparsity, Subgraph, Tensor, one_op, write

MODELS = Path(__file__).parents[4] / "shared" / "models" / "tflite"


def imported(content: bytes, profile: str = "litert") -> Module:
    module = import_model(read(content), PROFILES[profile])
    module.verify()
    return module


def ops(module: Module) -> list[str]:
    return [operation.name for operation in module.functions[0].regions[0].blocks[0]]


def dense(fused: str = "NONE", *, rows: int = 2, weights: object = None, zero_point: int = 0) -> bytes:
    """A fully connected layer of three inputs and two outputs."""
    x = Tensor((rows, 3), "int8", scales=0.5, zero_points=3)
    values = [[1, 2, 3], [-4, 5, 6]] if weights is None else weights
    w = Tensor((2, 3), "int8", scales=0.25, zero_points=zero_point, data=values)
    b = Tensor((2,), "int32", scales=0.125, data=[10, -20])
    y = Tensor((rows, 2), "int8", scales=0.75, zero_points=-1)
    return one_op("FULLY_CONNECTED", [x, w, b], [y], {"fused_activation_function": fused})


def test_a_layer_is_a_product_with_its_bias_at_the_scale_of_the_sums() -> None:
    module = imported(dense())
    assert ops(module) == ["arith.constant", "quant.scast"] * 2 + ["qrt.matmul", "func.return"]
    matmul = next(operation for operation in module.operation.walk() if operation.name == "qrt.matmul")
    assert [str(value.type) for value in matmul.operands[1:]] == [
        "tensor<3x2x!quant.uniform<i8:f32, 2.500000e-01>>",
        "tensor<2x!quant.uniform<i32:f32, 1.250000e-01>>",
    ]
    assert matmul.attributes["requant"].python == "float32"
    x = np.int8([[3, 4, 5], [-128, 127, 0]])
    acc = (x.astype(int) - 3) @ np.array([[1, 2, 3], [-4, 5, 6]]).T + [10, -20]
    wanted = np.clip(np.rint(acc * (0.125 / 0.75)) - 1, -128, 127)
    assert np.array_equal(qrt.compile(module)(x).storage, wanted)


def test_rules_are_those_of_the_profile() -> None:
    rules = {
        (profile, zero): next(
            operation.attributes["requant"].python
            for operation in imported_or_parsed(dense(zero_point=zero), profile).operation.walk()
            if operation.name == "qrt.matmul"
        )
        for profile, zero in (("litert", 0), ("litert-ref", 0), ("litert-ref", 5))
    }
    assert rules == {
        ("litert", 0): "float32",
        ("litert-ref", 0): "float64_away",
        ("litert-ref", 5): "float64_away",
    }


def imported_or_parsed(content: bytes, profile: str) -> Module:
    """The program as text says it, which must be the same program."""
    module = imported(content, profile)
    again = qrt.ir.parse(str(module))
    assert again == module
    return again


def test_a_fused_activation_is_a_clamp_where_it_can_bite() -> None:
    assert "qrt.clamp" not in ops(imported(dense()))
    module = imported(dense("RELU6"))
    clamp = next(operation for operation in module.operation.walk() if operation.name == "qrt.clamp")
    assert {name: value.python for name, value in clamp.attributes.items() if name in ("min", "max")} == {
        "min": 0.0,
        "max": 6.0,
    }


def test_weights_are_views_of_the_file() -> None:
    """Hazard: a copy of every weight, which takes memory and time."""
    content = dense()
    model = read(content)
    (data,) = [
        tensor.data for tensor in model.subgraphs[0].tensors if tensor.shape == (2, 3) and tensor.data is not None
    ]
    module = import_model(model, PROFILES["litert"])
    held = [
        operation.attributes["value"].array
        for operation in module.operation.walk()
        if operation.name == "arith.constant"
    ]
    assert any(np.shares_memory(array, data) for array in held)


def test_an_open_batch_stays_open() -> None:
    x = Tensor((1, 3), "int8", scales=0.5, signature=(-1, 3))
    w = Tensor((2, 3), "int8", scales=0.25, data=[[1, 2, 3], [4, 5, 6]])
    y = Tensor((1, 2), "int8", scales=0.5, signature=(-1, 2))
    program = qrt.compile(imported(one_op("FULLY_CONNECTED", [x, w, None], [y], {})))
    assert [str(port.type.shape) for port in (*program.inputs, *program.outputs)] == ["(None, 3)", "(None, 2)"]
    assert program(np.zeros((5, 3), np.int8)).storage.shape == (5, 2)


def test_tensors_of_one_name_are_told_apart() -> None:
    a = Tensor((1, 4), "int8", scales=0.5, name="x")
    b = Tensor((1, 4), "int8", scales=0.5, name="x")
    c = Tensor((2, 2), "int8", scales=0.5, name="")
    reshapes = [
        Operator("RESHAPE", [a], [b], {"new_shape": [1, 4]}),
        Operator("RESHAPE", [b], [c], {"new_shape": [2, 2]}),
    ]
    module = imported(write([Subgraph([a], [c], reshapes)]))
    names = [o.attributes["qrt.tensor"].python for o in module.operation.walk() if "qrt.tensor" in o.attributes]
    assert names == ["x#1", "#2"]
    assert qrt.compile(module).inputs[0].name == "x"


def test_everything_that_is_missing_is_said_at_once() -> None:
    tensors = [Tensor((1, 4), "float32", name=f"t{i}") for i in range(7)]
    names = ["HASHTABLE_SIZE", "HASHTABLE_SIZE", "BETA", "SKIP_GRAM", "BUCKETIZE", "RANDOM_THING"]
    chain = [Operator(name, [a], [b], {}) for name, a, b in zip(names, tensors, tensors[1:], strict=False)]
    with pytest.raises(qrt.errors.ModelError) as caught:
        imported(write([Subgraph(tensors[:1], tensors[-1:], chain)]))
    said = str(caught.value)
    assert all(name in said for name in names)
    assert (
        "HASHTABLE_SIZE (float32): subgraph 0, operator 0 HASHTABLE_SIZE, subgraph 0, operator 1 HASHTABLE_SIZE" in said
    )
    assert said.count("\n") == 5


def test_tensors_that_no_operator_reads_are_listed_with_the_operators() -> None:
    """Sparse ones, those with scales for blocks or with a custom quantization, and floats beside quantized tensors."""
    x, scales = Tensor((2, 4), "int8", 0.5, name="x"), Tensor((2, 1), "float16", data=[[1], [2]])
    stored = Sparsity([0, 1], [], [Dimension(2), Dimension(0, [0, 1, 1], [3])])
    constants = {
        "ADD": Tensor((2, 4), "int8", 0.5, data=[1], sparsity=stored, name="a"),
        "MUL": Tensor((2, 4), "int8", 0.5, data=np.ones((2, 4)), has_custom_quantization=True, name="b"),
        "MAXIMUM": Tensor((2, 4), "int4", block_scales=scales, block_size=4, data=np.ones((2, 4)), name="c"),
        "MINIMUM": Tensor((2, 4), "float32", data=np.ones((2, 4)), name="d"),
        "BETA": Tensor((2, 4), "int8", 0.5, name="e", data=np.ones((2, 4))),
    }
    results = [Tensor((2, 4), "int8", 0.5) for _ in constants]
    pairs = zip(constants.items(), results, strict=True)
    operators = [Operator(name, [x, constant], [y], {}) for (name, constant), y in pairs]
    with pytest.raises(qrt.errors.ModelError) as caught:
        imported(write([Subgraph([x], results, operators)]))
    assert str(caught.value).splitlines()[0].endswith("qrt does not support 5 of its operators:")
    for form in (
        "ADD (sparse input 1 'a', without a DENSIFY before it)",
        "MUL (input 1 'b' with a custom quantization)",
        "MAXIMUM (input 1 'c' with a scale for each block of 4 elements)",
        "MINIMUM (float32 without scales beside int8 with scales)",
        "BETA (a custom operator)",
    ):
        assert form in str(caught.value)


def test_an_error_says_where_it_is() -> None:
    x = Tensor((1, 4), "int8", scales=0.5, name="in")
    y = Tensor((3, 2), "int8", scales=0.5, name="out")
    with pytest.raises(
        qrt.errors.ModelError,
        match=r"subgraph 0, operator 0 RESHAPE: an input of 4 elements cannot be reshaped to \[3, 2\]",
    ):
        imported(one_op("RESHAPE", [x], [y], {"new_shape": [3, 2]}))


@pytest.mark.skipif(not MODELS.exists(), reason="the models are not here")
@pytest.mark.parametrize("name", ["hello_world_int8", "ad01_int8"])
@pytest.mark.parametrize("profile", oracle.PROFILES)
def test_a_model_runs_as_its_text_does(name: str, profile: str, tmp_path: Path) -> None:
    text, source = tmp_path / "m.mlir", MODELS / f"{name}.tflite"
    assert main(["import", str(source), "-o", str(text), "--profile", profile]) == 0
    module = qrt.load(source, profile=profile)
    assert qrt.load(text) == module
    first, again = qrt.compile(module), qrt.compile(qrt.load(text))
    x = np.random.default_rng(1).integers(-128, 128, [size or 1 for size in first.inputs[0].type.shape], np.int8)
    assert np.array_equal(first(x).storage, again(x).storage)


@mlir_opt.needed
def test_the_generic_form_is_upstream_s() -> None:
    accepted, said = mlir_opt.upstream(imported(dense("RELU")).print(generic=True), "--allow-unregistered-dialect")
    assert accepted, said


def test_importing_qrt_loads_no_importer() -> None:
    code = "import sys, qrt; qrt.load; print([m for m in sys.modules if 'tflite' in m or m == 'flatbuffers'])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("FlexTensorListReserve", "of TensorFlow, for LiteRT's Flex delegate; models of"),
        ("MyOperator", "a custom operator"),
    ],
)
def test_a_custom_operator_is_named_as_such(name: str, reason: str) -> None:
    x = Tensor((1,), "int32")
    content = one_op(name, [x], [Tensor((1,), "variant")])
    with pytest.raises(qrt.errors.ModelError, match=rf"{name} \({reason}"):
        import_model(read(content), PROFILES["litert"])
