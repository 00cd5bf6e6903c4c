"""Files that are whole, but break a rule: each gives a ModelError that names the file, and the place in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite

from qrt.errors import ModelError
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Operator, Signature, Subgraph, Tensor, one_op, write


def _float(*shape: int, **others: Any) -> Tensor:
    return Tensor(shape, "float32", **others)


def _refused(content: bytes, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(content)
    assert said in str(caught.value)
    assert str(caught.value).startswith("<bytes>: ")


def _graph(operators: Sequence[Operator], inputs: Sequence[Any], outputs: Sequence[Any], **others: Any) -> bytes:
    return write([Subgraph(inputs, outputs, operators, **others)])


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(one_op("ADD", [_float(1)], [_float(1)]))
    with pytest.raises(ModelError, match=r"net\.tflite: subgraph 0, operator 0 ADD: it must have 2 inputs, got 1"):
        read(path)


def test_no_subgraph() -> None:
    _refused(write([]), "a model must have at least one subgraph, but this one has none")


# -- operators -------------------------------------------------------------------------------------------------------


def test_an_operator_code_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    add = tflite.OperatorAddOpcodeIndex
    monkeypatch.setattr(tflite, "OperatorAddOpcodeIndex", lambda builder, index: add(builder, index + 7))
    _refused(one_op("ABS", [_float(1)], [_float(1)]), "subgraph 0, operator 0: operator code 7 does not exist")


def test_a_negative_operator_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tflite.BuiltinOperator, "ABS", -2)
    _refused(one_op("ABS", [_float(1)], [_float(1)]), "operator code 0: the number of an operator must be at least")


def test_an_unknown_operator_is_named_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused at import, with everything else that is missing."""
    monkeypatch.setattr(tflite.BuiltinOperator, "ABS", 4000)
    assert read(one_op("ABS", [_float(1)], [_float(1)])).subgraphs[0].operators[0].name == "BUILTIN_4000"


@pytest.mark.parametrize("code", ["", "CONV_2D"])
def test_a_custom_operator_without_a_name_of_its_own(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is called as a builtin must not be taken for it."""
    monkeypatch.delattr(tflite.BuiltinOperator, "CONV_2D")
    _refused(one_op(code, [_float(1)], [_float(1)]), f"must have a name that no built-in operator has, got '{code}'")


def test_options_of_another_operator() -> None:
    file = one_op("SOFTMAX", [_float(1)], [_float(1)], {"axis": 1}, table="PackOptions")
    _refused(file, "subgraph 0, operator 0 SOFTMAX: its options must be SoftmaxOptions, got PackOptions")
    file = one_op("RELU", [_float(1)], [_float(1)], {"axis": 1}, table="PackOptions")
    _refused(file, "operator 0 RELU: its options must be absent, got PackOptions")


def test_an_enumeration_out_of_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tflite.Padding, "SAME", 9)
    file = one_op("MAX_POOL_2D", [_float(1, 1, 1, 1)], [_float(1, 1, 1, 1)], {"padding": "SAME"})
    _refused(file, "subgraph 0, operator 0, builtin_options: field 'padding' must be one of SAME, VALID, got the")


@pytest.mark.parametrize(("count", "said"), [(0, "must have 2 to 3 inputs, got 0"), (4, "2 to 3 inputs, got 4")])
def test_counts_of_operands(count: int, said: str) -> None:
    x = _float(1, 1, 1, 1)
    _refused(_graph([Operator("CONV_2D", [x] * count, [_float(1)])], [x], [x]), said)


def test_counts_of_results() -> None:
    x = _float(2)
    _refused(one_op("TOPK_V2", [x, x], [_float(1)]), "operator 0 TOPK_V2: it must have 2 outputs, got 1")


@pytest.mark.parametrize("name", ["ADD", "CONCATENATION", "PACK", "WHILE"])
def test_a_required_operand_that_is_absent(name: str) -> None:
    _refused(one_op(name, [_float(1), None], [_float(1)]), f"subgraph 0, operator 0 {name}: its input 1 (")


@pytest.mark.parametrize("index", [-2, 2, 3, 2**31 - 1, -(2**31)])
def test_indices_of_tensors_out_of_range(index: int) -> None:
    x, y = _float(1), _float(1)
    said = f"tensor {index} does not exist: the subgraph has 2 tensors"
    _refused(_graph([Operator("ABS", [index], [y])], [x], [y]), f"operator 0 ABS, input 0: {said}")
    _refused(_graph([Operator("ABS", [x], [index])], [x], [y]), f"operator 0 ABS, output 0: {said}")
    _refused(_graph([Operator("ABS", [x], [y], intermediates=[index])], [x], [y]), f"intermediate 0: {said}")
    _refused(_graph([Operator("ABS", [x], [y])], [x, index], [y]), f"subgraph 0, input 1: {said}")
    _refused(_graph([Operator("ABS", [x], [y])], [x], [y, index]), f"subgraph 0, output 1: {said}")


def test_a_result_that_is_absent() -> None:
    x, y = _float(1), _float(1)
    _refused(_graph([Operator("ABS", [x], [-1])], [x], [y]), "operator 0 ABS, output 0: tensor -1 does not exist")


# -- who writes a tensor, and when -----------------------------------------------------------------------------------


def test_a_tensor_that_is_written_twice() -> None:
    x, y = _float(1, name="x"), _float(1, name="y")
    twice = [Operator("ABS", [x], [y]), Operator("NEG", [x], [y])]
    _refused(_graph(twice, [x], [y]), "operator 1 NEG: it must not write tensor 1 'y', which operator 0 ABS writes")
    _refused(_graph([Operator("UNPACK", [x], [y, y])], [x], [y]), "it must not write tensor 1 'y', which operator")


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (_float(1, data=1.0), "which is constant"),
        (_float(1, is_variable=True), "which is a variable"),
        (_float(1, name="x"), "which is an input"),
    ],
)
def test_a_tensor_that_no_operator_may_write(tensor: Tensor, said: str) -> None:
    x = tensor if tensor.name else _float(1)
    _refused(_graph([Operator("ABS", [x], [tensor])], [x], [tensor]), said)


def test_a_tensor_that_nothing_writes() -> None:
    x, y, z = _float(1), _float(1), _float(1, name="z")
    _refused(
        _graph([Operator("ADD", [x, z], [y])], [x], [y]),
        "operator 0 ADD: it reads tensor 1 'z', which no operator computes",
    )
    _refused(
        _graph([Operator("ABS", [x], [y])], [x], [z]), "subgraph 0: it reads tensor 2 'z', which no operator computes"
    )


def test_a_cycle() -> None:
    x, a, b = _float(1), _float(1, name="a"), _float(1, name="b")
    cycle = [Operator("ADD", [x, b], [a]), Operator("ABS", [a], [b])]
    _refused(_graph(cycle, [x], [b]), "operator 0 ADD: it reads tensor 1 'b' before operator 1 ABS computes it")
    _refused(_graph([Operator("ADD", [x, a], [a])], [x], [a]), "before operator 0 ADD computes it")


def test_inputs_that_cannot_be_given() -> None:
    x, y = _float(1, name="x"), _float(1)
    _refused(_graph([Operator("ABS", [x], [y])], [x, x], [y]), "tensor 0 'x' must be listed once among the inputs")
    constant = _float(1, data=1.0, name="c")
    _refused(_graph([Operator("ABS", [constant], [y])], [constant], [y]), "tensor 0 'c' is an input, so it must")


# -- tensors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "expected"), [(0, None), (3, 4), (5, 4), (8, 4)])
def test_a_buffer_of_another_length_than_its_tensor(size: int, expected: int | None) -> None:
    """One without bytes is no constant, so that nothing gives its elements."""
    w = Tensor((2, 2), "int8", data=bytes(size), name="w")
    said = (
        "tensor 1 'w', which no operator computes"
        if expected is None
        else f"must have {expected} bytes for 2x2 elements of int8, got {size}"
    )
    _refused(one_op("ADD", [Tensor((2, 2), "int8"), w], [Tensor((2, 2), "int8")]), said)


def test_a_buffer_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tflite, "TensorAddBuffer", lambda builder, index: builder.PrependUint32Slot(2, 9, 0))
    _refused(one_op("ABS", [_float(1)], [_float(1)]), "tensor 0 't0': buffer 9 does not exist: the file has 1")


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((2, -1), "tensor 0 'x': its shape (2, -1) has a negative dimension"),
        ((-(2**31),), "has a negative dimension"),
        ((2**31 - 1,) * 3, "has more than 2^63 - 1 elements"),
        ((2**31 - 1, 0, 2**31 - 1, 2**31 - 1), "has more than 2^63 - 1 elements"),
        ((2**31 - 1,) * 2, "its tensors take 18446744056529682440 bytes"),
    ],
)
def test_shapes_that_no_tensor_has(shape: tuple[int, ...], said: str) -> None:
    x = Tensor(shape, "float32", name="x")
    _refused(_graph([Operator("ABS", [x], [y := _float(1)])], [x], [y]), said)


def test_a_signature_of_a_shape_with_another_rank() -> None:
    x = Tensor((1, 2), "float32", signature=(-1, 1, 2), name="x")
    _refused(one_op("ABS", [x], [_float(1, 2)]), "tensor 0 'x': its shape_signature must have as many dimensions")


# -- quantization ----------------------------------------------------------------------------------------------------


def _quantized(said: str, shape: tuple[int, ...] = (2, 3), dtype: str = "int8", **given: Any) -> None:
    x = Tensor(shape, dtype, name="x", **given)
    _refused(one_op("ABS", [x], [Tensor(shape, dtype)]), f"subgraph 0, tensor 0 'x': {said}")


@pytest.mark.parametrize("scale", [0.0, -0.5, np.nan, np.inf, -np.inf])
def test_scales_that_are_no_positive_numbers(scale: float) -> None:
    said = f"its scale must be a positive finite number, got {scale}"
    _quantized(said, scales=scale)
    _quantized(said, scales=[0.5, scale, 0.5], axis=1)


def test_scales_of_a_float_tensor_say_nothing() -> None:
    """Some converters leave them; LiteRT does not read them."""
    read(one_op("ABS", [Tensor((1,), "float32", scales=0.0)], [_float(1)]))


@pytest.mark.parametrize(("count", "axis"), [(2, 1), (4, 1), (3, 0)])
def test_scales_that_are_not_as_many_as_channels(count: int, axis: int) -> None:
    said = f"it must have 1 scale, or {(2, 3)[axis]}, the size of its quantized dimension {axis}, got {count} scales"
    _quantized(said, scales=[0.5] * count, axis=axis)


@pytest.mark.parametrize("axis", [-1, 2, 2**31 - 1])
def test_an_axis_out_of_range(axis: int) -> None:
    said = f"its quantized_dimension must be from 0 to 1, because it has 2 dimensions, got {axis}"
    _quantized(said, scales=[0.5] * 3, axis=axis)


def test_zero_points_that_are_not_as_many_as_scales() -> None:
    _quantized("it must have a zero point for each of its 3 scales", scales=[0.5] * 3, axis=1, zero_points=[0, 0])


@pytest.mark.parametrize(
    ("dtype", "zero_point", "expected"),
    [
        ("int8", 128, "-128 to 127"),
        ("int8", -129, "-128 to 127"),
        ("uint8", -1, "0 to 255"),
        ("uint8", 256, "0 to 255"),
        ("int16", 1 << 15, "-32768 to 32767"),
        ("int32", 2**31, "-2147483648 to 2147483647"),
    ],
)
def test_zero_points_outside_the_storage(dtype: str, zero_point: int, expected: str) -> None:
    said = f"its zero point must be from {expected} for {dtype}, got {zero_point}"
    _quantized(said, dtype=dtype, scales=0.5, zero_points=zero_point)


def test_one_of_several_zero_points_outside_the_storage() -> None:
    said = "its zero point must be from -128 to 127 for int8, got 128"
    _quantized(said, scales=[0.5, 0.25, 1], zero_points=[0, 128, 0], axis=1)


# -- between subgraphs -----------------------------------------------------------------------------------------------


_WHILE = ("WHILE", {"cond_subgraph_index": 1, "body_subgraph_index": 1})


def _calling(*calls: tuple[str, dict[str, int]]) -> bytes:
    """A file with one operator in each subgraph, which runs others."""
    graphs = []
    for name, options in calls:
        x, y = _float(1), _float(1)
        results = [] if name == "CALL_ONCE" else [y]
        operands = [] if name == "CALL_ONCE" else [x]
        last = Operator("ABS", [x], [y]) if name == "CALL_ONCE" else None
        graphs.append(Subgraph([x], [y], [Operator(name, operands, results, options), *([last] if last else [])]))
    return write(graphs)


@pytest.mark.parametrize(
    ("file", "chain"),
    [
        (_calling(("CALL_ONCE", {"init_subgraph_index": 0})), "0 -> 0"),
        (
            _calling(("WHILE", {"cond_subgraph_index": 1, "body_subgraph_index": 1}), ("CALL", {"subgraph": 0})),
            "0 -> 1 -> 0",
        ),
        (_calling(*[("CALL", {"subgraph": (i + 1) % 3}) for i in range(3)]), "0 -> 1 -> 2 -> 0"),
        (_calling(*[("CALL", {"subgraph": min(i + 1, 98)}) for i in range(100)]), "97 -> 98 -> 98"),
    ],
)
def test_subgraphs_that_call_each_other(file: bytes, chain: str) -> None:
    with pytest.raises(ModelError, match="subgraphs must not call each other recursively, got the calls") as caught:
        read(file)
    assert chain in str(caught.value)


def test_a_long_chain_of_calls() -> None:
    """It would be as many frames when it runs."""
    calls = [("CALL", {"subgraph": i + 1}) for i in range(99)]
    _refused(_calling(*calls, ("CALL_ONCE", {"init_subgraph_index": 100}), ("ABS", {})), "at most 64 levels deep")


@pytest.mark.parametrize("index", [-1, 2])
def test_a_subgraph_that_does_not_exist(index: int) -> None:
    file = _calling(("IF", {"then_subgraph_index": 1, "else_subgraph_index": index}), ("ABS", {}))
    _refused(file, f"subgraph 0, operator 0 IF: it calls subgraph {index}, but the file has 2")


def test_signatures_of_what_is_not_there() -> None:
    x, y = _float(1), _float(1)
    graph = Subgraph([x], [y], [Operator("ABS", [x], [y])])
    _refused(
        write([graph], [Signature({"a": 1}, {"b": y}, "go")]),
        "signature 'go': its input 'a' is tensor 1, which is not an input of subgraph 0",
    )
    _refused(write([graph], [Signature({"a": x}, {"b": 7}, "go")]), "signature 'go': its output 'b' is tensor 7")


def test_a_signature_of_a_subgraph_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = _float(1), _float(1)
    monkeypatch.setattr(tflite, "SignatureDefAddSubgraphIndex", lambda builder, _: builder.PrependUint32Slot(4, 3, 0))
    file = write([Subgraph([x], [y], [Operator("ABS", [x], [y])])], [Signature({"a": x}, {"b": y}, "go")])
    _refused(file, "signature 'go': it is of subgraph 3, but the file has 1 subgraph, numbered from 0")


def test_a_buffer_behind_the_tables_that_is_not_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(builder: Any) -> None:
        builder.StartObject(3)
        builder.PrependUint64Slot(1, 5000, 0)

    monkeypatch.setattr(tflite, "BufferStart", start)
    _refused(one_op("ABS", [_float(1)], [_float(1)]), "buffer 0: the file is damaged or cut short: it has 352")
