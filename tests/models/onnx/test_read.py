"""Files that are wrong: each is a ModelError that says where."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import qrt
from qrt.errors import FileError, ModelError
from qrt.models.onnx.importing import import_model
from qrt.models.onnx.read import read
from qrt.models.profiles import profile
from tests.models.onnx.running import imported, run
from tests.models.onnx.writing import model, node, port, tensor

X, Y = port("x", shape=(2, 3)), port("y", shape=(2, 3))
W = np.arange(6, dtype=np.float32).reshape(2, 3)


def reshaping(**more: Any) -> bytes:
    """A model that reshapes to where it began."""
    constants = {"s": np.array([2, 3]), **more.pop("constants", {})}
    return model([node("Reshape", ["x", "s"], ["y"])], [X], [Y], constants, **more)


def refused(content: bytes) -> str:
    with pytest.raises(ModelError) as raised:
        imported(content)
    return str(raised.value)


def test_a_sound_model_runs() -> None:
    (y,) = run(reshaping(), x=W)
    np.testing.assert_array_equal(y, W)


def test_files_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(reshaping())
    assert qrt.load(path).functions[0].sym_name == "main"
    with pytest.raises(FileError, match="absent"):
        qrt.load(tmp_path / "absent.onnx")
    with pytest.raises(qrt.errors.QuantTypeError, match=r"profile 'litert' is for \.tflite files"):
        qrt.load(path, profile="litert")


@pytest.mark.parametrize("size", [0, 1, 10, 50, 100])
def test_a_truncated_file(size: int) -> None:
    content = reshaping()
    assert size < len(content)
    refused(content[:size])


def test_every_truncation_is_refused_or_sound() -> None:
    content = reshaping()
    for size in range(len(content)):
        with suppress(ModelError):
            imported(content[:size])


@pytest.mark.parametrize(("version", "said"), [(2, "2"), (99, "99")])
def test_an_unknown_ir_version(version: int, said: str) -> None:
    assert f"the IR version is {said}, but only 3 to" in refused(reshaping(ir_version=version))


@pytest.mark.parametrize("opset", [6, 99])
def test_an_unknown_opset(opset: int) -> None:
    assert f"the opset of ai.onnx is {opset}, but only 7 to" in refused(reshaping(opset=opset))


def test_a_domain_without_an_opset() -> None:
    content = model([node("Reshape", ["x"], ["y"], domain="other", name="n")], [X], [Y])
    assert "node 0 Reshape 'n': the file must import an opset of the domain of this node" in refused(content)


def test_an_operator_that_is_not_known() -> None:
    nodes = [node("Strange", ["x"], ["a"]), node("Strange", ["a"], ["b"]), node("Odd", ["b"], ["y"])]
    found = refused(model(nodes, [X], [Y]))
    assert "qrt does not support 2 of its operators:" in found
    assert "Strange (unknown operator): node 0 Strange, node 1 Strange\n  Odd (unknown operator): node 2 Odd" in found


# -- names and order -------------------------------------------------------------------------------------------------


def test_nodes_out_of_order() -> None:
    nodes = [node("Reshape", ["a", "s"], ["y"], name="first"), node("Reshape", ["x", "s"], ["a"])]
    found = refused(model(nodes, [X], [Y], {"s": np.array([2, 3])}))
    assert "node 0 Reshape 'first': it reads 'a' before a node has computed it: nodes must follow the" in found


def test_a_node_that_reads_itself() -> None:
    found = refused(model([node("Reshape", ["y", "s"], ["y"])], [X], [Y], {"s": np.array([2, 3])}))
    assert "it reads 'y' before a node has computed it: nodes must follow the nodes whose results they read" in found


def test_a_tensor_that_nothing_writes() -> None:
    assert "it reads 'lost', which no node computes" in refused(
        model([node("Reshape", ["x", "lost"], ["y"])], [X], [Y])
    )
    assert "output 'y' must be computed by a node, but no node computes it" in refused(model([], [X], [Y]))


def test_duplicate_names() -> None:
    nodes = [node("Reshape", ["x", "s"], ["y"]), node("Reshape", ["x", "s"], ["y"])]
    assert "node 1 Reshape: it must not write 'y', which node 0 writes already" in refused(
        model(nodes, [X], [Y], {"s": np.array([6])})
    )
    twice = [node("Reshape", ["x", "s"], ["x"])]
    assert "it must not write 'x', which is an input or a" in refused(model(twice, [X], [X], {"s": np.array([6])}))
    assert "'x' is an input twice" in refused(model([], [X, X], [X]))

    def again(message: Any) -> None:
        message.graph.initializer.append(message.graph.initializer[0])

    assert "every initializer must have its own name, got 's' twice" in refused(reshaping(change=again))

    def attribute(message: Any) -> None:
        message.graph.node[0].attribute.extend([helper.make_attribute("allowzero", 1)] * 2)

    assert "is given twice" in refused(reshaping(change=attribute))


def test_an_output_that_an_operator_lacks() -> None:
    content = model([node("Reshape", ["x", "s"], ["y", "z"])], [X], [Y, port("z")], {"s": np.array([2, 3])})
    assert "Reshape (with output 1)" in refused(content)


# -- tensors ---------------------------------------------------------------------------------------------------------


def test_raw_data_of_another_length() -> None:
    def cut(message: Any) -> None:
        message.graph.initializer[0].raw_data = b"12345"

    assert "tensor 's': its raw_data must have 16 bytes for 2 elements of int64" in refused(reshaping(change=cut))


def test_typed_data_of_another_length() -> None:
    short = onnx.TensorProto(name="w", data_type=1, dims=[2, 3], float_data=[1.0])
    found = refused(reshaping(constants={"w": short}))
    assert "tensor 'w': its float_data must have 6 numbers, got 1" in found
    other = onnx.TensorProto(name="w", data_type=1, dims=[1], int32_data=[1])
    assert "the data of a tensor of float must be in float_data, but" in refused(reshaping(constants={"w": other}))
    large = onnx.TensorProto(name="w", data_type=3, dims=[1], int32_data=[300])
    assert "in int32_data must be from -128 to 127 for int8, got" in refused(reshaping(constants={"w": large}))


@pytest.mark.parametrize("dims", [[-1], [2**40, 2**40]])
def test_shapes_that_no_tensor_has(dims: list[int]) -> None:
    assert "tensor 'w': its shape" in refused(
        reshaping(constants={"w": onnx.TensorProto(name="w", data_type=1, dims=dims)})
    )


def test_tensors_of_texts() -> None:
    text = onnx.TensorProto(name="w", data_type=8, dims=[1], string_data=[b"a"])
    assert "tensor 'w': tensors of string are not supported" in refused(reshaping(constants={"w": text}))


def test_a_sparse_tensor() -> None:
    def sparse(message: Any) -> None:
        values = tensor("sparse", np.float32([1]))
        message.graph.sparse_initializer.append(helper.make_sparse_tensor(values, tensor("i", np.array([0])), [4]))

    assert "sparse initializers are not supported, got 'sparse'" in refused(reshaping(change=sparse))


def test_a_sequence() -> None:
    sequence = helper.make_tensor_sequence_value_info("x", 1, (2, 3))
    assert "input 'x': it must be a tensor, got a sequence" in refused(model([], [sequence], [Y]))


def test_a_text_that_is_no_utf_8() -> None:
    content = reshaping().replace(b"graph", b"gr\xffph")
    assert "UTF-8" in refused(content)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("INT4", [-8, 7, 3]),
        ("UINT4", [0, 15, 3]),
        ("BFLOAT16", [1.5, -2.0]),
        ("FLOAT16", [1.5, -2.0]),
        ("BOOL", [1, 0]),
    ],
)
def test_tensors_of_small_elements(dtype: str, values: list[float]) -> None:
    """Their elements are unpacked, both from raw and from typed data."""
    typed = tensor("w", values, dtype)
    found = read(reshaping(constants={"w": typed})).graph.constants["w"]
    assert np.asarray(found.data, np.float64).tolist() == values
    raw = helper.make_tensor("w", typed.data_type, [len(values)], onnx.numpy_helper.to_array(typed))
    found = read(reshaping(constants={"w": raw})).graph.constants["w"]
    assert np.asarray(found.data, np.float64).tolist() == values


# -- memory ----------------------------------------------------------------------------------------------------------


def test_inputs_that_are_too_large() -> None:
    large = port("x", shape=(10**6, 10**6))
    assert "the inputs and outputs take 4000000000000 bytes, more than the" in refused(model([], [large], [large]))


def test_a_description_that_is_too_large() -> None:
    with pytest.raises(
        ModelError, match=r"^<bytes>: graph, node 0: the description of the model takes more memory than"
    ):
        read(reshaping(), max_bytes=1000)


# -- external data ---------------------------------------------------------------------------------------------------


def external(tmp_path: Path, location: str, size: int = 24, offset: int | None = None) -> Path:
    """A model whose weights are said to be elsewhere."""
    said = onnx.TensorProto(name="w", data_type=1, dims=[2, 3], data_location=1)
    entries = {"location": location, "length": str(size)} | ({} if offset is None else {"offset": str(offset)})
    for key, value in entries.items():
        said.external_data.add(key=key, value=value)
    folder = tmp_path / "model"
    folder.mkdir(exist_ok=True)
    path = folder / "m.onnx"
    path.write_bytes(model([node("Reshape", ["w", "s"], ["y"])], [X], [Y], {"w": said, "s": np.array([2, 3])}))
    return path


def test_external_data(tmp_path: Path) -> None:
    path = external(tmp_path, "w.bin", offset=8)
    (path.parent / "w.bin").write_bytes(b"12345678" + W.tobytes())
    np.testing.assert_array_equal(read(path).graph.constants["w"].data, W)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("../w.bin", "its external data must be in the model's folder, got '../w.bin'"),
        ("a/../../w.bin", "its external data must be in the model's folder, got 'a/../../w.bin'"),
        ("/etc/passwd", "must be in a file of the model's folder, named by a relative path"),
        ("", "its external data must be in a file of the model's folder, named by a relative path, got ''"),
        ("absent.bin", "No such file"),
        (".", "its external data must be in the model's folder, got '.'"),
        ("link.bin", "its external data must not be behind a symbolic link, got 'link.bin'"),
        ("folder/w.bin", "its external data must not be behind a symbolic link, got 'folder/w.bin'"),
        ("short.bin", "its external data is 24 bytes from byte 0 of 'short.bin' on, but that file has 3 bytes"),
        ("pipe", "its external data must be in a regular file, but 'pipe' is none"),
        ("own", "its external data must be in a regular file, but 'own' is none"),
        ("own/.", "must be in a regular file"),
        ("n" * 5000, "File name too long"),
        ("own/" * 2000 + "w.bin", "File name too long"),
        ("short.bin/w.bin", "Not a directory"),
    ],
)
def test_external_data_elsewhere(tmp_path: Path, location: str, said: str) -> None:
    path = external(tmp_path, location)
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    (path.parent / "link.bin").symlink_to(tmp_path / "w.bin")
    (path.parent / "folder").symlink_to(tmp_path)
    (path.parent / "short.bin").write_bytes(b"123")
    os.mkfifo(path.parent / "pipe")
    (path.parent / "own").mkdir()
    with pytest.raises(ModelError) as raised:
        read(path)
    assert said in str(raised.value)
    assert "tensor 'w'" in str(raised.value)


def test_external_data_of_other_sizes(tmp_path: Path) -> None:
    path = external(tmp_path, "w.bin", size=20)
    (path.parent / "w.bin").write_bytes(W.tobytes())
    with pytest.raises(ModelError, match=r"its external data must have 24 bytes \(length\), got 20"):
        read(path)
    path = external(tmp_path, "w.bin", offset=2**50)
    with pytest.raises(ModelError, match=r"its external data is 24 bytes from byte 1125899906842624 of 'w\.bin'"):
        read(path)
    with pytest.raises(ModelError, match="its data is in another file, which can be read only if"):
        read(path.read_bytes())


# -- functions -------------------------------------------------------------------------------------------------------


def function(name: str, called: str, domain: str = "own") -> Any:
    """A function that calls another one."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    inner = node(called, ["a", "s"], ["b"], domain="" if called == "Reshape" else domain)
    return helper.make_function(domain, name, ["a", "s"], ["b"], [inner], opsets)


def test_functions_are_inlined() -> None:
    nodes = [node("f", ["x", "s"], ["m"], domain="own"), node("f", ["m", "s"], ["y"], domain="own")]
    functions = [function("f", "g"), function("g", "Reshape")]
    content = model(nodes, [X], [Y], {"s": np.array([2, 3])}, functions=functions)
    assert [operator.type for operator in read(content).graph.operators] == ["Reshape", "Reshape"]
    np.testing.assert_array_equal(run(content, x=W)[0], W)


def test_functions_that_call_themselves() -> None:
    nodes = [node("f", ["x", "s"], ["y"], domain="own")]
    functions = [function("f", "g"), function("g", "f")]
    found = refused(model(nodes, [X], [Y], {"s": np.array([2, 3])}, functions=functions))
    assert "functions must not call each other recursively, got the calls f -> g -> f" in found


def test_functions_that_double_are_bounded() -> None:
    """Forty functions that each call the next twice make a million million nodes."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    functions = []
    for number in range(30):
        nodes = [node(f"f{number + 1}", ["a", "s"], ["m"], domain="own"),
                 node(f"f{number + 1}", ["m", "s"], ["b"], domain="own")]  # fmt: skip
        functions.append(helper.make_function("own", f"f{number}", ["a", "s"], ["b"], nodes, opsets))
    functions.append(function("f30", "Reshape"))
    content = model([node("f0", ["x", "s"], ["y"], domain="own")], [X], [Y], {"s": np.array([6])}, functions=functions)
    with pytest.raises(ModelError, match=r"the description of the model takes more memory than the limit of"):
        read(content, max_bytes=1 << 22)


def test_attributes_of_functions() -> None:
    opsets = [helper.make_opsetid("", 17)]
    inner = node("Reshape", ["a", "s"], ["b"])
    inner.attribute.append(onnx.AttributeProto(name="allowzero", type=2, ref_attr_name="zeros"))
    made = helper.make_function("own", "f", ["a", "s"], ["b"], [inner], opsets, ["zeros"])
    nodes = [node("f", ["x", "s"], ["m"], domain="own", zeros=1), node("f", ["m", "s"], ["y"], domain="own")]
    graph = read(model(nodes, [X], [Y], {"s": np.array([2, 3])}, functions=[made])).graph
    assert [dict(operator.attributes) for operator in graph.operators] == [{"allowzero": 1}, {}]


def test_a_function_whose_result_is_its_argument() -> None:
    opsets = [helper.make_opsetid("", 17)]
    made = helper.make_function("own", "f", ["a"], ["a"], [], opsets)
    graph = read(model([node("f", ["x"], ["y"], domain="own")], [X], [Y], functions=[made])).graph
    assert [(each.type, each.inputs, each.outputs) for each in graph.operators] == [("Identity", ("x",), ("y",))]


def test_initializers_that_are_inputs_too_are_constants() -> None:
    content = model([node("Reshape", ["x", "s"], ["y"])], [X, port("s", "INT64", (2,))], [Y], {"s": np.array([2, 3])})
    assert [each.name for each in read(content).graph.inputs] == ["x"]


@pytest.mark.parametrize("shape", [[10**12], [10**6, 10**6], [2**40, 2**40]])
def test_memory_that_a_constant_would_take_is_bounded(shape: list[int]) -> None:
    content = model([node("ConstantOfShape", ["s"], ["y"])], [], [port("y")], {"s": np.int64(shape)})
    with pytest.raises(ModelError, match=r"node 0 ConstantOfShape: tensor<.*> takes more than the limit"):
        imported(content)


def test_memory_of_all_constants_is_bounded() -> None:
    """Each of a chain is within the limit, and all together are not. What shares memory takes none."""
    nodes = [node("Concat", ["c", "c"], ["c0"], axis=0)]
    nodes += [node("Concat", [f"c{i}", "c"], [f"c{i + 1}"], axis=0) for i in range(40)]
    nodes += [node("Add", ["x", "c40"], ["y"])]
    chain = model(nodes, [port("x", shape=(1,))], [port("y")], {"c": np.zeros(1000, np.float32)})
    with pytest.raises(ModelError, match=r"node 23 Concat: the constants that are computed at import, .* 1200000"):
        import_model(read(chain), profile("ort"), max_bytes=1_200_000)
    import_model(read(chain), profile("ort"), max_bytes=4_000_000)
    nodes = [node("Concat", ["c", "c"], ["c0"], axis=0)]
    nodes += [node("Reshape", [f"c{i}", "s"], [f"c{i + 1}"]) for i in range(40)]
    nodes += [node("Add", ["x", "c40"], ["y"])]
    constants = {"c": np.zeros(1000, np.float32), "s": np.array([2, 1000])}
    shared = model(nodes, [port("x", shape=(1,))], [port("y")], constants)
    import_model(read(shared), profile("ort"), max_bytes=20_000)


def test_a_constant_of_a_negative_size() -> None:
    content = model([node("ConstantOfShape", ["s"], ["y"])], [], [port("y")], {"s": np.int64([2, -1])})
    with pytest.raises(ModelError, match=r"node 0 ConstantOfShape: a shape must have sizes of at least 0, got"):
        imported(content)
