"""Operators that ONNX defines by others: the definition that the package `onnx` has stands in their place."""

from typing import Any

from qrt.extras import extra
from qrt.formats.onnx.model import Operator, Tensor
from qrt.formats.onnx.node import Constant, Node
from qrt.formats.onnx.operators import FILES
from qrt.formats.onnx.read import read_definition
from qrt.formats.onnx.registry import operator
from qrt.formats.onnx.subgraphs import Subgraph
from qrt.formats.onnx.types import NUMBERS, dtype_of

_SHAPES = ("AffineGrid", "CenterCropPad")
"""The operators whose second input says the shape of the result."""
_BY_NAME = {name: number for number, name in NUMBERS.items()}


@operator(*FILES["defined"].split())
def defined(node: Node) -> None:
    """The operators by which ONNX defines it, whose forms above hold."""
    op, place = node.op, node.graph.place(node.op)
    defs: Any = extra("onnx.defs", "onnx")
    try:
        schema = defs.get_schema(op.type, op.opset, op.domain)
    except Exception:  # SchemaError, which is no public class
        node.refuse(f"in opset {op.opset}")
    function = _function(node, schema)
    attributes = {name: _plain(each.default_value) for name, each in schema.attributes.items()}
    given = {name: value for name, value in {**attributes, **op.attributes}.items() if value is not None}
    found = read_definition(place, function, op, given, max_bytes=node.graph.importer.max_bytes)
    graph = Subgraph(node, "definition", found)
    if op.type in _SHAPES:
        graph.learn(op.inputs[1], Constant(node.known(1, "a shape"), node.plain(1)))
    graph.inline()
    graph.set_results()


def _function(node: Node, schema: Any) -> bytes:
    """The definition: one that holds for every node, or that depends on attributes and types."""
    versions, made = schema.function_opset_versions, schema.get_function_with_opset_version
    of_types = schema.context_dependent_function_opset_versions
    onnx: Any = extra("onnx", "onnx")
    if of_types:
        content = schema.get_context_dependent_function_with_opset_version(
            _version(of_types, node.opset),
            _as_node(onnx, node.op),
            [_as_type(onnx, node, i) for i in range(len(node.op.inputs))],
        )
    elif versions:
        content = made(_version(versions, node.opset))
    else:
        node.refuse(f"in opset {node.opset}, which does not define it by others")
    return bytes(content)


def _version(versions: list[int], opset: int) -> int:
    """The latest definition that an opset may use."""
    return max((each for each in versions if each <= opset), default=min(versions))


def _as_node(onnx: Any, op: Operator) -> bytes:
    attributes = {name: _as_tensor(onnx, value) for name, value in op.attributes.items()}
    made = onnx.helper.make_node(op.type, op.inputs, op.outputs, domain=op.domain, **attributes)
    return bytes(made.SerializeToString())


def _as_tensor(onnx: Any, value: Any) -> Any:
    """An attribute as the package takes it."""
    if not isinstance(value, Tensor):
        return value
    return onnx.helper.make_tensor(value.name, _BY_NAME[value.dtype], value.shape, value.data.ravel().tolist())


def _as_type(onnx: Any, node: Node, i: int) -> bytes:
    made = onnx.TypeProto()
    if node.has(i):
        made = onnx.helper.make_tensor_type_proto(_BY_NAME[dtype_of(node.plain(i))], node.shape(i))
    return bytes(made.SerializeToString())


def _plain(said: Any) -> Any:
    """The default of an attribute; None where it has none."""
    onnx: Any = extra("onnx", "onnx")
    value = onnx.helper.get_attribute_value(said) if said.type else None
    if isinstance(value, bytes):
        return value.decode()
    return tuple(value) if isinstance(value, list) else value
