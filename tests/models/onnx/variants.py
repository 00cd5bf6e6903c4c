"""Changed copies of a model of one node: outputs and inputs that are missing, attributes of other kinds, sizes of 0,
other dtypes. Most are wrong, and must be refused by an error of qrt; the others must run.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.models.onnx.writing import DTYPES

_DTYPES = (
    "FLOAT", "UINT8", "INT8", "UINT16", "INT32", "INT64", "BOOL", "FLOAT16", "DOUBLE", "UINT32", "BFLOAT16",
    "FLOAT8E4M3FN", "INT4", "STRING", "UNDEFINED",
)  # fmt: skip
Change = Callable[[Any], None]
"""A change of a model's message."""


def _graph() -> Any:
    one = helper.make_node("Constant", [], ["inner"], value=numpy_helper.from_array(np.float32(1), "one"))
    result = helper.make_tensor_value_info("inner", DTYPES["FLOAT"], [])
    return helper.make_graph([one], "inner", [], [result])


VALUES: tuple[Any, ...] = (
    0, 1, -1, 2, -2, 7, 2**40, -(2**63), 0.0, 1.5, -1.0, float("nan"), float("inf"), "", "text", b"\xff", [1], [0, 1],
    [1, 1, 1, 1], [-1, -1], [2**40], [0.5], ["a", "b"], numpy_helper.from_array(np.float32([1, 2]), "t"),
    numpy_helper.from_array(np.int64(0), "t"), numpy_helper.from_array(np.zeros((0, 2), np.float32), "t"), _graph(),
)  # fmt: skip
"""Values that an attribute gets: of its own kind and of all others."""
EMPTY = ("INTS", "FLOATS", "STRINGS", "TENSORS", "GRAPHS")
"""The kinds of lists without elements."""


def changes(content: bytes) -> Iterator[tuple[str, Change]]:
    """Each change of a model's first node, with a name."""
    message = onnx.load_from_string(content)
    node = message.graph.node[0]
    yield from _of_operands(len(node.input), len(node.output))
    for i, attribute in enumerate(node.attribute):
        yield from _of_attribute(i, attribute.name)
    for i, each in enumerate(message.graph.input):
        yield from _of_input(i, each)
    for i, constant in enumerate(message.graph.initializer):
        yield from _of_constant(i, constant)


def changed(content: bytes, change: Change) -> bytes:
    """A changed copy of a model."""
    message = onnx.load_from_string(content)
    change(message)
    return bytes(message.SerializeToString())


def _of_operands(inputs: int, outputs: int) -> Iterator[tuple[str, Change]]:
    for count in range(inputs):
        yield f"{count} inputs", lambda message, count=count: _shorten(message.graph.node[0].input, count)
    for i in range(inputs):
        yield f"no input {i}", lambda message, i=i: _set(message.graph.node[0].input, i, "")
        yield (
            f"input {i} as the others",
            lambda message, i=i: _set(message.graph.node[0].input, i, message.graph.node[0].input[i - 1]),
        )
    if inputs:
        yield "one more input", lambda message: message.graph.node[0].input.append(message.graph.node[0].input[0])
    for count in range(outputs):
        yield f"{count} outputs", lambda message, count=count: _keep_outputs(message, count)
    for i in range(outputs):
        yield f"no output {i}", lambda message, i=i: _lose_output(message, i)
    yield "one more output", _add_output


def _of_attribute(i: int, name: str) -> Iterator[tuple[str, Change]]:
    def set_value(message: Any, value: Any) -> None:
        message.graph.node[0].attribute[i].CopyFrom(helper.make_attribute(name, value))

    def set_empty(message: Any, kind: str) -> None:
        empty = onnx.AttributeProto(name=name, type=getattr(onnx.AttributeProto, kind))
        message.graph.node[0].attribute[i].CopyFrom(empty)

    def leave_out(message: Any) -> None:
        del message.graph.node[0].attribute[i]

    for value in VALUES:
        text = type(value).__name__ if isinstance(value, onnx.GraphProto | onnx.TensorProto) else repr(value)
        yield f"{name} = {text}", lambda message, value=value: set_value(message, value)
    for kind in EMPTY:
        yield f"{name} = empty {kind}", lambda message, kind=kind: set_empty(message, kind)
    yield f"no {name}", leave_out


def _of_input(i: int, given: Any) -> Iterator[tuple[str, Change]]:
    def set_type(message: Any, number: int) -> None:
        message.graph.input[i].type.tensor_type.elem_type = number

    def set_size(message: Any, axis: int, size: int | None) -> None:
        at = message.graph.input[i].type.tensor_type.shape.dim[axis]
        at.Clear()
        if size is not None:
            at.dim_value = size

    def set_rank(message: Any, sizes: list[int]) -> None:
        message.graph.input[i].type.tensor_type.shape.CopyFrom(
            onnx.TensorShapeProto(dim=[onnx.TensorShapeProto.Dimension(dim_value=size) for size in sizes])
        )

    for dtype in _DTYPES:
        yield f"{given.name} of {dtype}", lambda message, dtype=dtype: set_type(message, DTYPES[dtype])
    dims = given.type.tensor_type.shape.dim
    for axis in range(len(dims)):
        for size in (0, 1, dims[axis].dim_value + 1, None):
            yield (
                f"{given.name}, axis {axis} of {size}",
                lambda message, axis=axis, size=size: set_size(message, axis, size),
            )
    sizes = [each.dim_value or 2 for each in dims]
    for rank in ([], sizes[1:], [1, *sizes]):
        yield f"{given.name} of shape {rank}", lambda message, rank=rank: set_rank(message, rank)


def _of_constant(i: int, constant: Any) -> Iterator[tuple[str, Change]]:
    array = numpy_helper.to_array(constant)

    def set_array(message: Any, value: Any) -> None:
        message.graph.initializer[i].CopyFrom(numpy_helper.from_array(value, constant.name))

    def set_type(message: Any, number: int) -> None:
        tensor = message.graph.initializer[i]
        flat = np.clip(array.astype(np.float32), 0, 1)
        values = [b"a"] * flat.size if number == DTYPES["STRING"] else flat.ravel().tolist()
        tensor.CopyFrom(helper.make_tensor(constant.name, number, array.shape, values))

    def become_input(message: Any) -> None:
        del message.graph.initializer[i]
        port = helper.make_tensor_value_info(constant.name, constant.data_type, array.shape)
        message.graph.input.append(port)

    for dtype in _DTYPES[:-1]:
        if DTYPES[dtype] == constant.data_type or (array.dtype.kind == "f" and dtype != "STRING" and "INT" in dtype):
            continue
        yield f"{constant.name} of {dtype}", lambda message, dtype=dtype: set_type(message, DTYPES[dtype])
    flat = array.reshape(-1)
    shapes = [array[None], flat, flat[:0], flat[:1], array[..., :0] if array.ndim else flat[None]]
    shapes += [np.zeros_like(array), np.full_like(array, -1 if array.dtype.kind in "if" else 1)]
    if array.dtype.kind == "f":
        shapes += [np.full_like(array, np.nan), np.full_like(array, np.inf)]
    if array.dtype.kind in "iu":
        shapes += [np.full_like(array, np.iinfo(array.dtype).max), np.full_like(array, np.iinfo(array.dtype).min)]
    if array.dtype in (np.int32, np.int64):
        shapes += [np.full_like(array, 2**size) for size in (12, 20, 28)]
    for value in shapes:
        text = f"{list(value.shape)} of {value.ravel()[:1].tolist()}"
        yield f"{constant.name} as {text}", lambda message, value=value: set_array(message, value)
    yield f"{constant.name} computed", become_input


def _shorten(names: Any, count: int) -> None:
    del names[count:]


def _set(names: Any, i: int, name: str) -> None:
    names[i] = name


def _keep_outputs(message: Any, count: int) -> None:
    _shorten(message.graph.node[0].output, count)
    _leave_results(message)


def _lose_output(message: Any, i: int) -> None:
    message.graph.node[0].output[i] = ""
    _leave_results(message)


def _leave_results(message: Any) -> None:
    """Leaves the results that a node makes; an input where there are none."""
    names = set(filter(None, message.graph.node[0].output))
    ports = [each for each in message.graph.output if each.name in names] or [*message.graph.input[:1]]
    if not ports:
        message.graph.node.append(helper.make_node("Constant", [], ["alone"], value_int=1))
        ports = [onnx.ValueInfoProto(name="alone")]
    del message.graph.output[:]
    message.graph.output.extend(ports)


def _add_output(message: Any) -> None:
    message.graph.node[0].output.append("one_more")
    message.graph.output.append(onnx.ValueInfoProto(name="one_more"))
